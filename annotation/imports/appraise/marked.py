"""Errors that Appraise's batches mark beforehand, as suggestions here.

Annotators' own ends name the last character; batches that were made elsewhere (ESA^AI) mostly name
the place behind it, and what annotators leave as it was keeps that in their scores.
"""

from collections.abc import Sequence
from dataclasses import replace

from annotation.imports.appraise.batches import RawItem
from annotation.imports.appraise.spans import decided, span_of, units_of
from annotation.imports.drafts import ItemDraft
from annotation.imports.ends import ends_are_included
from annotation.protocols import Protocol, SpanScheme
from annotation.uploads.problems import Place, Report
from core.text import pluralize
from metaeval.spans.ends import EndsAtWords, ends_at_words


def settle_marks(
    items: list[RawItem], protocol: Protocol, said: str, report: Report
) -> list[RawItem]:
    """Return the items knowing how their marked errors end.

    `said` is `included` or `excluded`, or empty where the words are to tell.
    """
    marked = [item for item in items if item.marked]
    if not marked:
        return items
    place = Place(marked[0].file, None, "mqm")
    if protocol.spans is None:
        told = pluralize(len(marked), "item")
        report.warn(f"errors marked beforehand in {told} are left out: none are asked for", place)
        return [replace(item, marked=()) for item in items]
    included = ends_are_included(lambda: _told(marked), said, report, place)
    if lost := sum(len(item.marked) - len(decided(item.marked)) for item in marked):
        report.warn(f"{pluralize(lost, 'error')} without a severity are left out", place)
    return [replace(item, ends_included=included) for item in items]


def suggest(
    items: Sequence[RawItem], drafts: Sequence[ItemDraft], scheme: SpanScheme | None, report: Report
) -> list[ItemDraft]:
    """Return the drafts with their suggestions; `items` are those of the file in their order."""
    found = []
    for item, draft in zip(items, drafts, strict=True):
        own = decided(item.marked) if scheme is not None else []
        spans = [
            span_of(value, item, scheme, item.place("mqm"), report, included=item.ends_included)
            for value in own
            if scheme is not None
        ]
        kept = tuple(dict.fromkeys(span for span in spans if span is not None))
        found.append(replace(draft, suggestions=kept))
    return found


def _told(items: Sequence[RawItem]) -> EndsAtWords:
    return ends_at_words(
        (item.target.strip(), units[end] if end < len(units) else len(item.target.strip()))
        for item in items
        for units in (units_of(item.target.strip()),)
        for value in item.marked
        if type(end := value.get("end_i")) is int and end >= 0
    )
