"""Correlate baselines, and each annotator with the others, on the points of a scatter plot."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.comparisons.bounds import CEILING, FLOOR, ceiling_label
from dashboards.correlations.document import MOST_PEOPLE, person_label
from dashboards.panel.floors import baseline_label, floor_panel
from dashboards.panel.human import read_ratings
from dashboards.panel.panel import Panel
from dashboards.scatter.points import Axis, Points, measure_axis, system_points
from metaeval import StatisticsWarning
from metaeval.messages import Message
from metaeval.replication.bounds import Ceiling, Ratings, ceiling
from metaeval.replication.questions import parse
from metaeval.sensitivity import pooled
from metrics.grid import Integers

if TYPE_CHECKING:
    from dashboards.scatter.document import ScatterChoice

PERSON = "person"


@dataclass(frozen=True, kw_only=True)
class OnPoints:
    """A baseline, an annotator against the others, or the mean over annotators, on `n` points."""

    key: str
    label: Message | str
    kind: str
    n: int
    r: float | None
    tau: float | None
    r_within: float | None = None


def baselines_on(panel: Panel, x: Axis, points: Points, choice: "ScatterChoice") -> list[OnPoints]:
    """Return every baseline against the horizontal axis, over the same outputs or systems."""
    floors = floor_panel(panel)
    return [
        _floor(key, measure_axis(floors, key), panel, x, points, choice) for key in floors.measures
    ]


def _floor(
    key: str, floor: Axis, panel: Panel, x: Axis, points: Points, choice: "ScatterChoice"
) -> OnPoints:
    if choice.level == "system":
        found = system_points(panel, x, floor, points, choice)
        ours, theirs, systems = found.x, found.y, None
    else:
        values = floor.scores.values.ravel()[_places(panel, points.output)]
        known = np.isfinite(values)
        ours, theirs, systems = points.x[known], values[known], points.system[known]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        statistics = pooled(ours, theirs, systems)
    return OnPoints(
        key=key,
        label=baseline_label(key, str(floor.about.label)),
        kind=FLOOR,
        n=len(ours),
        r=statistics.r,
        tau=statistics.tau,
        r_within=statistics.r_within,
    )


def _places(panel: Panel, outputs: Integers) -> Integers:
    """Return the positions of outputs in the flattened grid."""
    flat = panel.outputs.ravel()
    order = np.argsort(flat, kind="stable")
    return np.asarray(order[np.searchsorted(flat, outputs, sorter=order)])


def annotators_on(
    campaign: Campaign, filters: Filters, panel: Panel, outputs: Integers
) -> list[OnPoints]:
    """Return the mean over annotators, and each of up to `MOST_PEOPLE`; empty without ratings."""
    ratings = read_ratings(campaign, filters, panel.human)
    if ratings is None or not len(outputs):
        return []
    chosen = np.isin(ratings.place, _places(panel, outputs))
    part = Ratings(ratings.annotator[chosen], ratings.place[chosen], ratings.score[chosen])
    scored = panel.only([]).scored
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        r, tau = (ceiling(part, scored, parse(key)) for key in ("pearson/none", "tau-b/none"))
    return _people(campaign, r, tau) if r.n else []


def _people(campaign: Campaign, r: Ceiling, tau: Ceiling) -> list[OnPoints]:
    labels = dict(campaign.annotators.values_list("pk", "label"))
    taus = dict(zip(tau.annotators.tolist(), tau.values.tolist(), strict=True))
    rows = zip(r.annotators.tolist(), r.overlaps.tolist(), r.values.tolist(), strict=True)
    mean = OnPoints(
        key=CEILING,
        label=ceiling_label(r.n),
        kind=CEILING,
        n=int(r.overlaps.max()),
        r=r.mean,
        tau=tau.mean,
    )
    every: Sequence[OnPoints] = [
        OnPoints(
            key=f"person:{labels.get(pk, pk)}",
            label=person_label(labels.get(pk, str(pk))),
            kind=PERSON,
            n=n,
            r=value,
            tau=taus.get(pk),
        )
        for pk, n, value in rows
    ]
    return [mean, *(every if len(every) <= MOST_PEOPLE else [])]
