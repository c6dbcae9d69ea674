"""The judgments that filters choose, and what was left out in words."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from annotation.filters.choice import OUT, SEGMENTS, FilterError, Filters
from annotation.filters.systems import chosen_systems, items_left_out, names_of, systems_of
from annotation.models import Annotator, Campaign, Item, Segment
from annotation.quality import JudgmentColumns, QualityReport, quality_report, read_columns
from annotation.quality.columns import Mask
from annotation.quality.current import NOTHING
from annotation.quality.scales import scales_of
from core.text import pluralize

CONTROLS = (Item.Kind.TRAP, Item.Kind.BAD_REF, Item.Kind.REF, Item.Kind.GOLD)


def read_judgments(
    campaign: Campaign, filters: Filters, *, with_excluded: bool = False
) -> tuple[JudgmentColumns, tuple[str, ...]]:
    """Return the current judgments that the filters choose, and sentences on what is not there.

    Where the filters choose segments as the unit, none has a document.
    """
    require_scale(campaign, filters)
    columns = read_columns(campaign, with_excluded=with_excluded, scale=filters.scale)
    if filters.unit == SEGMENTS:
        columns = replace(columns, document=np.full_like(columns.document, NOTHING))
    chosen = ~np.isin(columns.annotator, left_out(campaign, filters))
    if filters.traps == OUT:
        chosen &= ~columns.is_kind(*CONTROLS)
    if filters.documents:
        chosen &= np.isin(columns.segment, segments_of(campaign, filters))
    if (items := items_left_out(campaign, filters)) is not None:
        chosen &= ~np.isin(columns.item, list(items))
    notes = []
    if filters.needs_days or filters.needs_seconds:
        timed = _is_timed(columns, filters)
        if n := int((chosen & ~timed).sum()):
            judgments = pluralize(n, "judgment has", "judgments have")
            notes.append(f"{judgments} no times: the limits leave them out.")
        chosen &= timed & _in_time(columns, filters)
    if not chosen.all():
        kept = int(chosen.sum())
        notes.append(f"The filters keep {kept:,} of {len(columns):,} judgments.")
        columns = columns.select(chosen)
    return columns, tuple(notes)


def _is_timed(columns: JudgmentColumns, filters: Filters) -> Mask:
    """Whether as much is known of a judgment's times as the limits ask for."""
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
        there = f"there are {', '.join(known)}" if known else "there is one score alone"
        raise FilterError(f"scale: this campaign has no scale {filters.scale}; {there}")


def left_out(campaign: Campaign, filters: Filters) -> list[int]:
    """Return the keys of the annotators left out: by public name, else by id.

    Raises FilterError for somebody whom the campaign does not know.
    """
    if not filters.without:
        return []
    labels = dict(Annotator.objects.filter(campaign=campaign).values_list("label", "pk"))
    keys = {str(pk): pk for pk in labels.values()}
    unknown = [name for name in filters.without if name not in labels and name not in keys]
    if unknown:
        raise FilterError(f"without: this campaign has no annotator {', '.join(unknown)}")
    return [labels.get(name) or keys[name] for name in filters.without]


def segments_of(campaign: Campaign, filters: Filters) -> list[int]:
    """Return the keys of the chosen documents' segments. Raises FilterError for no such one."""
    rows = campaign.test_set.segments.filter(document__in=filters.documents)
    found = list(rows.order_by("position").values_list("pk", "document"))
    unknown = sorted(set(filters.documents) - {document for _, document in found})
    if unknown:
        raise FilterError(f"documents: this test set has no document {', '.join(unknown)}")
    return [pk for pk, _ in found]


def check(campaign: Campaign, filters: Filters) -> None:
    """Raise FilterError where the filters name something that the campaign does not have."""
    left_out(campaign, filters)
    require_scale(campaign, filters)
    if filters.documents:
        segments_of(campaign, filters)
    if filters.chooses_systems:
        chosen_systems(campaign, filters)


def fitted(campaign: Campaign, campaigns: Sequence[Campaign], filters: Filters) -> Filters:
    """The filters as one campaign knows them: a name has to be known to some campaign only."""
    if filters.without:
        people = Annotator.objects.filter(campaign__in=campaigns)
        labels = set(people.values_list("label", flat=True))
        if unknown := [name for name in filters.without if name not in labels]:
            raise FilterError(f"without: no campaign here has an annotator {', '.join(unknown)}")
        own = set(campaign.annotators.values_list("label", flat=True))
        filters = replace(filters, without=tuple(own & set(filters.without)))
    if filters.documents:
        rows = Segment.objects.filter(test_set=campaign.test_set, document__in=filters.documents)
        own = set(rows.values_list("document", flat=True))
        if not own:
            raise FilterError(f"documents: {campaign.name} has none of the chosen ones")
        filters = replace(filters, documents=tuple(own))
    if filters.systems:
        named = _own_systems(campaign, campaigns, "systems", set(filters.systems))
        filters = replace(filters, systems=named)
    if filters.without_systems:
        named = _own_systems(campaign, campaigns, "without_systems", set(filters.without_systems))
        filters = replace(filters, without_systems=named)
    check(campaign, filters)
    return filters


def _own_systems(
    campaign: Campaign, campaigns: Sequence[Campaign], name: str, named: set[str]
) -> tuple[str, ...]:
    """The named systems that a campaign has; of those to look at it must have one."""
    known = {each.pk: names_of(systems_of(each)).keys() for each in campaigns}
    if unknown := named.difference(*known.values()):
        raise FilterError(f"{name}: no campaign here has a system {', '.join(sorted(unknown))}")
    own = tuple(sorted(named & known[campaign.pk]))
    if name == "systems" and not own:
        raise FilterError(f"systems: {campaign.name} has none of the chosen ones")
    return own


def filtered_report(campaign: Campaign, filters: Filters) -> QualityReport:
    """Return the report on the judgments that filters choose; its warnings begin with what is out.

    Who gave none of them has no line, unless nothing is left out. Raises FilterError.
    """
    if not filters.leaves_something_out and not filters.scale and not filters.unit:
        return quality_report(campaign)
    judgments, notes = read_judgments(campaign, filters, with_excluded=True)
    report = quality_report(campaign, judgments, scale=filters.scale)
    return replace(report, warnings=[*notes, *report.warnings])
