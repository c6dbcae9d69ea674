"""Where metrics put systems that a task leaves out, such as weak ones (MSLC, Lo et al. 2023).

The outputs stand in the same test set and are scored with the others, but nobody judges them here.
"""

import numpy as np

from annotation.models import Campaign, System
from dashboards.panel.human import Floats, unique_names
from dashboards.panel.panel import Panel
from dashboards.systems.columns import Row
from metaeval.scores.turned import TurnedScores
from metrics.scores import MeasureScores, system_scores


def outside(campaign: Campaign, panel: Panel) -> list[Row]:
    """Return a row for every measure and system of the same length that the task leaves out.

    `above` counts, of `against` systems of the task, those that the measure puts it above, each
    over the segments that both have. What a measure has not scored has no row.
    """
    own, others = panel.human.systems, _others(campaign, panel.human.systems)
    if not others or not panel.measures:
        return []
    names = unique_names([*own, *others])
    found = system_scores(campaign.test_set, (*own, *others)).measures
    rows = (
        _row(found[key], names, place, len(own), is_given=measure.systems is not None)
        for key, measure in panel.measures.items()
        if key in found
        for place in range(len(own), len(names))
    )
    return [row for row in rows if row is not None]


def _others(campaign: Campaign, own: tuple[System, ...]) -> tuple[System, ...]:
    rows = campaign.test_set.systems.filter(length_ratio__in={one.length_ratio for one in own})
    return tuple(rows.exclude(pk__in=[one.pk for one in own]).order_by("name", "length_ratio"))


def _row(
    measure: MeasureScores, names: list[str], place: int, n_own: int, *, is_given: bool
) -> Row | None:
    """One system; scores that a measure brought of whole systems count, as for the task's own."""
    scores = TurnedScores(measure.values, measure.statistics, measure.corpus)
    n = int(scores.mask[place].sum())
    if is_given and measure.systems is not None:
        score = measure.systems[place]
        gaps = score - measure.systems[:n_own]
    else:
        score = scores.over(scores.mask)[place]
        gaps = np.array([_gap(scores, place, other) for other in range(n_own)])
    if np.isnan(score):
        return None
    turned = gaps if measure.higher_is_better else -gaps
    return Row(
        measure=measure.key,
        system=names[place],
        score=float(score),
        n=n,
        above=int((turned > 0).sum()),
        against=int(np.isfinite(turned).sum()),
    )


def _gap(scores: TurnedScores, place: int, other: int) -> float:
    """The difference of two systems over the segments that both have; nan where they share none."""
    both = scores.mask[place] & scores.mask[other]
    chosen = np.zeros_like(scores.mask)
    chosen[[place, other]] = both
    found: Floats = scores.over(chosen)
    return float(found[place] - found[other])
