"""What we export comes back equal: every protocol and mark, in every format that has a place."""

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any

import pytest

from annotation.exports import FORMATS
from annotation.exports.judgments import judgment_dicts
from annotation.imports import sources
from annotation.imports.launch import Launched, examine, launch
from annotation.imports.sources import Sent
from annotation.models import (
    Campaign,
    Item,
    Judgment,
    TestSet,
)
from annotation.quality.report import quality_report
from annotation.uploads import InputFile, Report
from tests.files.campaigns import EVERY_MARK, MARKS, OWN, make

pytestmark = pytest.mark.django_db
TABLES = ("csv", "jsonl", "parquet")
# Numbers that rows have in one database.
NUMBERS = ("item", "partner", "judgment")
Row = dict[str, Any]


def rows_of(campaign: Campaign) -> list[Row]:
    """The rows of an export, with the numbers of rows counted anew."""
    seen: dict[str, dict[Any, int]] = {"item": {}, "judgment": {}}
    rows = list(judgment_dicts(campaign))
    for row in rows:
        for name in NUMBERS:
            known = seen["item" if name == "partner" else name]
            if row[name] is not None:
                row[name] = known.setdefault(row[name], len(known))
    return rows


def figures_of(campaign: Campaign) -> Any:
    """What the quality page computes, without keys of this database."""
    return list(_plain(quality_report(campaign)))


OWN_OF_A_SERVER = {"as_of", "tested", "warnings", "pk", "annotator_id"}


def _plain(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if is_dataclass(value) or isinstance(value, Mapping):
        for key, each in (value if isinstance(value, Mapping) else vars(value)).items():
            if key not in OWN_OF_A_SERVER:
                yield from _plain(each, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value):
            yield from _plain(each, f"{path}[{number}]")
    else:
        yield path, str(value)


def exported(campaign: Campaign, fmt: str) -> InputFile:
    made = FORMATS[fmt]
    return InputFile.holding(made.file_name(campaign), b"".join(made.pieces(campaign)))


def imported(*files: InputFile, **words: str) -> Launched:
    (launched,) = import_all(*files, **words)
    return launched


def import_all(*files: InputFile, **words: str) -> list[Launched]:
    report = Report()
    sent = Sent(sources.JUDGMENTS, {str(n): each for n, each in enumerate(files)}, words)
    drafts = sources.read(sent, report).drafts
    examine(drafts, report)
    assert [str(error) for error in report.errors] == []
    return launch(drafts)


def empty(*, keeps_texts: bool = False) -> None:
    """Delete campaigns and, unless they are to stay, texts."""
    for model in (Judgment, Item, Campaign) + (() if keeps_texts else (TestSet,)):
        model.objects.all().delete()


def comes_back(campaign: Campaign, fmt: str, *, keeps_texts: bool) -> Campaign:
    rows, figures, test_set = rows_of(campaign), figures_of(campaign), campaign.test_set.slug
    file = exported(campaign, fmt)
    empty(keeps_texts=keeps_texts)
    again = imported(file, **({"test_set": test_set} if keeps_texts else {})).result.campaign
    again.refresh_from_db()
    found = rows_of(again)
    assert len(found) == len(rows)
    for one, other in zip(found, rows, strict=True):
        assert one == other
    assert figures_of(again) == figures
    return again


@pytest.mark.parametrize("fmt", TABLES)
@pytest.mark.parametrize("name", OWN)
def test_every_protocol_comes_back_with_everything(name: str, fmt: str) -> None:
    campaign = make(name, *EVERY_MARK, ratio="0.80")
    protocol = campaign.judging
    again = comes_back(campaign, fmt, keeps_texts=fmt != "csv")
    assert again.judging == protocol
    assert (again.slug, again.name, again.study) == ("round-trip", "Round trip, Zoë", "trips")
    assert again.question == "How good?\nReally?"
    direction = again.test_set.source_language, again.test_set.target_language
    assert direction == ("zh", "en")


@pytest.mark.parametrize("mark", MARKS)
def test_every_mark_comes_back_alone(mark: str) -> None:
    comes_back(make("esa", mark), "csv", keeps_texts=False)
