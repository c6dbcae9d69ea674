"""Tests of metrics against baselines without information (Perrella et al. 2024, sentinels)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.correlation.intervals.clustered import cautious_pvalues
from metaeval.correlation.panel import grouped
from metaeval.correlation.ties import tied_share
from metaeval.documents import DOCUMENTS
from metaeval.messages import Message, message
from metaeval.replication.questions import answer
from metaeval.replication.questions.comparison import ALPHA, Comparison
from metaeval.replication.questions.scored import Scored
from metaeval.replication.questions.statistics import Question
from metaeval.scores.matrix import ScoreMatrix
from metaeval.significance.corrections import adjust_pvalues

ABOVE, NOT_ABOVE, BELOW, UNKNOWN = "above", "not-above", "below", ""
CORRELATIONS = ("pearson", "kendall", "spearman")
# A smaller difference is a rounding error: the metric equals the baseline.
SAME = 1e-12


@dataclass(frozen=True, eq=False)
class FloorTest:
    """Tests of m metrics against k baselines; nan if undefined.

    ``above`` (m,) is the corrected p that a metric is better than every baseline, ``below`` (m,)
    that a baseline is better than it. ``states`` are ABOVE, NOT_ABOVE (no significant difference
    from the best baseline), BELOW, or UNKNOWN if there is no test. ``values``, ``lows`` and
    ``highs`` (k,) are those of the baselines; ``constant`` is the value of a constant metric.
    """

    values: FloatArray
    lows: FloatArray
    highs: FloatArray
    constant: float
    above: FloatArray
    below: FloatArray
    states: Sequence[str]
    test: Message


def against_floors(
    scored: Scored,
    floors: Mapping[str, ScoreMatrix],
    question: Question,
    *,
    random: str,
    alpha: float = ALPHA,
) -> FloorTest:
    """Test all metrics against all baselines, with the first test of the question's statistic.

    A metric is above the baselines if it is better than each of them: its largest one-sided p
    counts (an intersection-union test, Berger 1982), corrected over the metrics by Holm. So if no
    metric is better than the best baseline, the probability that any of them is called above is at
    most ``alpha``, provided that the statistic's test keeps its level. A metric is below if one
    baseline is better: the smallest p times their number counts, corrected likewise. An undefined
    baseline (all outputs of a segment have one source) is ignored; one that equals the metric has p
    1. Over segments the tests are cautious (`cautious_pvalues`): with degrees of freedom from all
    segments, some of four metrics that equal the best baseline pass in 4 to 10 of 100 tables of 60
    segments of MQM.

    ``random`` names the baseline of random numbers. If the statistic is a correlation with
    intervals, metrics are tested against 0, its known expectation, and not against one draw, which
    over ten systems ranges from -.6 to .6. Raises DataError if nothing can be compared.
    """
    asked = replace(question, test=question.statistic.tests[0])
    found = answer(replace(scored, metrics={**scored.metrics, **floors}), asked)
    m, names = len(scored.metrics), list(floors)
    pvalues, zero = _pvalues(found)
    better, worse = pvalues[:m, m:], pvalues[m:, :m].T
    is_same = np.abs(found.differences[:m, m:]) <= SAME
    better, worse = (np.where(np.isnan(p) & is_same, 1.0, p) for p in (better, worse))
    if zero is not None and question.statistic.correlation in CORRELATIONS:
        at = names.index(random)
        better[:, at], worse[:, at] = zero[:m], 1.0 - zero[:m]
    above, below = _corrected(better, worse)
    return FloorTest(
        found.values[m:],
        found.lows[m:],
        found.highs[m:],
        _constant(scored, question, found.chance),
        above,
        below,
        [_state(a, b, alpha) for a, b in zip(above, below, strict=True)],
        _cautious(found) if found.sides else found.test,
    )


def _cautious(found: Comparison) -> Message:
    if found.unit == DOCUMENTS:
        return message(
            "test.cautious-documents",
            "{test}, with the effective number of documents less one as degrees of freedom",
            test=found.test,
        )
    return message(
        "test.cautious-segments",
        "{test}, with the effective number of segments less one as degrees of freedom",
        test=found.test,
    )


def _pvalues(found: Comparison) -> tuple[FloatArray, FloatArray | None]:
    """Return one-sided p of all differences and of all values above 0, cautious over documents."""
    if found.sides:
        zero, pvalues = cautious_pvalues(found.values, found.sides)
        return np.where(np.isnan(found.pvalues), np.nan, pvalues), zero
    if found.zero_pvalues is None:
        return found.pvalues, None
    half = found.zero_pvalues / 2.0
    return found.pvalues, np.where(found.values > 0.0, half, 1.0 - half)


def _corrected(better: FloatArray, worse: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Holm-corrected p of being above all baselines, and of being below one of them."""
    counts = np.isfinite(better).sum(axis=1)
    none = counts == 0
    largest = np.where(np.isnan(better), 0.0, better).max(axis=1, initial=0.0)
    smallest = np.where(np.isnan(worse), 1.0, worse).min(axis=1, initial=1.0)
    raw = (largest, np.minimum(1.0, counts * smallest))
    above, below = (adjust_pvalues(np.where(none, np.nan, p)).pvalues for p in raw)
    return above, below


def _state(above: float, below: float, alpha: float) -> str:
    if np.isnan(above):
        return UNKNOWN
    return ABOVE if above <= alpha else BELOW if below <= alpha else NOT_ABOVE


def _constant(scored: Scored, question: Question, chance: float) -> float:
    """Return the value of a constant metric: chance, or for acc_eq the share of human ties."""
    if question.statistic.correlation != "acc_eq":
        return chance
    cells = scored.cells
    return tied_share(grouped(cells, np.isfinite(cells), question.grouping))
