"""Errors that Pearmut's campaigns mark beforehand: to the code point, as suggestions, and out."""

import json
from typing import Any

import pytest
from django.conf import settings

from annotation import protocols
from annotation.campaigns import open_campaign
from annotation.exports.pearmut import write_span
from annotation.imports import pearmut
from annotation.imports.launch import launch
from annotation.imports.pearmut.findings import Findings
from annotation.imports.pearmut.prefilled import Raw, read_spans
from annotation.models import Campaign, Item
from annotation.prefill.suggestions import offered
from annotation.protocols import Span
from annotation.uploads import InputFile, Report

FOLDER = settings.DATA_DIR / "protocols"


def read(values: Any, ends: str = "") -> tuple[list[Any], Report]:
    report = Report()
    file = InputFile.holding("c.json", json.dumps(values).encode())
    languages = {"source_language": "en", "target_language": "de"}
    return pearmut.read(file, report, ends=ends, **languages), report


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
        start, end = case["pearmut_1_1_5"]
        text = case["text"]
        raw = Raw([span(start, end)], text, "A source.")
        found = Findings("c.json", Report())
        (own,) = read_spans(found, raw, protocols.get("esa"), ends_included=True)
        if case["marked"] is None:
            assert own == Span("source", 0, len("A source."), "minor")
        else:
            assert (own.start, own.end) == tuple(case["code_points"])
            written = write_span(own, text)
            assert (written["start_i"], written["end_i"]) == (start, end)


def test_words_say_what_an_end_is_unless_somebody_does() -> None:
    inner = "Er ging dann weg."
    behind = [span(0, 2), span(3, 7), span(8, 12)]
    named = [span(0, 1), span(3, 6), span(8, 11)]
    wanted = ["Er", "ging", "dann"]
    for given in (behind, named):
        _, report = read(campaign(inner, *given))
        assert any(
            "ends of errors marked beforehand are read as" in str(w) for w in report.warnings
        )
        assert [inner[s.start : s.end] for s in suggested(campaign(inner, *given))] == wanted
    assert [s.end for s in suggested(campaign(inner, *named), "excluded")] == [1, 6, 11]
    unclear = campaign("Er ging so.", span(0, 1), span(3, 7))
    drafts, report = read(unclear)
    assert not drafts
    assert "say whether the ends" in str(report.errors[0])
    # Behind the text, as many lists have it, is its end.
    assert suggested(campaign("Ja.", span(0, 3)), "included") == (Span("target", 0, 3, "minor"),)


def test_what_is_wrong_is_named_and_what_cannot_be_shown_counted() -> None:
    _, report = read(campaign("Ja.", {"start_i": 2, "end_i": 1}, {"start_i": "0", "end_i": 1}))
    assert [str(each.place.field) for each in report.errors] == ["data[0][0][0].error_spans.A"] * 2
    _, report = read(campaign("Ja.", span(0, 2, None), span(0, 2, "critical")), "included")
    assert any("1 errors marked beforehand" in str(warning) for warning in report.warnings)
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
