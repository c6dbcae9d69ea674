"""Compare two metrics: which one orders outputs that differ by their human scores correctly."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.comparisons import statistics
from dashboards.documents.head import head, units_of
from dashboards.pairs.document import Difference, Offered, Pair, Side, most, part, parts_of
from dashboards.pairs.two_systems import no_measure, segments_of
from dashboards.panel.choice import Choice
from dashboards.panel.panel import Panel, read_panel
from metaeval.messages import message
from metaeval.replication import questions
from metaeval.sensitivity import gaps
from metaeval.significance import contest_of_metrics

VERSION = 4
STATISTIC = "tau-b"
HUMANS = message("pair.humans", "the humans")
FEW_METRICS = message(
    "pair.few-metrics", "There are not two metrics with scores here, so none can be compared."
)


@dataclass(frozen=True)
class MetricsPair(Choice):
    """Two measures by key, by default the two that agree best with the humans."""

    first: str = ""
    second: str = ""


FILTERS = MetricsPair
DOCUMENT = Pair


def compute(campaign: Campaign, filters: Filters) -> Pair:
    """Return wins, ties and losses over judged pairs of outputs, and the largest disagreements."""
    chosen = filters if isinstance(filters, MetricsPair) else MetricsPair(**vars(filters))
    panel = read_panel(campaign, chosen)
    offered = [Offered(key, each.label) for key, each in panel.measures.items()]
    known: dict[str, Any] = {
        **head(campaign, panel.human),
        "offered": offered,
        "measures": offered,
        "by": HUMANS,
        "warnings": panel.human.warnings,
    }
    if len(offered) < 2:
        return Pair(**known, problem=FEW_METRICS)
    values = _values(panel)
    order = sorted(values, key=lambda key: np.inf if np.isnan(values[key]) else -values[key])
    first = chosen.first or next(key for key in order if key != chosen.second)
    second = chosen.second or next(key for key in order if key != first)
    if missing := {first, second} - set(panel.measures):
        return Pair(**known, problem=no_measure(min(missing)))
    return _between(campaign, panel, (first, second), values, known)


def _values(panel: Panel) -> dict[str, float]:
    """Return each measure's τ with the humans; nan where it has none."""
    if not panel.human.n:
        return dict.fromkeys(panel.measures, np.nan)
    found, _ = questions.values_of(panel.scored, statistics.parse(STATISTIC))
    return dict(zip(panel.measures, found.tolist(), strict=True))


def _between(
    campaign: Campaign,
    panel: Panel,
    keys: tuple[str, str],
    values: dict[str, float],
    known: dict[str, Any],
) -> Pair:
    human, clusters = panel.human.values, panel.scored.human.clusters
    first, second = (panel.scored.oriented(key).values for key in keys)
    found = contest_of_metrics(human, first, second, clusters=clusters)
    compared = ~np.isnan(human + first + second)
    sides = [
        Side(key, each.label, part(0, values[key], None).share, not each.higher_is_better)
        for key in keys
        for each in [panel.measures[key]]
    ]
    warnings = [*panel.human.warnings, *(each.message for each in found.warnings)]
    return Pair(
        **known
        | units_of(clusters[compared.sum(axis=0) > 1])
        | parts_of(found)
        | {"warnings": warnings},
        first=sides[0],
        second=sides[1],
        rows=_rows(campaign, panel, keys),
    )


def _rows(campaign: Campaign, panel: Panel, keys: tuple[str, str]) -> list[Difference]:
    first, second = (panel.scored.oriented(key).values for key in keys)
    shared = ~np.isnan(first) & ~np.isnan(second)
    found = gaps(second[shared], first[shared])
    if found is None:
        return []
    systems, places = np.nonzero(shared)
    segments, names, human = segments_of(campaign), panel.human.names, panel.human.values
    first, second = (panel.measures[key].values for key in keys)
    rows = []
    for side, at in most(found):
        system, place = int(systems[at]), int(places[at])
        rows.append(
            Difference(
                side,
                *segments[place],
                names[system],
                float(first[system, place]),
                float(second[system, place]),
                float(found[at]),
                part(0, float(human[system, place]), None).share,
                int(panel.outputs[system, place]),
            )
        )
    return rows
