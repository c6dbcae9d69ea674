"""Error spans as a table of their own: one row per span, joined to judgments by `judgment`.

Where errors are suggested, `origin` and `fate` say where a span came from.
"""

from collections.abc import Iterator
from typing import Any

from annotation.exports.rows import judgments_of, system_name, with_spans
from annotation.filters import EVERYTHING, Filters
from annotation.judging.answers import rated_text
from annotation.models import Campaign, SuggestionFate
from annotation.prefill.suggestions import key_of
from annotation.protocols import Span
from annotation.protocols.base import TARGET

SPAN_HEADER = (
    "campaign",
    "annotator",
    "kind",
    "segment",
    "document",
    "system",
    "revision",
    "is_current",
    "judgment",
    "number",
    "side",
    "start",
    "end",
    "severity",
    "category",
    "weight",
    "text",
)
FATE = ("origin", "fate")
Row = dict[str, Any]


def span_dict(span: Span) -> Row:
    """Return a span by the names of its fields."""
    return {
        "side": span.side,
        "start": span.start,
        "end": span.end,
        "severity": span.severity,
        "category": span.category,
    }


def span_dicts(campaign: Campaign, filters: Filters = EVERYTHING) -> Iterator[Row]:
    """Yield every error span by the names of `span_header`, with the text that it marks."""
    scheme = campaign.judging.spans
    rows = judgments_of(campaign, filters)
    rows = rows.prefetch_related("fates") if campaign.is_prefilled else rows
    for judgment, spans in with_spans(rows):
        item = judgment.assignment.item
        fates = (
            {key_of(fate): fate for fate in judgment.fates.all()} if campaign.is_prefilled else {}
        )
        for number, span in enumerate(spans, 1):
            text = rated_text(item) if span.side == TARGET else item.segment.source
            yield {
                "campaign": campaign.slug,
                "annotator": judgment.assignment.annotator.label,
                "kind": item.kind,
                "segment": item.segment.key,
                "document": item.segment.document,
                "system": system_name(item),
                "revision": judgment.revision,
                "is_current": judgment.is_current,
                "judgment": judgment.pk,
                "number": number,
                **span_dict(span),
                "weight": scheme.weight(span) if scheme else None,
                "text": scheme.quote(span, text) if scheme else "",
                **(_fate(fates.get(key_of(span))) if campaign.is_prefilled else {}),
            }


def span_header(campaign: Campaign) -> tuple[str, ...]:
    """Return the names of a span's columns; for suggestions, its origin comes last."""
    return (*SPAN_HEADER, *(FATE if campaign.is_prefilled else ()))


def _fate(fate: SuggestionFate | None) -> Row:
    """Return whether a span was suggested, and what its annotator did to it."""
    return dict(zip(FATE, (fate.origin, fate.fate) if fate else ("own", ""), strict=True))


def span_rows(campaign: Campaign, filters: Filters = EVERYTHING) -> Iterator[tuple[Any, ...]]:
    """Yield the values of `span_header` as CSV cells."""
    header = span_header(campaign)
    for row in span_dicts(campaign, filters):
        yield tuple(row[name] for name in header)
