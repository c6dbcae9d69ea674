"""What we export comes back equal: every protocol and mark, in every format that has a place."""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any
from uuid import uuid4

import pytest

from annotation.exports.formats import declared
from annotation.exports.judgments import judgment_dicts
from annotation.exports.suggestions import SUGGESTION_HEADER, suggestion_rows
from annotation.imports import sources
from annotation.imports.sources import Sent
from annotation.imports.store import Launched, examine, launch
from annotation.models import (
    Annotator,
    Assignment,
    AuditEntry,
    Campaign,
    Item,
    Judgment,
    TestSet,
)
from annotation.quality.report import quality_report
from annotation.uploads import InputFile, Report
from tests.files.campaigns import EVERY_MARK, MARKS, OWN, add_judgment, make
from tests.world import make_user

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
    made = declared()[fmt]
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


def counts() -> list[int]:
    return [model.objects.count() for model in (TestSet, Campaign, Annotator, Item, Judgment)]


def reported(*files: InputFile, **words: str) -> set[str]:
    """The codes of what an import reports."""
    report = Report()
    sent = Sent(sources.JUDGMENTS, {str(n): each for n, each in enumerate(files)}, words)
    examine(sources.read(sent, report).drafts, report)
    return {problem.message.code for problem in report.problems}


def edited(file: InputFile, change: Callable[[list[Row]], list[Row]]) -> InputFile:
    """A file of JSON lines with other rows."""
    with file.open() as stream:
        rows = change([json.loads(line) for line in stream])
    return InputFile.holding(file.name, "".join(json.dumps(row) + "\n" for row in rows).encode())


@pytest.mark.parametrize("words", [{}, {"name": "Another name"}])
def test_importing_where_it_came_from_changes_nothing(words: dict[str, str]) -> None:
    file = exported(make("esa", *EVERY_MARK), "csv")
    before = counts()
    assert "import.stored-before" in reported(file, **words)
    assert not imported(file, **words).result.is_new
    assert counts() == before


def test_importing_twice_changes_nothing() -> None:
    file = exported(make("own choices", *EVERY_MARK), "jsonl")
    empty()
    assert imported(file).result.is_new
    before = counts()
    assert not imported(file).result.is_new
    assert not imported(file, file, name="Twice").result.is_new
    assert counts() == before


def test_some_stored_and_some_new_judgments_are_refused() -> None:
    file = exported(make("esa", "clocked"), "jsonl")
    new = {"judgment_key": str(uuid4()), "judgment": 10**9, "item": 10**9, "settings": None}
    more = edited(file, lambda rows: [*rows, {**rows[-1], **new, "position": 99}])
    assert "import.judgments-stored" in reported(more)
    changed = edited(file, lambda rows: [rows[0] | {"comment": "changed"}, *rows[1:]])
    assert "import.judgments-changed" in reported(changed)


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ({"settings": '{"seed": "x"}'}, "not-json"),
        ({"settings": '{"study": "a b"}'}, "not-json"),
        ({"settings": '{"name": "\\u0000"}'}, "not-json"),
        ({"settings": '{"secret": "x"}'}, "not-json"),
        ({"settings": "{"}, "not-json"),
        ({"playing": "{}"}, "not-json"),
        ({"condition": "other"}, "unknown-code"),
        ({"time_doubt": "other"}, "unknown-code"),
        ({"judgment_key": "1"}, "no-key"),
        ({"annotator_key": "a b"}, "no-annotator-key"),
        ({"visible_ms": -1}, "number-outside"),
        ({"place": 99_999}, "number-outside"),
        ({"comment": "\0"}, "character-in-text"),
        ({"exclusion_reason": "\0"}, "character-in-text"),
        ({"is_excluded": "perhaps"}, "not-yes-or-no"),
        ({"excluded_at": "never"}, "not-a-time"),
        ({"openings": '["never"]'}, "not-a-time"),
        (
            {"spans": [{"side": "target", "start": 0, "end": 0, "severity": "minor"}]},
            "span-changed",
        ),
        (
            {"spans": [{"side": "target", "start": 0, "end": 1, "severity": "x"}]},
            "unknown-severity",
        ),
        ({"choice_Usable": "maybe"}, "unknown-option"),
        ({"scale_Quality": 6}, "not-on-scale"),
        ({"scale_Quality": 2, "score": 3}, "other-first-scale"),
    ],
)
def test_what_was_changed_in_a_file_is_named(cells: Row, code: str) -> None:
    file = exported(make("own choices", *EVERY_MARK), "jsonl")
    empty()
    changed = edited(file, lambda rows: [rows[0] | cells, *rows[1:]])
    assert f"judgments.{code}" in reported(changed)


