"""The judgments that filters choose, as rows of the database: raw judgments and their exports.

The same choice as that of `chosen`, which reads current judgments into arrays.
"""

from datetime import UTC, date, datetime, time, timedelta

from django.db.models import F, Q, QuerySet

from annotation.filters.choice import OUT, Filters
from annotation.filters.chosen import CONTROLS, left_out, segments_of
from annotation.filters.systems import items_left_out
from annotation.models import Campaign, Judgment

TOOK = F("submitted_at") - F("started_at")
# No screen lasts so long, in seconds; larger numbers are no interval of any database.
FOREVER = 1e10


def kept(rows: QuerySet[Judgment], campaign: Campaign, filters: Filters) -> QuerySet[Judgment]:
    """Return those of a campaign's judgments that the filters choose, whatever their revision.

    Raises FilterError for an annotator, a document or a system that the campaign does not have.
    """
    if filters.without:
        rows = rows.exclude(assignment__annotator__in=left_out(campaign, filters))
    if filters.traps == OUT:
        rows = rows.exclude(assignment__item__kind__in=CONTROLS)
    if filters.documents:
        rows = rows.filter(assignment__item__segment__in=segments_of(campaign, filters))
    if (items := items_left_out(campaign, filters)) is not None:
        rows = rows.exclude(assignment__item__in=items)
    return _in_time(rows, filters)


def _in_time(rows: QuerySet[Judgment], filters: Filters) -> QuerySet[Judgment]:
    if filters.since:
        rows = rows.filter(submitted_at__gte=_moment(filters.since, time.min))
    if filters.until:
        rows = rows.filter(submitted_at__lte=_moment(filters.until, time.max))
    if not filters.needs_seconds:
        return rows
    # The time of a screen is shared among the answers that were sent together.
    shares = rows.order_by().values_list("sent_together", flat=True).distinct()
    fitting = Q(pk__in=[])
    for n in shares:
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
