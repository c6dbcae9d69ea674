"""Errors that Pearmut's campaigns mark beforehand: to the code point, as suggestions, and out."""

import json
from typing import Any

import pytest
from django.conf import settings

from annotation import protocols
from annotation.campaigns import open_campaign
from annotation.imports.judgments.spans import RawSpan, SpanReader
from annotation.imports.store import launch
from annotation.models import Campaign, Item
from annotation.prefill.suggestions import offered
from annotation.protocols import Span
from annotation.uploads import InputFile, Report
from annotation.uploads.problems import Place
from extensions.formats import pearmut
from extensions.formats.exports.pearmut import write_span
from extensions.formats.pearmut.offsets import OLD, read_spans

FOLDER = settings.DATA_DIR / "protocols"


def read(values: Any, ends: str = "", **more: Any) -> tuple[list[Any], Report]:
    report = Report()
    file = InputFile.holding("c.json", json.dumps(values).encode())
    languages = {"source_language": "en", "target_language": "de"}
    return pearmut.read(file, report, ends=ends, **languages, **more), report


def campaign(text: str, *spans: dict[str, Any], protocol: str = "ESA") -> dict[str, Any]:
    item = {"src": "A source.", "tgt": {"A": text}, "error_spans": {"A": list(spans)}}
    return {
        "campaign_id": "c",
        "info": {"assignment": "task-based", "protocol": protocol, "users": 1},
        "data": [[[item]]],
    }


def span(start: int, end: int, severity: str | None = "minor") -> dict[str, Any]:
    return {"start_i": start, "end_i": end, "severity": severity, "category": None}


def suggested(values: Any, ends: str = "") -> tuple[Span, ...]:
    ((_, draft),), _ = read(values, ends)
    return draft.items[0].suggestions


def test_every_marking_of_the_facts_is_read_to_the_code_point() -> None:
    for case in json.loads((FOLDER / "offsets.json").read_text(encoding="utf-8")):
        text, protocol = case["text"], protocols.get("esa")
        texts = {"target": text, "source": "A source."}
        reader = SpanReader(protocol, False, Report())
        raw = RawSpan(span(*case["pearmut_1_1_4"]), Place(), texts)
        (before,) = read_spans(reader, [raw], OLD)
        start, end = case["pearmut_1_1_5"]
        (own,) = read_spans(reader, [RawSpan(span(start, end), Place(), texts)])
        assert own == before
        if case["marked"] is None:
            assert own == Span("source", 0, len("A source."), "minor")
        else:
            assert (own.start, own.end) == tuple(case["code_points"])
            written = write_span(own, text)
            assert (written["start_i"], written["end_i"]) == (start, end)


def test_ends_are_inferred_from_words_unless_stated() -> None:
    inner = "Er ging dann weg."
    behind = [span(0, 2), span(3, 7), span(8, 12)]
    named = [span(0, 1), span(3, 6), span(8, 11)]
    wanted = ["Er", "ging", "dann"]
    for given in (behind, named):
        _, report = read(campaign(inner, *given))
        code = "ends.read-as-excluded" if given is behind else "ends.read-as-included"
        assert code in [each.code for each in report.warnings]
        assert [inner[s.start : s.end] for s in suggested(campaign(inner, *given))] == wanted
    assert [s.end for s in suggested(campaign(inner, *named), "excluded")] == [1, 6, 11]
    unclear = campaign("Er ging so.", span(0, 1), span(3, 7))
    drafts, report = read(unclear)
    assert not drafts
    assert [each.code for each in report.errors] == ["ends.unclear"]
    # A position after the text, which many lists have, is its end.
    assert suggested(campaign("Ja.", span(0, 3)), "included") == (Span("target", 0, 3, "minor"),)


