"""Select a region of the scatter plot."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from annotation.filters import FilterError, Filters
from annotation.filters.chosen import filtered
from annotation.models import Campaign, ErrorSpan, Judgment
from dashboards.panel.human import Floats
from metaeval.messages import message
from metrics.grid import Integers

if TYPE_CHECKING:
    from dashboards.scatter.document import ScatterChoice

HIGHER, LOWER = "higher", "lower"
BOUNDS = (("x_from", "x_to"), ("y_from", "y_to"))
FIELDS = ("x_from", "x_to", "y_from", "y_to", "apart", "side")


def is_chosen(filters: "ScatterChoice") -> bool:
    """Return whether a region is chosen."""
    return any(getattr(filters, name) for name in FIELDS)


def without(filters: "ScatterChoice") -> "ScatterChoice":
    """Return the same choice without a region."""
    return replace(filters, x_from="", x_to="", y_from="", y_to="", apart="", side="")


def check(filters: "ScatterChoice") -> None:
    """Raise FilterError for an invalid region."""
    filters.one_of("side", "", HIGHER, LOWER)
    for names in BOUNDS:
        low, high = (filters.decimal(name) for name in names)
        if low is not None and high is not None and low > high:
            raise FilterError(
                message(
                    "scatter.empty-region",
                    "{first} ({low}) must not be above {last} ({high}).",
                    first=names[0],
                    last=names[1],
                    low=low,
                    high=high,
                )
            )
    if (apart := filters.decimal("apart")) is not None and apart < 0:
        raise FilterError(
            message(
                "scatter.negative-distance",
                "apart must be at least 0. It is {value}.",
                value=apart,
            )
        )


def inside(
    x: Floats, y: Floats, gaps: Floats | None, filters: "ScatterChoice"
) -> NDArray[np.bool_]:
    """Return which points are within the bounds, with at least the chosen gap on the chosen side.

    `gaps` has the gaps of all points; None where there are none, which counts as 0.
    """
    found = np.ones(len(x), dtype=np.bool_)
    for values, (lowest, highest) in zip((x, y), BOUNDS, strict=True):
        low, high = filters.decimal(lowest), filters.decimal(highest)
        found &= values >= (-np.inf if low is None else low)
        found &= values <= (np.inf if high is None else high)
    apart = filters.decimal("apart")
    if apart is None and not filters.side:
        return found
    gap = np.zeros(len(x)) if gaps is None else gaps
    signed = {HIGHER: gap, LOWER: -gap}.get(filters.side, np.abs(gap))
    return found & (signed > 0) & (signed >= (apart or 0.0))


def categories(campaign: Campaign) -> list[str]:
    """Return the categories of marked errors."""
    spans = ErrorSpan.objects.filter(judgment__in=_judgments(campaign)).exclude(category="")
    return list(spans.order_by("category").values_list("category", flat=True).distinct())


def with_category(campaign: Campaign, filters: Filters, category: str) -> Integers:
    """Return the outputs in which an error of a category was marked, under the filters."""
    judgments = filtered(_judgments(campaign), campaign, filters)
    spans = ErrorSpan.objects.filter(judgment__in=judgments, category=category).order_by()
    outputs = spans.values_list("judgment__assignment__item__output", flat=True).distinct()
    return np.array([pk for pk in outputs if pk is not None], dtype=np.int64)


def _judgments(campaign: Campaign) -> QuerySet[Judgment]:
    rows = Judgment.objects.filter(is_current=True, assignment__annotator__campaign=campaign)
    return rows.filter(assignment__annotator__excluded_at=None)
