"""Compare two MT systems segment by segment, by the humans or by a metric."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotation.filters import IN, Filters
from annotation.models import Campaign
from dashboards.documents.head import head, units_of
from dashboards.pairs.document import Difference, Offered, Pair, Side, most, part, parts_of
from dashboards.panel.choice import Choice
from dashboards.panel.human import Floats
from dashboards.panel.panel import Panel, read_panel
from metaeval.correlation.intervals import mean_interval
from metaeval.documents import unit_of
from metaeval.messages import Message, message
from metaeval.significance import contest
from metrics.scores import MeasureScores

VERSION = 5
HUMAN = "human"
HUMAN_SCORE = message("pair.human-score", "human score")
ONE_SYSTEM = message("pair.one-system", "There is only one system here.")
NONE_SHARED = message("pair.none-shared", "No segment has scores of both systems.")


@dataclass(frozen=True)
class SystemsPair(Choice):
    """Two systems by name, by default the best two; `by` is the humans or a measure."""

    first: str = ""
    second: str = ""
    by: str = HUMAN


def with_all(chosen: SystemsPair) -> SystemsPair:
    """Return the same with human translations and outliers, because systems are named here."""
    return replace(chosen, humans=IN, outliers=IN)


FILTERS = SystemsPair
DOCUMENT = Pair


def compute(campaign: Campaign, filters: Filters) -> Pair:
    """Return wins, ties and losses over the segments that both have, and the largest gaps."""
    chosen = filters if isinstance(filters, SystemsPair) else SystemsPair(**vars(filters))
    panel = read_panel(campaign, with_all(chosen))
    label, scores = _scores(panel, chosen.by)
    names = panel.human.names
    known: dict[str, Any] = {
        **head(campaign, panel.human),
        "offered": [Offered(name, name) for name in names],
        "measures": [Offered(key, each.label) for key, each in panel.measures.items()],
        "by": label,
        "is_of_humans": chosen.by == HUMAN,
        "warnings": panel.human.warnings,
    }
    if scores is None or not (~np.isnan(scores)).any():
        return Pair(**known, problem=_no_scores(panel, chosen.by))
    humans = np.array([system.is_human for system in panel.human.systems])
    best = np.lexsort((-_means(scores), humans))
    order = [names[place] for place in best]
    first = chosen.first or next(name for name in order if name != chosen.second)
    second = chosen.second or next((name for name in order if name != first), "")
    if not second:
        return Pair(**known, problem=ONE_SYSTEM)
    return _between(campaign, panel, scores, (first, second), known)


def _scores(panel: Panel, by: str) -> tuple[Message | str, Floats | None]:
    """Return the label of the measure that compares the two, and its scores, higher is better."""
    if by == HUMAN:
        return HUMAN_SCORE, panel.human.values
    if by not in panel.measures:
        return by, None
    return label_of(panel.measures[by]), panel.scored.oriented(by).values


def label_of(measure: MeasureScores) -> Message | str:
    """Return a measure's label, with a note where its sign is reversed."""
    if measure.higher_is_better:
        return measure.label
    return message("pair.sign-reversed", "{metric} (sign reversed)", metric=measure.label)


def no_measure(key: str) -> Message:
    """Return the message that there are no scores of a measure."""
    return message("pair.no-measure", "There are no scores of “{metric}” here.", metric=key)


def _no_scores(panel: Panel, by: str) -> Message:
    if by == HUMAN:
        return message("pair.no-human-scores", "There are no human scores of segments here.")
    if by not in panel.measures:
        return no_measure(by)
    label = panel.measures[by].label
    return message(
        "pair.no-segment-scores", "{metric} has no scores of segments here.", metric=label
    )


def _means(scores: Floats) -> Floats:
    known = ~np.isnan(scores)
    sums = np.where(known, scores, 0.0).sum(axis=1)
    return np.where(known.any(axis=1), sums / np.maximum(1, known.sum(axis=1)), -np.inf)


def _between(
    campaign: Campaign,
    panel: Panel,
    scores: Floats,
    names: tuple[str, str],
    known: dict[str, Any],
) -> Pair:
    places = [panel.human.names.index(name) for name in names]
    first, second = scores[places[0]], scores[places[1]]
    gaps, clusters = first - second, panel.scored.human.clusters
    shared = ~np.isnan(gaps)
    if not shared.any():
        return Pair(**known, problem=NONE_SHARED)
    found = contest(gaps[shared], clusters[shared], unit=unit_of(clusters[shared]))
    means = [float(side[shared].mean()) for side in (first, second)]
    sides = [Side(name, name, mean) for name, mean in zip(names, means, strict=True)]
    return Pair(
        **known | units_of(clusters[shared]) | parts_of(found),
        first=sides[0],
        second=sides[1],
        difference=part(
            found.n,
            float(gaps[shared].mean()),
            mean_interval(gaps[shared], clusters=clusters[shared]),
        ),
        rows=_rows(campaign, panel, gaps, (first, second), places),
    )


def _rows(
    campaign: Campaign,
    panel: Panel,
    gaps: Floats,
    sides: tuple[Floats, Floats],
    places: Sequence[int],
) -> list[Difference]:
    segments = segments_of(campaign)
    return [
        Difference(
            side,
            *segments[at],
            system="",
            first=float(sides[0][at]),
            second=float(sides[1][at]),
            gap=float(gaps[at]),
            human=None,
            output=int(panel.outputs[places[0], at]),
            other=int(panel.outputs[places[1], at]),
        )
        for side, at in most(gaps)
    ]


def segments_of(campaign: Campaign) -> list[tuple[str, str]]:
    """Return key and document of every segment, in the order of a panel."""
    return list(campaign.test_set.segments.order_by("position").values_list("key", "document"))
