"""Convert error spans of Appraise to our spans, and back.

In Appraise, positions count UTF-16 code units of the stripped text, the end is included, and an
omission is `missing`. Our positions count code points of the text as stored, the end is excluded,
and an omission is marked over the whole source.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotation.imports.appraise.batches import NOT_SPANS, RawItem
from annotation.imports.drafts import ItemDraft
from annotation.imports.jsonfiles import ends_are_included
from annotation.protocols import Protocol, Span, SpanScheme
from annotation.protocols.base import SOURCE, TARGET
from annotation.protocols.published import our_category, their_category
from annotation.uploads.offsets import APPRAISE, other_words
from annotation.uploads.problems import Place, Report, within
from metaeval.messages import message, plural
from metaeval.spans.span_table import EndsAtWords

MISSING = "missing"
UNDECIDED = "undecided"
OMISSION = "accuracy/omission"
FIELD = "mqm"


def read_spans(
    cell: str, item: RawItem, protocol: Protocol, place: Place, report: Report
) -> tuple[tuple[Span, ...], int]:
    """Return the spans of a row, and the number of spans without a severity.

    Ends are included, and the text is as a page has it, where CRLF is a single LF (HTML 13.2.3.5).
    Unchanged suggestions are as in the batch.
    """
    place = place._replace(field=FIELD)
    values = _values(cell, place, report)
    if not values:
        return (), 0
    if protocol.spans is None:
        report.error(message("appraise.unwanted-spans", "This protocol has no error spans."), place)
        return (), 0
    before = {_ends(each) for each in item.marked}
    spans = []
    for number, value in enumerate(values, 1):
        if value.get("severity") != UNDECIDED:
            name = message("appraise.span", "span {number:d}", number=number)
            span_place = place._replace(field=within(FIELD, name))
            is_before = _ends(value) in before
            span = span_of(value, item, protocol.spans, span_place, report, is_before=is_before)
            spans += [span] if span else []
    return tuple(dict.fromkeys(spans)), len(values) - len(decided(values))


def _ends(value: Mapping[str, Any]) -> tuple[str, str]:
    return str(value.get("start_i")), str(value.get("end_i"))


def decided(values: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the spans that have a severity."""
    return [each for each in values if each.get("severity") != UNDECIDED]


def _values(cell: str, place: Place, report: Report) -> list[dict[str, Any]]:
    """Read a cell, which may be JSON within JSON, or an object with a payload."""
    try:
        values = json.loads(cell) if cell else []
        values = json.loads(values) if isinstance(values, str) else values
    except (ValueError, RecursionError):
        report.error(message("appraise.not-json", "The cell is not valid JSON."), place)
        return []
    if isinstance(values, dict):
        values = values.get("payload", [])
    if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
        report.error(NOT_SPANS, place)
        return []
    return values


def span_of(
    value: Mapping[str, Any],
    item: RawItem,
    scheme: SpanScheme,
    place: Place,
    report: Report,
    *,
    is_before: bool,
) -> Span | None:
    """Return our span for one of Appraise, or None and report why.

    With `is_before` it was marked beforehand: its offsets are as the item of the batch has them.
    """
    severity = value.get("severity")
    if not isinstance(severity, str) or severity not in scheme.severity_keys:
        report.error(
            message(
                "appraise.severity",
                "The severity “{given}” is unknown. It must be one of {severities}.",
                given=str(severity),
                severities=[each.key for each in scheme.severities],
            ),
            place,
        )
        return None
    category = _category(value.get("error_type"), scheme)
    start, end = value.get("start_i"), value.get("end_i")
    if start == MISSING or end == MISSING:
        omission = OMISSION if scheme.categories and category == "other" else category
        return Span(SOURCE, 0, len(item.source), severity, omission)
    if type(start) is not int or type(end) is not int:
        report.error(
            message("appraise.offsets", "start_i and end_i must be whole numbers or “missing”."),
            place,
        )
        return None
    own = replace(APPRAISE, ends_included=item.ends_included or not is_before)
    at = own.stored(item.written if is_before else item.target, start, end)
    if at is None or not start <= end:
        report.error(
            message(
                "appraise.outside",
                "The span from {start:d} to {end:d} is outside the text.",
                start=start,
                end=end,
            ),
            place,
        )
        return None
    if differs := other_words(value.get("text"), item.target[slice(*at)]):
        report.error(differs, place)
        return None
    return Span(TARGET, *at, severity, category)


