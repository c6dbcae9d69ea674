"""Place systems that are excluded from comparisons of metrics.

Some systems of the same test set were not judged, such as weak ones (MSLC, Lo et al. 2023), because
they are not part of the campaign or no judgment of them is used. Human translations are judged, but
excluded from comparisons of metrics.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from annotation.filters import IN, Filters
from annotation.filters.systems import unique_names
from annotation.models import Campaign, System
from dashboards.panel.choice import general
from dashboards.panel.human import Floats, human_scores
from dashboards.panel.panel import Panel
from dashboards.systems.columns import Row
from metaeval.scores.oriented import OrientedScores
from metrics.scores import MeasureScores, system_scores

HUMAN = "human"


def outside(campaign: Campaign, panel: Panel) -> list[Row]:
    """Return a row per measure and system of the same length ratio that was not judged.

    `above` counts how many of the `against` judged systems the measure ranks below it, each over
    the segments that both have. Systems that a measure has not scored have no row.
    """
    own, others = judged_of(panel), others_of(campaign, panel)
    names = unique_names([*own, *others])[len(own) :]
    rows = _by_measures(campaign, panel, tuple(others), names)
    return [replace(row, is_judged=False) for row in rows]


def excluded(campaign: Campaign, filters: Filters, panel: Panel) -> list[Row]:
    """Return a row for the humans and every measure per excluded judged system.

    These are human translations, and outliers where the filters exclude them. `above` and `against`
    as in `outside`. Scores of a reference against itself are in these rows only.
    """
    every = human_scores(campaign, replace(general(filters), humans=IN, outliers=IN))
    place = {system.pk: n for n, system in enumerate(every.systems)}
    own = [place[system.pk] for system in judged_of(panel)]
    compared = {system.pk for system in panel.human.systems}
    left_out = [n for pk, n in place.items() if pk not in compared]
    order = [*own, *left_out]
    if not left_out:
        return []
    names = [every.names[n] for n in left_out]
    published = every.published_systems
    judged = OrientedScores(
        every.values[order], systems=None if published is None else published[order]
    )
    rows = [_placed(HUMAN, judged, names[n], len(own) + n, len(own)) for n in range(len(names))]
    others = tuple(every.systems[n] for n in left_out)
    return [row for row in rows if row] + _by_measures(campaign, panel, others, names)


def _by_measures(
    campaign: Campaign, panel: Panel, others: tuple[System, ...], names: list[str]
) -> list[Row]:
    """Return a row per measure and other system that it scored."""
    own = judged_of(panel)
    if not others or not panel.measures:
        return []
    found = system_scores(campaign.test_set, (*own, *others)).measures
    rows = (
        _row(found[key], name, place, len(own), is_given=measure.systems is not None)
        for key, measure in panel.measures.items()
        if key in found
        for place, name in enumerate(names, start=len(own))
    )
    return [row for row in rows if row is not None]


def judged_of(panel: Panel) -> tuple[System, ...]:
    """Return the compared systems that were judged, all where none was."""
    return tuple(panel.human.judged_systems) or panel.human.systems


def others_of(campaign: Campaign, panel: Panel) -> Sequence[System]:
    """Return the systems of the same length ratio that were not judged."""
    ratios = {one.length_ratio for one in panel.human.systems}
    own = {one.pk for one in judged_of(panel)}
    rows = campaign.test_set.systems.filter(length_ratio__in=ratios).exclude(campaigns=campaign)
    unjudged = [one for one in panel.human.systems if one.pk not in own]
    return sorted([*unjudged, *rows], key=lambda one: (one.name, one.length_ratio))


def _row(
    measure: MeasureScores, name: str, place: int, n_own: int, *, is_given: bool
) -> Row | None:
    """Return the row of one system; imported system scores are used where `is_given`."""
    whole = measure.systems if is_given else None
    scores = OrientedScores(measure.values, measure.statistics, measure.corpus, whole)
    return _placed(measure.key, scores, name, place, n_own, measure.higher_is_better)


def _placed(
    key: str, scores: OrientedScores, name: str, place: int, n_own: int, is_higher: bool = True
) -> Row | None:
    """Return one system by the humans or a measure, compared with the first `n_own` systems."""
    n = int(scores.mask[place].sum())
    if scores.systems is not None:
        score = scores.systems[place]
        gaps = score - scores.systems[:n_own]
    else:
        score = scores.over(scores.mask)[place]
        gaps = np.array([_gap(scores, place, other) for other in range(n_own)])
    if np.isnan(score):
        return None
    turned = gaps if is_higher else -gaps
    return Row(
        measure=key,
        system=name,
        score=float(score),
        n=n,
        above=int((turned > 0).sum()),
        against=int(np.isfinite(turned).sum()),
    )


def _gap(scores: OrientedScores, place: int, other: int) -> float:
    """Return the difference of two systems over their shared segments; nan without any."""
    both = scores.mask[place] & scores.mask[other]
    chosen = np.zeros_like(scores.mask)
    chosen[[place, other]] = both
    found: Floats = scores.over(chosen)
    return float(found[place] - found[other])
