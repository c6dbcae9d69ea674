"""Progress of an annotator: rated items, all items, and paid time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import (
    Aggregate,
    Count,
    OuterRef,
    QuerySet,
    Subquery,
    Sum,
)
from django.utils.translation import gettext as _

from annotation import pool
from annotation.models import Annotator, Assignment, Judgment
from core.database.prepared import Statement, placeholder_key

ANNOTATOR = placeholder_key(1)
_COUNTED = ("n_all", "n_open", "n_back", "paid_sum")


@dataclass(frozen=True)
class Progress:
    """The position of an item in its annotator's order, from 1, with counts and the paid time.

    `done` items are rated. `total` is None if it is not known; with `is_limit` it is the maximum.
    """

    place: int
    done: int
    total: int | None
    paid_ms: int
    is_limit: bool = False

    def title(self, first: int, last: int) -> str:
        """Name the places of a screen among all: `Item 7 of 40`."""
        numbers = {"first": first, "last": last, "total": self.total}
        if self.total is None:
            text = _("Item %(first)s") if first == last else _("Items %(first)s–%(last)s")
        elif self.is_limit and first == last:
            text = _("Item %(first)s of at most %(total)s")
        elif self.is_limit:
            text = _("Items %(first)s–%(last)s of at most %(total)s")
        elif first == last:
            text = _("Item %(first)s of %(total)s")
        else:
            text = _("Items %(first)s–%(last)s of %(total)s")
        return text % numbers


def progress(annotator: Annotator, *, place: int = 0, is_ahead: bool = False) -> Progress:
    """Count an annotator's items and rated items, and sum the paid time (one query).

    With `is_ahead`, the total includes items that are not assigned yet.
    """
    (row,) = _counted.values({ANNOTATOR: annotator.pk})
    counted = dict(zip(_COUNTED, row, strict=True))
    return _progress(annotator, counted, place=place, is_ahead=is_ahead)


def counts(annotator: str) -> dict[str, Any]:
    """Return annotations that count the items of the annotator in the column of that name.

    Open and released items are few rows of an index; all others are rated.
    """
    own = Assignment.objects.filter(annotator=OuterRef(annotator))
    open_ = own.filter(completed_at=None)
    paid = Judgment.objects.filter(assignment__annotator=OuterRef(annotator))
    return {
        "n_all": _sum(own, Count("pk")),
        "n_open": _sum(open_, Count("pk")),
        "n_back": _sum(open_.exclude(released_at=None), Count("pk")),
        "paid_sum": _sum(paid, Sum("paid_ms"), "assignment__annotator"),
    }


def _sum(rows: QuerySet[Any], total: Aggregate, group: str = "annotator") -> Subquery:
    return Subquery(rows.order_by().values(group).annotate(n=total).values("n"))


_counted = Statement(
    lambda: Annotator.objects.filter(pk=ANNOTATOR).annotate(**counts("pk")).values_list(*_COUNTED)
)


def _progress(
    annotator: Annotator, row: Mapping[str, int | None], *, place: int, is_ahead: bool
) -> Progress:
    n_all, n_open, n_back, paid = (row[name] or 0 for name in _COUNTED)
    done, given = n_all - n_open, n_all - n_back
    if not is_ahead or not pool.has_pool(annotator.campaign):
        return Progress(place, done, given, paid)
    # A total that depended on what was given, or on what the pool still has, would reveal the kind
    # of an item or the ratings of others. A screen that was begun is given completely.
    limit = annotator.campaign.items_per_annotator
    return Progress(place, done, max(given, limit) if limit else None, paid, is_limit=True)


def progress_of(row: Any) -> Progress:
    """Return the progress at a row, from its own counts if it was read with them."""
    place = row.position + 1
    if hasattr(row, "n_all"):
        return _progress(row.annotator, vars(row), place=place, is_ahead=True)
    return progress(row.annotator, place=place, is_ahead=True)
