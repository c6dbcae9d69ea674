"""Floor and ceiling by their values alone, for pages that test no metrics against each other."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.comparisons.bounds import CeilingValue, ceiling_of
from dashboards.panel.floors import floor_panel
from dashboards.panel.panel import Panel
from metaeval import StatisticsWarning
from metaeval.replication.questions import parse, values_of

FLOOR, CEILING = "floor", "ceiling"


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A floor, or what people reach on average, by one statistic on `n` outputs."""

    key: str
    label: str
    kind: str
    n: int
    value: float | None


@dataclass(frozen=True)
class BoundValues:
    """All floors and the ceiling; `notes` say why there is none."""

    rows: Sequence[Bound]
    notes: Sequence[str]


def values_of_bounds(
    campaign: Campaign, filters: Filters, panel: Panel, question: str
) -> BoundValues:
    """Return what floors and people reach by a question, such as `limit` or `tau-b/none`."""
    asked, floors = parse(question), floor_panel(panel.only([]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        found = values_of(floors.scored, asked)[0].tolist()
    n = floors.scored.n
    rows = [
        Bound(key=key, label=measure.label, kind=FLOOR, n=n, value=value)
        for (key, measure), value in zip(floors.measures.items(), found, strict=True)
    ]
    ceiling, notes = ceiling_of(campaign, filters, panel.only([]), asked)
    return BoundValues([*rows, *([ceiling_row(ceiling)] if ceiling else [])], notes)


def ceiling_row(ceiling: CeilingValue) -> Bound:
    """Return the mean over people as a row."""
    people = ceiling.people
    return Bound(
        key=CEILING,
        label=f"Ceiling: {len(people)} people",
        kind=CEILING,
        n=max((each.n for each in people), default=0),
        value=ceiling.value,
    )
