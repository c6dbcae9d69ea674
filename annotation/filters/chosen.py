"""The judgments that filters choose, and messages about those that they drop."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np
from django.db.models import F, Q, QuerySet

from annotation.filters.choice import OUT, SEGMENTS, FilterError, Filters, listed, quoted
from annotation.filters.systems import chosen_systems, dropped_items, names_of, systems_of
from annotation.models import Annotator, Campaign, Item, Judgment, Segment
from annotation.quality import JudgmentColumns, QualityReport, quality_report, read_columns
from annotation.quality.columns import Mask, scales_of
from annotation.quality.current import NOTHING
from metaeval.messages import Message, message, plural

# Filters by segments, and the fields that they name.
OF_SEGMENTS = {"documents": "document", "domains": "domain"}
CONTROLS = (Item.Kind.TRAP, Item.Kind.BAD_REF, Item.Kind.REF, Item.Kind.GOLD)


def read_judgments(
    campaign: Campaign, filters: Filters, *, with_excluded: bool = False
) -> tuple[JudgmentColumns, tuple[Message, ...]]:
    """Return the current judgments that the filters choose, and messages about dropped ones.

    If the filters choose segments as the unit, no judgment has a document.
    """
    require_scale(campaign, filters)
    columns = read_columns(campaign, with_excluded=with_excluded, scale=filters.scale)
    if filters.unit == SEGMENTS:
        columns = replace(columns, document=np.full_like(columns.document, NOTHING))
    chosen = ~np.isin(columns.annotator, excluded_annotators(campaign, filters))
    if filters.traps == OUT:
        chosen &= ~columns.is_kind(*CONTROLS)
    if filters.chooses_segments:
        chosen &= np.isin(columns.segment, segments_of(campaign, filters))
    if (items := dropped_items(campaign, filters)) is not None:
        chosen &= ~np.isin(columns.item, list(items))
    notes = []
    if filters.needs_days or filters.needs_seconds:
        timed = _is_timed(columns, filters)
        if n := int((chosen & ~timed).sum()):
            notes.append(
                plural(
                    "filter.no-times",
                    "{n} judgment has no times and is excluded by the limits.",
                    "{n} judgments have no times and are excluded by the limits.",
                    n=n,
                )
            )
        chosen &= timed & _in_time(columns, filters)
    if not chosen.all():
        notes.append(
            message(
                "filter.selected",
                "The filters select {n} of {total} judgments.",
                n=int(chosen.sum()),
                total=len(columns),
            )
        )
        columns = columns.select(chosen)
    return columns, tuple(notes)


def _is_timed(columns: JudgmentColumns, filters: Filters) -> Mask:
    """Mark judgments that have the times that the limits need."""
    timed = np.ones(len(columns), dtype=bool)
    if filters.needs_days:
        timed &= ~np.isnan(columns.submitted)
    if filters.needs_seconds:
        timed &= ~np.isnan(columns.seconds)
    return timed


def _in_time(columns: JudgmentColumns, filters: Filters) -> Mask:
    inside = np.ones(len(columns), dtype=bool)
    if filters.since:
        inside &= columns.submitted >= _midnight(filters.since)
    if filters.until:
        inside &= columns.submitted < _midnight(filters.until) + 24 * 3600
    if filters.min_seconds is not None:
        inside &= columns.seconds >= filters.min_seconds
    if filters.max_seconds is not None:
        inside &= columns.seconds <= filters.max_seconds
    return inside


def _midnight(day: str) -> float:
    return dt.datetime.combine(dt.date.fromisoformat(day), dt.time(), dt.UTC).timestamp()


def require_scale(campaign: Campaign, filters: Filters) -> None:
    """Raise FilterError for a scale that the campaign does not have."""
    if filters.scale and filters.scale not in (known := scales_of(campaign)):
        if not known:
            raise FilterError(
                message(
                    "filter.one-scale",
                    "This campaign has a single score and no scale “{scale}”.",
                    scale=quoted(filters.scale),
                )
            )
        raise FilterError(
            message(
                "filter.no-scale",
                "This campaign has no scale “{scale}”. Its scales are {known}.",
                scale=quoted(filters.scale),
                known=known,
            )
        )


def excluded_annotators(campaign: Campaign, filters: Filters) -> list[int]:
    """Return the keys of the annotators that the filters exclude, by public name or id.

    Raises FilterError for annotators that the campaign does not have.
    """
    if not filters.without:
        return []
    labels = dict(Annotator.objects.filter(campaign=campaign).values_list("label", "pk"))
    keys = {str(pk): pk for pk in labels.values()}
    unknown = [name for name in filters.without if name not in labels and name not in keys]
    if unknown:
        raise FilterError(
            message(
                "filter.no-annotator",
                "without: this campaign has no annotator {names}.",
                names=listed(unknown),
            )
        )
    return [labels.get(name) or keys[name] for name in filters.without]


def segments_of(campaign: Campaign, filters: Filters) -> list[int]:
    """Return the keys of the segments of the chosen documents and domains.

    Raises FilterError for unknown ones.
    """
    rows = campaign.test_set.segments.order_by("position")
    found = list(rows.values_list("pk", "document", "domain"))
    if unknown := sorted(set(filters.documents) - {document for _, document, _ in found}):
        raise FilterError(
            message(
                "filter.no-document",
                "documents: this test set has no document {names}.",
                names=listed(unknown),
            )
        )
    if unknown := sorted(set(filters.domains) - {domain for _, _, domain in found}):
        raise FilterError(
            message(
                "filter.no-domain",
                "domains: this test set has no domain {names}.",
                names=listed(unknown),
            )
        )
    return [
        pk
        for pk, document, domain in found
        if (not filters.documents or document in filters.documents)
        and (not filters.domains or domain in filters.domains)
    ]


def check(campaign: Campaign, filters: Filters) -> None:
    """Raise FilterError if the filters name something that the campaign does not have."""
    excluded_annotators(campaign, filters)
    require_scale(campaign, filters)
    if filters.chooses_segments:
        segments_of(campaign, filters)
    if filters.chooses_systems:
        chosen_systems(campaign, filters)


def fitted(campaign: Campaign, campaigns: Sequence[Campaign], filters: Filters) -> Filters:
    """Return the filters with the names that one campaign has.

    Raises FilterError for names that none of the campaigns has.
    """
    if filters.without:
        people = Annotator.objects.filter(campaign__in=campaigns)
        labels = set(people.values_list("label", flat=True))
        if unknown := [name for name in filters.without if name not in labels]:
            raise FilterError(
                message(
                    "filter.no-annotator-here",
                    "without: none of these campaigns has an annotator {names}.",
                    names=listed(unknown),
                )
            )
        here = set(campaign.annotators.values_list("label", flat=True))
        filters = replace(filters, without=tuple(here & set(filters.without)))
    for name, field in OF_SEGMENTS.items():
        if chosen := set(getattr(filters, name)):
            own: Any = {name: _own_parts(campaign, campaigns, name, field, chosen)}
            filters = replace(filters, **own)
    if filters.systems:
        named = _own_systems(campaign, campaigns, "systems", set(filters.systems))
        filters = replace(filters, systems=named)
    if filters.without_systems:
        named = _own_systems(campaign, campaigns, "without_systems", set(filters.without_systems))
        filters = replace(filters, without_systems=named)
    check(campaign, filters)
    return filters


def _own_parts(
    campaign: Campaign, campaigns: Sequence[Campaign], name: str, field: str, chosen: set[str]
) -> tuple[str, ...]:
    """Return the chosen documents or domains that a campaign has: at least one."""
    rows = Segment.objects.filter(test_set__campaigns__in=campaigns, **{f"{field}__in": chosen})
    if unknown := chosen.difference(rows.values_list(field, flat=True)):
        raise FilterError(
            message(
                "filter.none-here",
                "{parameter}: none of these campaigns has {names}.",
                parameter=name,
                names=listed(sorted(unknown)),
            )
        )
    own = set(rows.filter(test_set=campaign.test_set).values_list(field, flat=True))
    if not own:
        raise FilterError(
            message(
                "filter.none-of-chosen",
                "{parameter}: the campaign {campaign} has none of those that are chosen.",
                parameter=name,
                campaign=campaign.name,
            )
        )
    return tuple(own)


def _own_systems(
    campaign: Campaign, campaigns: Sequence[Campaign], name: str, named: set[str]
) -> tuple[str, ...]:
    """Return the named systems that a campaign has; of `systems` it must have at least one."""
    known = {each.pk: names_of(systems_of(each)).keys() for each in campaigns}
    if unknown := named.difference(*known.values()):
        raise FilterError(
            message(
                "filter.no-system-here",
                "{name}: none of these campaigns has a system {names}.",
                name=name,
                names=listed(sorted(unknown)),
            )
        )
    own = tuple(sorted(named & known[campaign.pk]))
    if name == "systems" and not own:
        raise FilterError(
            message(
                "filter.none-of-systems",
                "systems: the campaign {campaign} has none of the chosen systems.",
                campaign=campaign.name,
            )
        )
    return own


def filtered_report(campaign: Campaign, filters: Filters) -> QualityReport:
    """Return the report on the judgments that filters choose; its first warnings are theirs.

    Annotators without chosen judgments have no line, unless nothing is filtered. Raises
    FilterError.
    """
    if not filters.drops_judgments and not filters.scale and not filters.unit:
        return quality_report(campaign)
    judgments, notes = read_judgments(campaign, filters, with_excluded=True)
    report = quality_report(campaign, judgments, scale=filters.scale)
    return replace(report, warnings=[*notes, *report.warnings])


# The judgments that filters choose, as database rows: raw judgments and their exports. The
# choice is that of `chosen`, which reads current judgments into arrays.

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
    if filters.chooses_segments:
        rows = rows.filter(assignment__item__segment__in=segments_of(campaign, filters))
    if (items := dropped_items(campaign, filters)) is not None:
        rows = rows.exclude(assignment__item__in=items)
    return _rows_in_time(rows, filters)


def _rows_in_time(rows: QuerySet[Judgment], filters: Filters) -> QuerySet[Judgment]:
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
