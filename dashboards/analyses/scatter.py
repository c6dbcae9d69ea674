"""Metric against human, output by output or system by system, and where they disagree most."""

from dataclasses import dataclass
from typing import Any

from annotation.filters import FilterError, Filters
from annotation.models import Campaign
from dashboards.frame import Frame, read_frame
from dashboards.lengths import unit_of
from dashboards.page_choice import Choice
from dashboards.scatter import (
    Axis,
    Points,
    choose,
    drawn,
    human_axis,
    measure_axis,
    system_points,
    worst,
)
from dashboards.simpson import by_system, simpson

VERSION = 2
HUMAN = "human"
SEGMENT, SYSTEM = "segment", "system"


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
    frame = read_frame(campaign, filters)
    document = _head(campaign, frame, filters)
    axes = _axes(frame, filters)
    if isinstance(axes, str):
        return document | {"problem": axes, "warnings": list(frame.human.warnings), "rows": []}
    y, x = axes
    points = choose(campaign, frame, x, y, filters)
    by_systems = by_system(points)
    if filters.level == SYSTEM:
        points = system_points(frame, x, y, points, filters)
    return document | _body(points, x, y, filters) | {"by_system": by_systems}


def _body(points: Points, x: Axis, y: Axis, filters: ScatterChoice) -> dict[str, Any]:
    statistics, warnings = simpson(points, is_pooled=filters.level == SEGMENT)
    rows = worst(points, filters.order)
    return {
        "problem": "" if len(points) else "No output has both scores under this choice.",
        "metric": y.as_json(),
        "against": x.as_json(),
        "n": len(points),
        "statistics": statistics,
        "warnings": list(dict.fromkeys([*x.warnings, *y.warnings, *warnings])),
        **drawn(points),
        "rows": rows,
    }


def _axes(frame: Frame, filters: ScatterChoice) -> tuple[Axis, Axis] | str:
    """The vertical and the horizontal axis; or, in words, why there are none."""
    if not frame.measures:
        return "No metric has scored these outputs yet."
    chosen = filters.metric or next(iter(frame.measures))
    for key in (chosen, filters.against):
        if key not in frame.measures and key != HUMAN:
            return f"There is no measure “{key}” here; there are {', '.join(frame.measures)}."
    if chosen == HUMAN:
        return "Choose a measure to set against the humans."
    if filters.against == HUMAN and not frame.human.is_there:
        return "No output of this campaign has a human score yet."
    y = measure_axis(frame, chosen)
    return y, human_axis(frame) if filters.against == HUMAN else measure_axis(
        frame, filters.against
    )


def _head(campaign: Campaign, frame: Frame, filters: ScatterChoice) -> dict[str, Any]:
    test_set = campaign.test_set
    documents = test_set.segments.order_by("position").values_list("document", flat=True)
    measures = frame.measures.values()
    return {
        "campaign": campaign.slug,
        "source_language": test_set.source_language,
        "target_language": test_set.target_language,
        "level": filters.level,
        "order": filters.order,
        "unit": unit_of(test_set.source_language),
        "measures": [{"key": each.key, "label": each.label} for each in measures],
        "systems": frame.human.names,
        "documents": list(dict.fromkeys(name for name in documents if name)),
        "n_outputs": int((frame.outputs >= 0).sum()),
        "human_scores": frame.human.source,
    }
