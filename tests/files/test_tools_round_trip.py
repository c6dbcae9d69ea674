"""What the formats of other tools have a place for comes back: they declare no more than that."""

import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotation.exports.facts import FACTS
from annotation.exports.formats import declared
from annotation.exports.rows import judgments_of, with_spans
from annotation.imports import sources
from annotation.imports.sources import Sent
from annotation.imports.store import examine, launch
from annotation.judging.answers import rated_text
from annotation.models import Campaign, Item
from annotation.protocols import Span
from annotation.protocols.base import SOURCE
from annotation.uploads import InputFile, Report
from metrics import datasets
from metrics.datasets import mtme
from tests.files.campaigns import EVERY_MARK, make
from tests.files.test_round_trip import empty, exported

pytestmark = pytest.mark.django_db
# One answer to an item is BAD for Appraise, be it a trap or a bad reference.
MARKS = tuple(mark for mark in EVERY_MARK if mark not in ("controls", "conditions"))
WITH_GOLD = (*MARKS, "controls")
LANGUAGES = {"source_language": "zh", "target_language": "en"}
KINDS = {
    "controls": {Item.Kind.REPEAT, Item.Kind.BAD_REF},
    "documents": {Item.Kind.DOCUMENT},
    "gold": {Item.Kind.GOLD, Item.Kind.TUTORIAL},
}


def carried_of(campaign: Campaign, *formats: str) -> frozenset[str]:
    """What some formats carry of a campaign together."""
    lost = [set(declared()[name].without_place(campaign, FACTS)) for name in formats]
    return frozenset(FACTS) - set.intersection(*lost)


def answers_of(
    campaign: Campaign, carried: frozenset[str], *, has_breaks: bool = True
) -> Counter[Any]:
    """The answers as far as facts are carried; one format has no line breaks in texts."""
    kinds = {Item.Kind.TARGET}.union(*(KINDS[name] for name in KINDS if name in carried))
    rows = judgments_of(campaign).filter(assignment__item__kind__in=kinds)
    if "revisions" not in carried:
        rows = rows.filter(is_current=True)
    found: Counter[Any] = Counter()
    for row, spans in with_spans(rows):
        item = row.assignment.item
        about = {
            "scores": row.score,
            "scales": tuple(sorted(row.ratings.items())),
            "post-edits": row.post_edit,
            "comments": row.comment,
            "times": (row.started_at, row.submitted_at),
            "errors": tuple(sorted(_placed(campaign, item, spans, carried))),
            "notes": item.note,
            "gold": (item.low, item.high, item.feedback, str((item.rules or {}).get("errors"))),
            "revisions": row.is_current,
        }
        who, text = row.assignment.annotator.label, rated_text(item)
        if not has_breaks:
            who, text = who.replace(" ", "_"), text.replace("\n", " ")
        place = who, item.segment.source, text, item.kind
        found[place, *(value for name, value in about.items() if name in carried)] += 1
    return found


def _placed(
    campaign: Campaign, item: Item, spans: Any, carried: frozenset[str]
) -> Iterator[tuple[str, int, int, str, str]]:
    scheme = campaign.judging.spans
    assert scheme is not None or not spans
    for span in spans:
        is_token = span.side != SOURCE and span.start >= len(rated_text(item))
        if span.side == SOURCE and "source-errors" not in carried:
            continue
        if is_token and "tokens" not in carried:
            continue
        yield _key(span, has_category="categories" in carried)


def _key(span: Span, *, has_category: bool) -> tuple[str, int, int, str, str]:
    category = span.category if has_category else ""
    return span.side, span.start, span.end, span.severity, category


def batches_of(campaign: Campaign) -> Counter[Any]:
    """The texts of each batch."""
    found: dict[str, list[str]] = {}
    for item in campaign.items.select_related("output", "segment"):
        found.setdefault(item.batch, []).append(f"{item.segment.source}\n{rated_text(item)}")
    return Counter(tuple(sorted(own)) for own in found.values())


def unpacked(file: InputFile) -> dict[str, InputFile]:
    with file.open() as stream, zipfile.ZipFile(stream) as archive:
        return {n: InputFile.holding(n, archive.read(n)) for n in archive.namelist()}


def sent_back(sent: Sent) -> Campaign:
    report = Report()
    drafts = sources.read(sent, report).drafts
    examine(drafts, report)
    assert [str(error) for error in report.errors] == []
    (launched,) = launch(drafts)
    assert launched.result.is_new
    return launched.result.campaign


@pytest.mark.needs("extensions.formats")
@pytest.mark.parametrize("name", ["segment-da", "document-da", "side-by-side", "esa", "mqm"])
def test_appraise(name: str) -> None:
    campaign = make(name, *MARKS)
    carried = carried_of(campaign, "appraise-zip")
    files = unpacked(exported(campaign, "appraise-zip"))
    before, batches = answers_of(campaign, carried), batches_of(campaign)
    empty()
    roles = {
        "batches": files["batches.json"],
        "manifest": files["manifest.json"],
        "scores": files["scores.csv"],
    }
    again = sent_back(Sent("appraise", roles, {}))
    assert again.judging.spans == campaign.judging.spans
    assert answers_of(again, carried) == before
    assert batches_of(again) == batches


@pytest.mark.needs("extensions.formats")
@pytest.mark.parametrize(
    "name",
    [
        *("segment-da", "document-da", "side-by-side", "esa", "mqm", "contrastive-esa"),
        *("side-by-side-mqm", "adequacy-fluency", "post-editing", "own scales"),
        *("score and post-edit", "documents with errors"),
    ],
)
def test_pearmut(name: str) -> None:
    campaign = make(name, *WITH_GOLD)
    carried = carried_of(campaign, "pearmut", "pearmut-log")
    roles = {"campaign": exported(campaign, "pearmut"), "log": exported(campaign, "pearmut-log")}
    before = answers_of(campaign, carried)
    empty()
    again = sent_back(Sent("pearmut", roles, LANGUAGES))
    assert answers_of(again, carried) == before
    assert set(again.test_set.segments.values_list("document", flat=True)) == {"doc 0", "doc 1"}


@pytest.mark.parametrize("name", ["esa", "mqm"])
def test_mt_metrics_eval(name: str, tmp_path: Path) -> None:
    campaign = make(name, *MARKS)
    carried = carried_of(campaign, "mtme")
    campaign.annotators.update(excluded_at=None)
    before = answers_of(campaign, carried, has_breaks=False)
    for path, file in unpacked(exported(campaign, "mtme")).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        with file.open() as stream:
            (tmp_path / path).write_bytes(stream.read())
    empty()
    report = Report()
    draft = mtme.read(mtme.find_root(tmp_path), "zh-en", report)
    assert [str(error) for error in report.errors] == []
    datasets.store(draft)
    found = [answers_of(each, carried, has_breaks=False) for each in Campaign.objects.all()]
    assert [each for each in found if each] == [before]


@pytest.mark.needs("extensions.formats")
def test_mqm_tsv() -> None:
    campaign = make("mqm", *MARKS)
    carried = carried_of(campaign, "mqm-tsv")
    assert "source-errors" in carried
    before = answers_of(campaign, carried, has_breaks=False)
    file = exported(campaign, "mqm-tsv")
    empty()
    again = sent_back(Sent(sources.JUDGMENTS, {"0": file}, LANGUAGES))
    found = answers_of(again, carried, has_breaks=False)
    names = {who.replace(" ", "_") for (who, *_), *_ in found}
    assert names == {"A1", "Zoë_二", "=A3"}
    assert found == before