def _category(path: object, scheme: SpanScheme) -> str:
    if not scheme.categories:
        return ""
    parts = path if isinstance(path, list) else [path] if path else []
    return our_category("/".join(str(part) for part in parts))[:80] or "other"


def write_spans(spans: Iterable[Span], text: str) -> str:
    """Return the JSON that Appraise would hold for spans in a text."""
    lead = len(text) - len(text.lstrip())
    stripped = text.strip()
    values = [_value(span, stripped, lead) for span in spans]
    return json.dumps(values, ensure_ascii=False)


def _value(span: Span, stripped: str, lead: int) -> dict[str, Any]:
    places: dict[str, Any] = {"start_i": MISSING, "end_i": MISSING}
    if span.side == TARGET and span.start < lead + len(stripped):
        start = max(0, span.start - lead)
        end = min(len(stripped), span.end - lead)
        places = {"start_i": _units(stripped[:start]), "end_i": _units(stripped[:end]) - 1}
    kind = {"error_type": their_category(span.category).split("/")} if span.category else {}
    return {**places, "severity": span.severity, **kind}


def _units(text: str) -> int:
    return len(text) + sum(ord(sign) > 0xFFFF for sign in text)


# Import the errors that Appraise's batches mark beforehand as suggestions. Ends that annotators
# mark name the last character. Batches that were made elsewhere (ESA^AI) mostly name the
# position after it, and suggestions that annotators do not change keep that in their scores.


def resolve_ends(
    items: list[RawItem], protocol: Protocol, stated: str, report: Report
) -> list[RawItem]:
    """Return the items with `ends_included` set for their marked errors.

    `stated` is `included` or `excluded`, or empty to infer it from the words.
    """
    marked = [item for item in items if item.marked]
    if not marked:
        return items
    place = Place(marked[0].file, None, "mqm")
    if protocol.spans is None:
        report.warn(
            plural(
                "appraise.no-spans-wanted",
                "Errors marked beforehand in {n} item are skipped: this protocol has no error "
                "spans.",
                "Errors marked beforehand in {n} items are skipped: this protocol has no error "
                "spans.",
                n=len(marked),
            ),
            place,
        )
        return [replace(item, marked=()) for item in items]
    included = ends_are_included(lambda: _count_ends(marked), stated, report, place)
    report.warn_of(
        sum(len(item.marked) - len(decided(item.marked)) for item in marked),
        "appraise.marked-without-severity",
        "{n} error marked beforehand is skipped because it has no severity.",
        "{n} errors marked beforehand are skipped because they have no severity.",
        place,
    )
    return [replace(item, ends_included=included) for item in items]


def suggest(
    items: Sequence[RawItem], drafts: Sequence[ItemDraft], scheme: SpanScheme | None, report: Report
) -> list[ItemDraft]:
    """Return the drafts with their suggestions; `items` are those of the file in their order."""
    suggested = []
    for item, draft in zip(items, drafts, strict=True):
        spans = [
            span_of(value, item, scheme, item.place("mqm"), report, is_before=True)
            for value in decided(item.marked)
            if scheme is not None
        ]
        suggestions = tuple(dict.fromkeys(span for span in spans if span is not None))
        suggested.append(replace(draft, suggestions=suggestions))
    return suggested


def _count_ends(items: Sequence[RawItem]) -> EndsAtWords:
    return APPRAISE.count_ends(
        (item.written, end)
        for item in items
        for value in item.marked
        if type(end := value.get("end_i")) is int and end >= 0
    )
