"""Import the errors that Appraise's batches mark beforehand as suggestions.

Ends that annotators mark name the last character. Batches that were made elsewhere (ESA^AI) mostly
name the position after it, and suggestions that annotators do not change keep that in their scores.
"""

from collections.abc import Sequence
from dataclasses import replace

from annotation.imports.appraise.batches import RawItem
from annotation.imports.appraise.spans import decided, span_of, units_of
from annotation.imports.drafts import ItemDraft
from annotation.imports.ends import ends_are_included
from annotation.protocols import Protocol, SpanScheme
from annotation.uploads.problems import Place, Report
from metaeval.messages import plural
from metaeval.spans.ends import EndsAtWords, ends_at_words


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
    if n := sum(len(item.marked) - len(decided(item.marked)) for item in marked):
        report.warn(
            plural(
                "appraise.marked-without-severity",
                "{n} error marked beforehand is skipped because it has no severity.",
                "{n} errors marked beforehand are skipped because they have no severity.",
                n=n,
            ),
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
            span_of(value, item, scheme, item.place("mqm"), report, included=item.ends_included)
            for value in decided(item.marked)
            if scheme is not None
        ]
        suggestions = tuple(dict.fromkeys(span for span in spans if span is not None))
        suggested.append(replace(draft, suggestions=suggestions))
    return suggested


def _count_ends(items: Sequence[RawItem]) -> EndsAtWords:
    return ends_at_words(
        (item.target.strip(), units[end] if end < len(units) else len(item.target.strip()))
        for item in items
        for units in (units_of(item.target.strip()),)
        for value in item.marked
        if type(end := value.get("end_i")) is int and end >= 0
    )
