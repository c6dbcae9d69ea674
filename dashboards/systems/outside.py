"""Place systems that are excluded from comparisons of metrics.

Some systems of the same test set were not judged, such as weak ones (MSLC, Lo et al. 2023), because
they are not part of the campaign or no judgment of them is used. Human translations are judged, but
excluded from comparisons of metrics.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.db.models import Count, Max

from annotation.filters import IN, Filters
from annotation.filters.systems import unique_names
from annotation.models import Campaign, Output, Reference, System
from core.caching import Cache
from core.languages import is_character_based
from dashboards.panel.choice import general
from dashboards.panel.human import Floats, human_scores
from dashboards.panel.measures import WORDS, counter, lengths, unit_of
from dashboards.panel.panel import Panel
from dashboards.systems.columns import Row
from metaeval.messages import Message, message
from metaeval.scores.oriented import OrientedScores
from metaeval.systems import length_deviation
from metrics.base import MetricError
from metrics.grid import read_grid
from metrics.scores import MeasureScores, system_scores

REFERENCE, SOURCE = "reference", "source"
# Rounding of the target length: none, or half to even and at least 1, as in prompts to systems.
UNROUNDED, HALF_EVEN = "none", "half-even"
NO_TEXTS = message("lengths.no-texts", "There are no lengths, because this test set has no texts.")
NO_WORDS = message(
    "lengths.no-words",
    "There are no lengths in words: the target is the length of the source, which has no blanks "
    "between words. Choose characters.",
)
# The accepted deviation, as a share of the target length.
TOLERANCE = 0.1


@dataclass(frozen=True)
class LengthRow:
    """One system's deviation (length − target) / target over `n` outputs.

    `statistic` is its mean absolute value, `bias` its signed mean, `pooled` the deviation of the
    sums, and `within` the share of outputs within the tolerance. `is_judged` as in `Cell`.
    """

    system: str
    n: int
    statistic: float | None
    bias: float | None
    pooled: float | None
    median: float | None
    within: float | None
    is_judged: bool = True


@dataclass(frozen=True)
class Lengths:
    """Deviations in a unit; the target is a share `of` the reference or source, with `rounding`."""

    unit: str
    of: str
    rows: Sequence[LengthRow] = ()
    tolerance: float = TOLERANCE
    rounding: str = UNROUNDED

    @property
    def is_rounded(self) -> bool:
        """Whether target lengths are rounded to whole numbers."""
        return self.rounding != UNROUNDED


def deviations(
    campaign: Campaign,
    panel: Panel,
    unit: str,
    wanted: str,
    rounding: str = UNROUNDED,
    *,
    systems: Sequence[System] | None = None,
) -> tuple[Lengths, list[Message]]:
    """Return the length deviation of every system, and warnings.

    The default unit depends on the target language; the default systems are those of the panel.
    """
    unit = unit or unit_of(campaign.test_set.target_language)
    chosen = panel.human.systems if systems is None else systems
    judged = {row.pk for row in panel.human.judged_systems}
    try:
        own, goal, of = output_lengths(campaign, panel, unit, wanted, systems=chosen)
    except MetricError as error:
        about = message("lengths.unavailable", "There are no lengths. {error}", error=error.message)
        return Lengths(unit, wanted, rounding=rounding), [about]
    if not np.nan_to_num(goal).any():
        return Lengths(unit, of, rounding=rounding), [without_lengths(campaign, unit, of)]
    rows, notes = [], []
    named = zip(unique_names(chosen), chosen, own, goal, strict=True)
    for name, system, length, goals in named:
        found = length_deviation(length, goals, tolerance=TOLERANCE, rounding=rounding)
        notes += [
            message(
                "lengths.of-system", "{system}: {warning}", system=name, warning=warning.message
            )
            for warning in found.warnings
        ]
        numbers = (found.statistic, found.bias, found.pooled, found.median, found.within)
        is_judged = system.pk in judged
        rows.append(LengthRow(name, found.n, *numbers, is_judged=is_judged))
    return Lengths(unit, of, rows, rounding=rounding), notes


def output_lengths(
    campaign: Campaign,
    panel: Panel,
    unit: str,
    of: str,
    *,
    systems: Sequence[System] | None = None,
) -> tuple[Floats, Floats, str]:
    """Return lengths and target lengths, (systems, segments), and the text that sets the target.

    The default systems are those of the panel. The target length is the system's length ratio times
    the mean length of the references, or of the source where `of` is the source or a segment has no
    reference; nan for words of a source without blanks between them. Raises MetricError.
    """
    full, of = _full(campaign, panel.human.segments, unit, of)
    if _has_no_words(campaign, unit, of):
        full = np.full_like(full, np.nan)
    chosen = tuple(panel.human.systems if systems is None else systems)
    ratios = np.array([float(system.length_ratio) for system in chosen])
    return _lengths(chosen, panel.human.segments, unit), ratios[:, None] * full[None, :], of


# Texts never change, so that lengths are cached: those of 500,000 outputs and their segments.
BYTES = 8 * 2**20
_of_segments: Cache[tuple[Floats, str]] = Cache(BYTES)
_of_outputs: Cache[Floats] = Cache(BYTES)


def _full(campaign: Campaign, segments: tuple[int, ...], unit: str, of: str) -> tuple[Floats, str]:
    """Return the mean length of each segment's references, or of the source, and which it is."""
    references = Reference.objects.filter(segment__test_set=campaign.test_set)
    key = (segments, unit, of, *references.aggregate(Count("pk"), Max("pk")).values())
    found = _of_segments.get(key)
    if found is None:
        rows = campaign.test_set.segments.order_by("position")
        texts: dict[int, list[str]] = {segment: [] for segment in segments}
        for segment, text in rows.values_list("pk", "references__text"):
            texts[segment] += [] if text is None else [text]
        if of == SOURCE or not all(texts.values()):
            of, texts = SOURCE, {pk: [source] for pk, source in rows.values_list("pk", "source")}
        full = np.array([np.mean(lengths(each, unit)) for each in texts.values()], dtype=float)
        found = full, of
        _of_segments.put(key, found, full.nbytes)
    return found


def _has_no_words(campaign: Campaign, unit: str, of: str) -> bool:
    source = campaign.test_set.source_language
    return of == SOURCE and unit == WORDS and is_character_based(source)


def without_lengths(campaign: Campaign, unit: str, of: str) -> Message:
    """Return the reason why no output has a target length."""
    return NO_WORDS if _has_no_words(campaign, unit, of) else NO_TEXTS


def _lengths(systems: tuple[System, ...], segments: tuple[int, ...], unit: str) -> Floats:
    grid = read_grid(systems, segments)
    found = _of_outputs.get((grid.state, unit))
    if found is None:
        length, outputs, sizes = counter(unit), array("q"), array("d")
        rows = Output.objects.filter(system__in=systems).order_by()
        for pk, text in rows.values_list("pk", "text").iterator():
            outputs.append(pk)
            sizes.append(length(text))
        found = grid.placed(np.array(outputs), np.array(sizes))
        found.flags.writeable = False
        _of_outputs.put((grid.state, unit), found, found.nbytes)
    return found


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
