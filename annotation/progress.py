"""How far an annotator is: items rated, items given or likely to be, and time paid."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, OuterRef, Q, Subquery, Sum, When

from annotation import pool
from annotation.models import Annotator, Assignment, Campaign, Judgment

_COUNTED = ("n_done", "n_given", "paid_sum", "n_wanted")


@dataclass(frozen=True)
class Progress:
    """The place of an item in its annotator's order, from 1, how many are rated of all, and the
    time that counts for pay so far."""

    place: int
    done: int
    total: int
    paid_ms: int


def progress(annotator: Annotator, *, place: int = 0, is_ahead: bool = False) -> Progress:
    """Count an annotator's items and those that are rated, and sum up the paid time (one query).

    With `is_ahead`, the total has what a pool is likely to give them yet.
    """
    columns = counts("pk", "campaign__assignment_mode")
    row = Annotator.objects.filter(pk=annotator.pk).annotate(**columns).values(*columns).get()
    return _progress(annotator, row, place=place, is_ahead=is_ahead)


def counts(annotator: str, mode: str) -> dict[str, Any]:
    """Columns that count the items of the annotator in a row's column of that name."""
    own = Assignment.objects.filter(annotator=OuterRef(annotator)).order_by().values("annotator")
    given = own.filter(Q(released_at=None) | Q(completed_at__isnull=False))
    paid = Judgment.objects.filter(is_current=True, assignment__annotator=OuterRef(annotator))
    wanted = Subquery(own.filter(item__wanted__gt=0).annotate(n=Count("pk")).values("n"))
    return {
        "n_done": Subquery(own.annotate(n=Count("completed_at")).values("n")),
        "n_given": Subquery(given.annotate(n=Count("pk")).values("n")),
        "paid_sum": Subquery(
            paid.order_by().values("assignment__annotator").annotate(n=Sum("paid_ms")).values("n")
        ),
        "n_wanted": Case(When(Q(**{mode: Campaign.Mode.STATIC}), then=0), default=wanted),
    }


def _progress(
    annotator: Annotator, row: Mapping[str, int | None], *, place: int, is_ahead: bool
) -> Progress:
    done, total, paid, wanted = (row[name] or 0 for name in _COUNTED)
    if is_ahead and pool.has_pool(annotator.campaign):
        total = pool.expected_total(annotator, given=total, wanted_of_given=wanted)
    return Progress(place, done, total, paid)


def progress_of(row: Any) -> Progress:
    """From the row itself if it was read together with its counts."""
    place = row.position + 1
    if hasattr(row, "n_done"):
        return _progress(row.annotator, vars(row), place=place, is_ahead=True)
    return progress(row.annotator, place=place, is_ahead=True)
