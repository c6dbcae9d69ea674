"""Bands of the pages that draw segments themselves: sample size, comparison, layers."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from benchmarks.metaeval.covered import correlations, worlds
from benchmarks.metaeval.covered.case import EXCEEDS, Case, Size, holds, pair_of, seed_of
from metaeval.correlation import correlate_metrics
from metaeval.correlation.intervals import soft_pairwise_intervals
from metaeval.scores.oriented import OrientedScores
from metaeval.sensitivity import (
    LEVELS,
    choose,
    draw_segments,
    layer_profile,
    level_correlations,
    resampled_levels,
)
from metaeval.significance import boot_interval

N_SAMPLES, TAIL = 100, 2.5
LAYERS, CAMPAIGNS = 6, 400
SPA = "soft_pairwise_accuracy"


def band(statistic: str, rng: np.random.Generator, size: Size) -> float:
    """The band at 100% of the page on sample size; also the interval of compared campaigns."""
    segments = pair_of(size)[1]
    human, one = campaign(rng, size)
    counts = draw_segments(rng, N_SAMPLES, segments, segments)
    column = resampled_levels(human.values, [one], counts)[0][:, list(LEVELS).index(statistic)]
    low, high = np.percentile(column[~np.isnan(column)], [TAIL, 100 - TAIL])
    return holds(float(low), float(high), expected(statistic, size))


def campaign(rng: np.random.Generator, size: Size) -> list[OrientedScores]:
    """Return human scores, and a metric as the page reads it."""
    return [OrientedScores(values) for values in worlds.scores(rng, *pair_of(size))]


@cache
def expected(statistic: str, size: Size) -> float:
    """Return the mean over campaigns of this size: the page asks how far another would be."""
    rng, place = np.random.default_rng(3), list(LEVELS).index(statistic)
    drawn = (campaign(rng, size) for _ in range(CAMPAIGNS))
    return float(np.mean([level_correlations(human, one)[place] for human, one in drawn]))


def spa(rng: np.random.Generator, size: Size) -> float:
    """The percentile interval over segments of soft pairwise accuracy."""
    human, metrics = worlds.matrices(worlds.scores(rng, *pair_of(size)))
    found = boot_interval(
        human, metrics["m0"], SPA, resample="inputs", n_resamples=200, rng=seed_of(rng)
    ).interval
    return holds(found[0], found[1], expected_spa(size)) if found else np.nan


def spa_jackknife(rng: np.random.Generator, size: Size) -> float:
    """Return the interval that pages show: segments are removed in turn, not resampled."""
    human, metrics = worlds.matrices(worlds.scores(rng, *pair_of(size)))
    found = soft_pairwise_intervals(human, metrics)
    return holds(float(found.lows[0]), float(found.highs[0]), expected_spa(size))


@cache
def expected_spa(size: Size) -> float:
    """Return its mean over campaigns of this size, which decides the p-values that it is of."""
    rng, values = np.random.default_rng(3), []
    for _ in range(CAMPAIGNS):
        human, metrics = worlds.matrices(worlds.scores(rng, *pair_of(size)))
        found = correlate_metrics(human, metrics, SPA, rng=1)
        values.append(found.correlations[0])
    return float(np.mean(values))


def chosen_layer(rng: np.random.Generator, size: Size) -> float:
    """Layers that are equally good: is the chosen one's held-out value above what it is worth?"""
    systems, segments = pair_of(size)
    human, measures = worlds.matrices(worlds.scores(rng, systems, segments, n=LAYERS))
    choice = choose([layer_profile(human, measures, "pearson")])
    if choice is None:
        return np.nan
    return float(choice.held_out > correlations.truth("pearson", "none", systems))


CASES = (
    *(
        Case(f"sample size page, {name}", correlations.SAME, partial(band, key),
             ((5, 20), (5, 100)), share=0.3, note=note)
        for key, name, note in (
            ("tau", "τ-b", correlations.PERCENTILE),
            ("r_segment", "r", correlations.PERCENTILE),
            ("r_system", "r over systems", ""),
        )
    ),
    Case("SPA, jackknife over segments", correlations.SAME, spa_jackknife,
         ((5, 20), (5, 100), (12, 100)), share=0.3, note="too wide where systems are many"),
    Case("SPA, percentile over segments", correlations.SAME, spa,
         ((5, 20), (5, 100), (12, 100)), share=0.3, note="of the command, on no page"),
    Case("chosen layer, held out", "six equally good layers", chosen_layer,
         ((5, 50), (5, 200)), EXCEEDS, 0.3),
)  # fmt: skip
