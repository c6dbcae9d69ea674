"""Read the judgments of a campaign in portions, in constant memory."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple, Self

from django.db.models import QuerySet

from annotation.filters import EVERYTHING, Filters
from annotation.filters.chosen import filtered
from annotation.models import Campaign, ErrorSpan, Item, Judgment
from annotation.protocols import Span
from annotation.quality.columns import value_of

CHUNK = 2_000
RELATED = (
    "assignment__annotator",
    "assignment__item__segment",
    "assignment__item__output__system",
    "assignment__item__system",
    "assignment__item__partner__output__system",
)


def judgments_of(campaign: Campaign, filters: Filters = EVERYTHING) -> QuerySet[Judgment]:
    """Return the judgments that filters choose with their history, in each annotator's own order.

    Raises FilterError for what the campaign does not have.
    """
    rows = Judgment.objects.filter(assignment__annotator__campaign=campaign)
    return (
        filtered(rows, campaign, filters)
        .select_related(*RELATED)
        .order_by("assignment__annotator_id", "assignment__position", "revision")
    )


def with_spans(rows: QuerySet[Judgment]) -> Iterator[tuple[Judgment, Sequence[Span]]]:
    """Yield judgments with their error spans, reading both in portions."""
    judgments = rows.iterator(chunk_size=CHUNK)
    while portion := list(islice(judgments, CHUNK)):
        spans = spans_of([judgment.pk for judgment in portion])
        for judgment in portion:
            yield judgment, spans.get(judgment.pk, ())


def values_with_spans(
    campaign: Campaign, filters: Filters, paths: Mapping[str, str]
) -> Iterator[tuple[dict[str, Any], Sequence[Span]]]:
    """Yield columns by name with error spans; `paths` says where each is found, and one is `pk`.

    Makes no model objects.
    """
    rows = judgments_of(campaign, filters).values_list(*paths.values())
    values = rows.iterator(chunk_size=CHUNK)
    place = list(paths.values()).index("pk")
    has_spans = campaign.judging.spans is not None
    while portion := list(islice(values, CHUNK)):
        spans = spans_of([row[place] for row in portion]) if has_spans else {}
        for row in portion:
            yield dict(zip(paths, row, strict=True)), spans.get(row[place], ())


def spans_of(judgments: Sequence[int]) -> Mapping[int, Sequence[Span]]:
    """Return the error spans of some judgments, in the order in which they were marked."""
    spans: dict[int, list[Span]] = {}
    rows = ErrorSpan.objects.filter(judgment__in=judgments).order_by("id")
    columns = ("judgment_id", "side", "start", "end", "severity", "category")
    for judgment, *values in rows.values_list(*columns):
        spans.setdefault(judgment, []).append(Span(*values))
    return spans


def system_name(item: Item) -> str | None:
    """Return the system of an output or of a whole document, None for other items."""
    if item.output is not None:
        return item.output.system.name
    return item.system.name if item.system is not None else None


class Moments(NamedTuple):
    """Count, mean and sum of squared deviations of numbers."""

    n: int
    mean: float
    squares: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Return those of some numbers, of which there is one at least."""
        if min(values) == max(values):  # Their mean may differ from them by rounding.
            return cls(len(values), values[0], 0.0)
        mean = math.fsum(values) / len(values)
        return cls(len(values), mean, math.fsum((value - mean) ** 2 for value in values))

    def z(self, value: float) -> float | None:
        """Return the z-score (ddof 1), or None without spread."""
        if self.n < 2 or not self.squares:
            return None
        return (value - self.mean) / math.sqrt(self.squares / (self.n - 1))


def moments(
    campaign: Campaign, filters: Filters = EVERYTHING, scale: str = ""
) -> Mapping[str, Mapping[int, Moments]]:
    """Return mean and spread of every annotator, over outputs (`targets`) and over `all`.

    As on the quality page, they use current judgments that filters choose, without practice items
    and excluded annotators.
    """
    pools: dict[str, dict[int, Moments]] = {"targets": {}, "all": {}}
    rows = _values(campaign, filters, scale).iterator(chunk_size=CHUNK)
    for annotator, own in groupby(rows, itemgetter(0)):
        rated = [(kind, value) for _, kind, value in own if value is not None]
        chosen = {
            "targets": [value for kind, value in rated if kind == Item.Kind.TARGET],
            "all": [value for _, value in rated],
        }
        for name, values in chosen.items():
            if values:
                pools[name][annotator] = Moments.of(values)
    return pools


def _values(campaign: Campaign, filters: Filters, scale: str) -> QuerySet[Judgment, Any]:
    return (
        counted(campaign, filters)
        .order_by("assignment__annotator_id")
        .values_list("assignment__annotator_id", "assignment__item__kind", value_of(scale))
    )


def counted(campaign: Campaign, filters: Filters = EVERYTHING) -> QuerySet[Judgment]:
    """Return the judgments that analyses count under filters."""
    rows = Judgment.objects.filter(
        is_current=True,
        assignment__annotator__campaign=campaign,
        assignment__annotator__excluded_at=None,
    ).exclude(assignment__item__kind=Item.Kind.TUTORIAL)
    return filtered(rows, campaign, filters)
