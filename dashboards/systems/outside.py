"""Where metrics put systems that were not judged, such as weak ones (MSLC, Lo et al. 2023).

The outputs stand in the same test set and are scored with the others. Either the task leaves the
system out, or it has no judgment that counts.
"""

from collections.abc import Sequence

import numpy as np

from annotation.models import Campaign, System
from dashboards.panel.human import Floats, unique_names
from dashboards.panel.panel import Panel
from dashboards.systems.columns import Row
from metaeval.scores.turned import TurnedScores
from metrics.scores import MeasureScores, system_scores


def outside(campaign: Campaign, panel: Panel) -> list[Row]:
    """Return a row for every measure and system of the same length that was not judged.

    `above` counts, of `against` judged systems, those that the measure puts it above, each over the
    segments that both have. What a measure has not scored has no row.
    """
    own, others = judged_of(panel), others_of(campaign, panel)
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


def judged_of(panel: Panel) -> tuple[System, ...]:
    """Return the task's systems that were judged, all where none was."""
    return tuple(panel.human.judged_systems) or panel.human.systems


def others_of(campaign: Campaign, panel: Panel) -> Sequence[System]:
    """Return the systems of the same length that were not judged, those of the task included."""
    ratios = {one.length_ratio for one in panel.human.systems}
    own = [one.pk for one in judged_of(panel)]
    rows = campaign.test_set.systems.filter(length_ratio__in=ratios).exclude(pk__in=own)
    return list(rows.order_by("name", "length_ratio"))


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
        is_judged=False,
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
