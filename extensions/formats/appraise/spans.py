"""Errors marked beforehand in Appraise's batches as suggestions, and our spans as Appraise's.

In Appraise, positions count UTF-16 code units of the stripped text, the end is included, and an
omission is `missing`. Our positions count code points of the text as stored, the end is excluded,
and an omission is marked over the whole source. Ends that annotators mark name the last character.
Batches that were made elsewhere (ESA^AI) mostly name the position after it, and suggestions that
annotators do not change keep that in their scores.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotation.imports.drafts import ItemDraft
from annotation.imports.judgments.spans import MISSING, UNDECIDED, RawSpan, SpanReader
from annotation.protocols import Protocol, Span
from annotation.protocols.base import SOURCE, TARGET
from annotation.protocols.published import their_category
from annotation.uploads.offsets import APPRAISE
from annotation.uploads.problems import Place, Report
from extensions.formats.appraise.batches import RawItem
from extensions.formats.ends import ends_are_included
from metaeval.messages import plural


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
    ends = (
        (item.written, end)
        for item in marked
        for value in item.marked
        if type(end := value.get("end_i")) is int and end >= 0
    )
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
    included = ends_are_included(lambda: APPRAISE.count_ends(ends), stated, report, place)
    report.warn_of(
        sum(each.get("severity") == UNDECIDED for item in marked for each in item.marked),
        "appraise.marked-without-severity",
        "{n} error marked beforehand is skipped because it has no severity.",
        "{n} errors marked beforehand are skipped because they have no severity.",
        place,
    )
    return [replace(item, ends_included=included) for item in items]


def marked_in(item: RawItem, value: Mapping[str, Any], place: Place) -> RawSpan:
    """Return an error with the texts of its item.

    Those that the batch marks have its ends and its text; those of annotators have Appraise's ends,
    in the text as a page has it, where CRLF is a single LF (HTML 13.2.3.5).
    """
    known = [(str(each.get("start_i")), str(each.get("end_i"))) for each in item.marked]
    is_before = (str(value.get("start_i")), str(value.get("end_i"))) in known
    convention = replace(APPRAISE, ends_included=item.ends_included or not is_before)
    target = item.written if is_before else item.target
    return RawSpan(value, place, {SOURCE: item.source, TARGET: target}, convention=convention)


def suggest(
    items: Sequence[RawItem], drafts: Sequence[ItemDraft], protocol: Protocol, report: Report
) -> list[ItemDraft]:
    """Return the drafts with their suggestions; `items` are those of the file in their order."""
    reader = SpanReader(protocol, False, report)
    suggested = []
    for item, draft in zip(items, drafts, strict=True):
        raws = [marked_in(item, value, item.place("mqm")) for value in item.marked]
        spans = reader.read(raws, item.source, item.target)
        suggested.append(replace(draft, suggestions=tuple(dict.fromkeys(spans))))
    return suggested
