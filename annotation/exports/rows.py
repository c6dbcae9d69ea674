"""Read the judgments of a campaign in portions, in constant memory."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

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
    rows: QuerySet[Judgment], paths: Mapping[str, str]
) -> Iterator[tuple[dict[str, Any], Sequence[Span]]]:
    """Yield columns by name with error spans; `paths` says where each is found, and one is `pk`.

    Makes no model objects.
    """
    values = rows.values_list(*paths.values()).iterator(chunk_size=CHUNK)
    place = list(paths.values()).index("pk")
    while portion := list(islice(values, CHUNK)):
        spans = spans_of([row[place] for row in portion])
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


@dataclass
class Moments:
    """Running count, mean and spread of numbers (Welford 1962)."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> None:
        """Add a number."""
        self.n += 1
        step = value - self.mean
        self.mean += step / self.n
        self.squares += step * (value - self.mean)

    def z(self, value: float) -> float | None:
        """Return the z-score (ddof 1), or None without spread."""
        if self.n < 2 or not self.squares:
            return None
        return (value - self.mean) / float((self.squares / (self.n - 1)) ** 0.5)


def moments(
    campaign: Campaign, filters: Filters = EVERYTHING, scale: str = ""
) -> Mapping[str, Mapping[int, Moments]]:
    """Return mean and spread of every annotator, over outputs (`targets`) and over `all`.

    As on the quality page, they use current judgments that filters choose, without practice items
    and excluded annotators.
    """
    pools: dict[str, dict[int, Moments]] = {
        name: defaultdict(Moments) for name in ("targets", "all")
    }
    for annotator, kind, value in _values(campaign, filters, scale).iterator(chunk_size=CHUNK):
        if value is None:
            continue
        pools["all"][annotator].add(value)
        if kind == Item.Kind.TARGET:
            pools["targets"][annotator].add(value)
    return pools


def _values(campaign: Campaign, filters: Filters, scale: str) -> QuerySet[Judgment, Any]:
    return (
        counted(campaign, filters)
        # Sums have the same last digits wherever they are computed.
        .order_by("assignment__annotator_id", "assignment__position")
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
