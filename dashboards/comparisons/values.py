"""Values of baselines and the human ceiling, for pages that do not test metrics."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.comparisons.bounds import CeilingValue, ceiling_of
from dashboards.panel.floors import baseline_label, floor_panel
from dashboards.panel.panel import Panel
from metaeval import StatisticsWarning
from metaeval.messages import Message, message, plural
from metaeval.replication.questions import parse, values_of

FLOOR, CEILING = "floor", "ceiling"
HUMAN_CEILING = message("ceiling.name", "Human ceiling")


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A baseline, or the mean over annotators, by one statistic on `n` outputs."""

    key: str
    label: Message | str
    kind: str
    n: int
    value: float | None


@dataclass(frozen=True)
class BoundValues:
    """All baselines and the human ceiling; `notes` give the reason where there is none."""

    rows: Sequence[Bound]
    notes: Sequence[Message]


def values_of_bounds(
    campaign: Campaign, filters: Filters, panel: Panel, question: str
) -> BoundValues:
    """Return the values of baselines and annotators, for a question such as `tau-b/none`."""
    asked, floors = parse(question), floor_panel(panel.only([]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        found = values_of(floors.scored, asked)[0].tolist()
    n = floors.scored.n
    rows = [
        Bound(key=key, label=baseline_label(key, measure.label), kind=FLOOR, n=n, value=value)
        for (key, measure), value in zip(floors.measures.items(), found, strict=True)
    ]
    ceiling, notes = ceiling_of(campaign, filters, panel.only([]), asked)
    return BoundValues([*rows, *([ceiling_row(ceiling)] if ceiling else [])], notes)


def ceiling_label(n: int) -> Message:
    """Return the label of the mean over `n` annotators."""
    return plural(
        "ceiling.label", "Human ceiling: {n} annotator", "Human ceiling: {n} annotators", n=n
    )


def ceiling_row(ceiling: CeilingValue) -> Bound:
    """Return the mean over annotators as a row."""
    people = ceiling.people
    return Bound(
        key=CEILING,
        label=ceiling_label(len(people)),
        kind=CEILING,
        n=max((each.n for each in people), default=0),
        value=ceiling.value,
    )