def test_rows_in_any_order_come_back_equal() -> None:
    campaign = make("contrastive-esa", *EVERY_MARK)
    rows = [row | {"settings": None} for row in rows_of(campaign)]
    file = edited(exported(campaign, "jsonl"), lambda rows: sorted(rows, key=lambda r: str(r)))
    empty()
    again = imported(file).result.campaign
    again.refresh_from_db()
    by_key = {row["judgment_key"]: row for row in rows_of(again)}
    for row in rows:
        own = by_key[row["judgment_key"]] | {"settings": None}
        assert {n: own[n] for n in own if n not in NUMBERS} == {
            n: row[n] for n in row if n not in NUMBERS
        }


def test_an_answer_whose_revision_was_left_out_does_not_count() -> None:
    file = exported(make("esa", "revised"), "jsonl")
    first = edited(file, lambda rows: [row for row in rows if row["revision"] == 1])
    empty()
    imported(first)
    assert Judgment.objects.filter(is_current=False).count() == 8
    assert set(Judgment.objects.values_list("revision", flat=True)) == {1}


def test_equal_answers_are_revisions_if_their_keys_differ() -> None:
    campaign = make("esa", "revised", "untimed")
    n = Judgment.objects.count()
    file = exported(campaign, "csv")
    empty()
    imported(file)
    assert Judgment.objects.count() == n


def test_annotators_with_one_name_are_two_unless_their_keys_are_equal() -> None:
    campaign = make("esa")
    file = exported(campaign, "jsonl")

    def of_another(rows: list[Row]) -> list[Row]:
        return [
            row | {"annotator_key": "other"} if row["annotator"] == "A1" else row for row in rows
        ]

    def renumbered(rows: list[Row]) -> list[Row]:
        return [
            row | {"judgment_key": str(uuid4()), "judgment": row["judgment"] + 10**6}
            for row in rows
        ]

    both = edited(file, lambda rows: rows + renumbered(of_another(rows[:8])))
    empty()
    again = imported(both).result.campaign
    labels = set(again.annotators.values_list("label", flat=True))
    assert labels == {"A1", "A1 (2)", "Zoë 二", "=A3"}


def test_one_account_is_one_person_in_all_campaigns() -> None:
    user = make_user("person", "annotator")
    first = make("esa")
    first.annotators.filter(label="A1").update(user=user)
    second = Campaign.objects.get(pk=first.pk)
    second.pk, second.slug = None, "second"
    second.save()
    item = Item.objects.filter(campaign=first).first()
    item.pk, item.campaign = None, second
    item.save()
    for label in ("A1", "Zoë 二"):
        who = Annotator.objects.create(
            campaign=second, label=label, user=user if label == "A1" else None
        )
        given = Assignment.objects.create(annotator=who, item=item, position=0)
        add_judgment(given, random.Random(label))
    keys = [
        {row["annotator"]: row["annotator_key"] for row in judgment_dicts(campaign)}
        for campaign in (first, second)
    ]
    assert keys[0]["A1"] == keys[1]["A1"]
    assert keys[0]["Zoë 二"] != keys[1]["Zoë 二"]
    assert len(set(keys[0].values())) == 3


@pytest.mark.parametrize("name", ["esa", "own errors", "contrastive-esa"])
def test_suggestions_and_what_became_of_them_come_back(name: str) -> None:
    """They are a file of their own, because planted errors are no judgments."""
    campaign = make(name, "conditions", "suggested", "commented")
    rows, suggested = rows_of(campaign), list(suggestion_rows(campaign))
    assert len(suggested) > 20
    files = [exported(campaign, "suggestions"), exported(campaign, "csv")]
    empty()
    again = imported(*files).result.campaign
    again.refresh_from_db()
    assert rows_of(again) == rows
    at = SUGGESTION_HEADER.index("judgment")
    for one, other in zip(suggestion_rows(again), suggested, strict=True):
        assert one[:at] + one[at + 1 :] == other[:at] + other[at + 1 :]
    empty()
    alone = reported(files[0], exported(make(name), "csv"))
    assert "judgments.suggestion-of-no-judgment" in alone


def test_simulated_annotators_stay_simulated() -> None:
    file = exported(make("esa", "simulated"), "csv")
    empty()
    assert imported(file).result.campaign.is_simulated


def test_why_an_annotator_is_excluded_comes_back() -> None:
    file = exported(make("esa", "excluded"), "csv")
    empty()
    imported(file)
    (entry,) = AuditEntry.objects.all()
    assert (entry.action, entry.reason) == ("exclude", "Too fast,\nand random")
    assert entry.annotator.label == "A1"
