"""Metric against human, output by output or system by system, and where they disagree most."""

from dataclasses import dataclass
from typing import Any

from annotation.filters import FilterError, Filters
from annotation.models import Campaign
from dashboards.documents.plain import plain
from dashboards.pages.choice import Choice
from dashboards.panel.lengths import unit_of
from dashboards.panel.panel import Panel, read_panel
from dashboards.scatter.points import (
    Axis,
    Points,
    choose,
    drawn,
    human_axis,
    measure_axis,
    system_points,
    worst,
)
from metaeval.sensitivity import Pooled, WithinSystem, pooled, within_systems

VERSION = 2
HUMAN = "human"
SEGMENT, SYSTEM = "segment", "system"
STATISTICS = ("r", "tau", "r_within", "is_paradox")


@dataclass(frozen=True)
class ScatterChoice(Choice):
    """`metric` against `against` (the humans, or another measure), of which outputs.

    `shortest` and `longest` bound the length of the source; `order` says by what disagreement is
    measured.
    """

    metric: str = ""
    against: str = HUMAN
    level: str = SEGMENT
    system: str = ""
    document: str = ""
    shortest: str = ""
    longest: str = ""
    order: str = "z"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.one_of("level", SEGMENT, SYSTEM)
        self.one_of("order", "z", "rank")
        low, high = self.whole("shortest"), self.whole("longest")
        if low is not None and high is not None and low > high:
            raise FilterError(f"shortest is {low} and longest {high}: no length is both")


FILTERS = ScatterChoice


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Return the points (or their bins), statistics, and the worst disagreements."""
    if not isinstance(filters, ScatterChoice):
        filters = ScatterChoice(**vars(filters))
    panel = read_panel(campaign, filters)
    document = _head(campaign, panel, filters)
    axes = _axes(panel, filters)
    if isinstance(axes, str):
        return document | {"problem": axes, "warnings": list(panel.human.warnings), "rows": []}
    y, x = axes
    points = choose(campaign, panel, x, y, filters)
    by_system = [_within(points, one) for one in within_systems(points.x, points.y, points.system)]
    if filters.level == SYSTEM:
        points = system_points(panel, x, y, points, filters)
    return document | _body(points, x, y, filters) | {"by_system": by_system}


def _body(points: Points, x: Axis, y: Axis, filters: ScatterChoice) -> dict[str, Any]:
    found = pooled(points.x, points.y, points.system if filters.level == SEGMENT else None)
    paradox = [_paradox(found)] if found.is_paradox else []
    rows = worst(points, filters.order)
    return {
        "problem": "" if len(points) else "No output has both scores under this choice.",
        "metric": y.as_json(),
        "against": x.as_json(),
        "n": len(points),
        "statistics": plain({name: getattr(found, name) for name in STATISTICS}),
        "warnings": list(dict.fromkeys([*x.warnings, *y.warnings, *paradox, *found.warnings])),
        **drawn(points),
        "rows": rows,
    }


def _within(points: Points, one: WithinSystem) -> dict[str, Any]:
    """One system's own points under its name."""
    found: dict[str, Any] = plain(vars(one) | {"system": points.systems[one.system]})
    return found


def _paradox(found: Pooled) -> str:
    return (
        f"Simpson’s paradox: pooled over systems r is {found.r:.3f}, but within systems it is "
        f"{found.r_within:.3f}, and {found.n_opposite} of {found.n_known} systems have the "
        "opposite sign. The pooled value tells systems apart, not their outputs (or the reverse): "
        "quote both."
    )


def _axes(panel: Panel, filters: ScatterChoice) -> tuple[Axis, Axis] | str:
    """The vertical and the horizontal axis; or, in words, why there are none."""
    if not panel.measures:
        return "No metric has scored these outputs yet."
    chosen = filters.metric or next(iter(panel.measures))
    for key in (chosen, filters.against):
        if key not in panel.measures and key != HUMAN:
            return f"There is no measure “{key}” here; there are {', '.join(panel.measures)}."
    if chosen == HUMAN:
        return "Choose a measure to set against the humans."
    if filters.against == HUMAN and not panel.human.is_there:
        return "No output of this campaign has a human score yet."
    y = measure_axis(panel, chosen)
    return y, human_axis(panel) if filters.against == HUMAN else measure_axis(
        panel, filters.against
    )


def _head(campaign: Campaign, panel: Panel, filters: ScatterChoice) -> dict[str, Any]:
    test_set = campaign.test_set
    documents = test_set.segments.order_by("position").values_list("document", flat=True)
    measures = panel.measures.values()
    return {
        "campaign": campaign.slug,
        "source_language": test_set.source_language,
        "target_language": test_set.target_language,
        "level": filters.level,
        "order": filters.order,
        "unit": unit_of(test_set.source_language),
        "measures": [{"key": each.key, "label": each.label} for each in measures],
        "systems": panel.human.names,
        "documents": list(dict.fromkeys(name for name in documents if name)),
        "n_outputs": int((panel.outputs >= 0).sum()),
        "human_scores": panel.human.source,
    }