def test_what_is_wrong_is_named_and_what_cannot_be_shown_counted() -> None:
    _, report = read(campaign("Ja.", {"start_i": 2, "end_i": 1}, {"start_i": "0", "end_i": 1}))
    paths = [f"data[0][0][0].error_spans.A[{n}]" for n in (0, 1)]
    assert [str(each.place.field) for each in report.errors] == paths
    _, report = read(campaign("Ja.", span(0, 2, None), span(0, 2, "critical")), "included")
    counts = {each.code: each.message.parameters.get("n") for each in report.warnings}
    assert counts["pearmut.skipped-spans"] == 1
    kept = suggested(campaign("Ja.", span(0, 2, None), span(0, 2, "critical")), "included")
    assert kept == (Span("target", 0, 3, "major"),)
    tokens = suggested(campaign("Ja.", span(3, 3), protocol="cESA"), "included")
    assert tokens == (Span("target", 3, 4, "minor"),)


@pytest.mark.django_db
def test_the_facts_campaign_is_stored_opened_and_shown() -> None:
    values = json.loads((FOLDER / "esaai-task-based.json").read_text(encoding="utf-8"))
    drafts, report = read(values, "included")
    assert not report.errors
    launch(drafts)
    stored = Campaign.objects.get()
    assert stored.is_prefilled
    assert stored.prefill.source == "pearmut"
    open_campaign(campaign=stored)
    shown = [offered(item.suggestions, "") for item in Item.objects.order_by("pk")]
    given = [
        len(spans)
        for task in values["data"]
        for document in task
        for item in document
        for spans in (item.get("error_spans") or dict.fromkeys(item["tgt"], ())).values()
    ]
    assert [len(own) for own in shown] == given
    assert sum(given) > 0


# 36 units, 34 without the line breaks; “kam” begins at 14, or at 13 without the first break.
BROKEN = "Er ging.\nDann kam sie.\nDann ging er."


@pytest.mark.parametrize(
    ("kam", "missing", "breaks"),
    [((14, 16), 36, ""), ((13, 15), 34, ""), ((13, 15), None, "uncounted")],
)
def test_marks_of_omissions_show_whether_line_breaks_count(
    kam: tuple[int, int], missing: int | None, breaks: str
) -> None:
    marks = [span(*kam)] + ([span(missing, missing)] if missing else [])
    drafts, report = read(campaign(BROKEN, *marks), "included", breaks=breaks)
    assert not report.errors, report.errors
    first, *more = drafts[0][1].items[0].suggestions
    assert BROKEN[first.start : first.end] == "kam"
    assert more == ([Span("source", 0, len("A source."), "minor")] if missing else [])
    warnings = [each for each in report.warnings if each.code == "pearmut.breaks-uncounted"]
    assert len(warnings) == (missing == 34)


def test_without_a_clear_mark_line_breaks_must_be_stated() -> None:
    for marks in ([span(14, 16)], [span(34, 34), span(36, 36)]):
        drafts, report = read(campaign(BROKEN, *marks), "included")
        assert not drafts
        assert [each.code for each in report.errors] == ["pearmut.breaks-unclear"]
        assert read(campaign(BROKEN, *marks), "included", breaks="counted")[0]
    # Before the first break it is the same.
    assert not read(campaign(BROKEN, span(3, 6)), "included")[1].errors
    # With several tokens one index can be both, and another mark decides.
    both = campaign(BROKEN, span(35, 35), protocol="cESA")
    both["info"]["special_tokens"] = ["[missing]", "[fault]", "[other]"]
    (_, draft), *_ = read(both, "included")[0]
    assert draft.items[0].suggestions == (Span("target", 37, 38, "minor"),)


def test_suggestions_that_were_left_keep_the_convention_of_their_list() -> None:
    """In a log, ends of annotators are included; unchanged suggestions keep those of the list."""
    text = "Er ging dann weg."
    values = campaign(text, span(0, 2), span(3, 7), span(8, 12))
    (task,) = values["data"]
    given = [span(0, 2), span(3, 7), span(13, 15)]
    entry = {
        "user_id": "u", "item_i": 0, "item": task[0], "actions": [],
        "annotation": [{"A": {"score": 50, "error_spans": given}}],
    }  # fmt: skip
    log = InputFile.holding("log.jsonl", json.dumps(entry).encode())
    ((_, draft),), report = read(values, "excluded", logs=[log])
    assert not report.errors
    marked = [text[each.start : each.end] for each in draft.judgments[0].spans]
    assert marked == ["Er", "ging", "weg"]
