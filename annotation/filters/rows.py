"""The judgments that filters choose, as database rows: raw judgments and their exports.

The choice is that of `chosen`, which reads current judgments into arrays.
"""

from datetime import UTC, date, datetime, time, timedelta

from django.db.models import F, Q, QuerySet

from annotation.filters.choice import OUT, Filters
from annotation.filters.chosen import CONTROLS, excluded_annotators, segments_of
from annotation.filters.systems import dropped_items
from annotation.models import Campaign, Judgment

TOOK = F("submitted_at") - F("started_at")
# Longer than any screen lasts, in seconds; databases have no larger intervals.
FOREVER = 1e10


def filtered(rows: QuerySet[Judgment], campaign: Campaign, filters: Filters) -> QuerySet[Judgment]:
    """Return the campaign's judgments that the filters choose, of all revisions.

    Raises FilterError for an annotator, a document or a system that the campaign does not have.
    """
    if filters.without:
        rows = rows.exclude(assignment__annotator__in=excluded_annotators(campaign, filters))
    if filters.traps == OUT:
        rows = rows.exclude(assignment__item__kind__in=CONTROLS)
    if filters.documents:
        rows = rows.filter(assignment__item__segment__in=segments_of(campaign, filters))
    if (items := dropped_items(campaign, filters)) is not None:
        rows = rows.exclude(assignment__item__in=items)
    return _in_time(rows, filters)


def _in_time(rows: QuerySet[Judgment], filters: Filters) -> QuerySet[Judgment]:
    if filters.since:
        rows = rows.filter(submitted_at__gte=_moment(filters.since, time.min))
    if filters.until:
        rows = rows.filter(submitted_at__lte=_moment(filters.until, time.max))
    if not filters.needs_seconds:
        return rows
    # The time of a screen is divided among the answers that were sent together.
    sizes = rows.order_by().values_list("sent_together", flat=True).distinct()
    fitting = Q(pk__in=[])
    for n in sizes:
        fitting |= Q(sent_together=n) & _bounds(filters, n)
    timed = rows.filter(started_at__isnull=False, submitted_at__isnull=False)
    return timed.alias(took=TOOK).filter(fitting)


def _bounds(filters: Filters, n: int) -> Q:
    found = Q()
    if filters.min_seconds is not None:
        found &= Q(took__gte=_interval(n * filters.min_seconds))
    if filters.max_seconds is not None:
        found &= Q(took__lte=_interval(n * filters.max_seconds))
    return found


def _interval(seconds: float) -> timedelta:
    return timedelta(seconds=min(seconds, FOREVER))


def _moment(day: str, at: time) -> datetime:
    return datetime.combine(date.fromisoformat(day), at, UTC)
