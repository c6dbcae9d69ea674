"""MT systems side by side: human scores with clusters, metric scores with marks of significance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.arrays import FloatArray, one_of
from metaeval.corpus import CorpusStatistics
from metaeval.correlations import kendall
from metaeval.pairwise import pairwise_accuracy
from metaeval.ranking import SystemRanking, rank_systems
from metaeval.resampling import Rng, resolve_seed
from metaeval.results import MissingDataWarning, Notes, Result, TooFewWarning
from metaeval.scores import ScoreMatrix
from metaeval.system_tests import paired_bootstrap

VERSUS = ("next", "best")
Scored = ScoreMatrix | CorpusStatistics


@dataclass(frozen=True, kw_only=True, eq=False)
class MetricColumn(Result):
    """A metric's scores of the systems, best first, each tested by the paired bootstrap.

    ``pvalues`` are two-sided, against the system below (``next``; the last has nan) or against
    the first (``best``; the first has nan). ``marks`` are † for p < .05 and ‡ for p < .01.
    ``tau`` and ``accuracy`` compare the ranking with the human one over ``n_shared`` systems;
    ``n`` counts segments, those that every system has.
    """

    metric: str
    is_lower_better: bool
    systems: tuple[str, ...]
    scores: FloatArray
    pvalues: FloatArray
    marks: tuple[str, ...]
    tau: float
    accuracy: float
    n_shared: int


@dataclass(frozen=True, kw_only=True, eq=False)
class SystemTable(Result):
    """The human ranking (None without human scores) and a column for every metric."""

    ranking: SystemRanking | None
    columns: tuple[MetricColumn, ...]
    versus: str
    n_resamples: int
    seed: int


def system_table(
    human: ScoreMatrix,
    metrics: Mapping[str, Scored],
    *,
    lower: Sequence[str] = (),
    human_systems: Mapping[str, float] | None = None,
    versus: str = "next",
    test: str = "rank-sum",
    n_resamples: int = 1000,
    rng: Rng = None,
) -> SystemTable:
    """Rank MT systems by humans and by every metric.

    Parameters
    ----------
    human
        Human segment scores, nan where not judged; ranked by `rank_systems` with ``test``.
    metrics
        name -> segment scores (a system's score is their mean) or `CorpusStatistics`. A system
        without any score is left out of the column, and so are segments that one of the others
        lacks.
    lower
        Names of the metrics where lower is better.
    human_systems
        Human scores of whole systems where they were published as such; else means of ``human``.
    versus
        ``next``: each system against the one below it in the metric's own order (a mark says
        better than the next); ``best``: each against the first (a mark says worse than the best).

    Examples
    --------
    >>> human = ScoreMatrix([[1, 2, 3, 4], [5, 6, 7, 9]], ["A", "B"], "stuv")
    >>> table = system_table(human, {"m": human.with_values(human.values * 2)}, rng=1)
    >>> table.columns[0].systems, table.columns[0].marks, table.columns[0].tau
    (('B', 'A'), ('‡', ''), 1.0)
    """
    one_of("versus", versus, VERSUS)
    seed, notes = resolve_seed(rng), Notes()
    ranking = rank_systems(human, test=test, rng=seed) if human.mask.any() else None
    if ranking is None:
        notes.warn(TooFewWarning("No system has human scores: there is no human ranking."))
    else:
        notes.absorb(ranking)
    known = human_systems or dict(zip(human.systems, human.system_means().tolist(), strict=True))
    columns = tuple(
        _column(name, scores, name in lower, known, versus, n_resamples, seed)
        for name, scores in metrics.items()
    )
    for column in columns:
        notes.absorb(column)
    return SystemTable(
        n=int(human.mask.sum()),
        warnings=notes.warnings,
        ranking=ranking,
        columns=columns,
        versus=versus,
        n_resamples=n_resamples,
        seed=seed,
    )


def _column(
    name: str,
    scores: Scored,
    is_lower_better: bool,
    human: Mapping[str, float],
    versus: str,
    n_resamples: int,
    seed: int,
) -> MetricColumn:
    notes = Notes()
    counts = _common(name, scores, notes)
    values = counts.system_scores()
    sign = -1.0 if is_lower_better else 1.0
    order = np.lexsort((np.array(counts.systems), -sign * values))
    ranked = [counts.systems[i] for i in order]
    pvalues = _pvalues(counts, ranked, versus, n_resamples, seed)
    tau, accuracy, shared = _agreement(ranked, sign * values[order], human)
    return MetricColumn(
        n=len(counts.segments),
        reasons=notes.reasons,
        warnings=notes.warnings,
        metric=name,
        is_lower_better=is_lower_better,
        systems=tuple(ranked),
        scores=values[order],
        pvalues=pvalues,
        marks=tuple(_mark(p) for p in pvalues.tolist()),
        tau=tau,
        accuracy=accuracy,
        n_shared=shared,
    )


def _mark(p: float) -> str:
    return "‡" if p < 0.01 else "†" if p < 0.05 else ""


def _common(name: str, scores: Scored, notes: Notes) -> CorpusStatistics:
    """The systems that have scores, on the segments that all of them have, as counts."""
    counts = scores if isinstance(scores, CorpusStatistics) else _as_counts(scores)
    present = ~np.isnan(counts.values).any(axis=2)
    rows = present.any(axis=1)
    shared = present[rows].all(axis=0)
    lost = int((present[rows].any(axis=0) & ~shared).sum())
    notes.exclude("system without scores", int((~rows).sum()))
    notes.exclude("segment that some system lacks", lost)
    if lost:
        notes.warn(MissingDataWarning(f"{name}: {lost} segments that some system lacks: left out."))
    return CorpusStatistics(
        counts.values[np.ix_(rows, shared)],
        [system for system, kept in zip(counts.systems, rows, strict=True) if kept],
        [segment for segment, kept in zip(counts.segments, shared, strict=True) if kept],
        counts.score,
    )


def _as_counts(scores: ScoreMatrix) -> CorpusStatistics:
    """Segment scores as counts: a sum and a one, so that the score is the mean."""
    ones = np.where(scores.mask, 1.0, np.nan)
    values = np.stack([scores.values, ones], axis=2)
    return CorpusStatistics(values, scores.systems, scores.segments, _mean)


def _mean(sums: FloatArray) -> FloatArray:
    result = np.full(len(sums), np.nan)
    return np.divide(sums[:, 0], sums[:, 1], out=result, where=sums[:, 1] > 0)


def _pvalues(
    counts: CorpusStatistics, ranked: Sequence[str], versus: str, n_resamples: int, seed: int
) -> FloatArray:
    result = np.full(len(ranked), np.nan)
    if len(ranked) < 2 or not counts.segments:
        return result
    if versus == "best":
        best = paired_bootstrap(counts, ranked[0], n_resamples=n_resamples, rng=seed)
        found = dict(zip(best.systems, best.pvalues.tolist(), strict=True))
        return np.array([np.nan, *(found[name] for name in ranked[1:])])
    for position in range(len(ranked) - 1):
        pair = ranked[position : position + 2]
        two = CorpusStatistics(
            counts.subset(pair, counts.segments), pair, counts.segments, counts.score
        )
        test = paired_bootstrap(two, pair[1], n_resamples=n_resamples, rng=seed)
        result[position] = test.pvalues[0]
    return result


def _agreement(
    systems: Sequence[str], values: FloatArray, human: Mapping[str, float]
) -> tuple[float, float, int]:
    """Kendall's τ-b and pairwise accuracy over the systems that both sides score."""
    pairs = [(human.get(name, np.nan), value) for name, value in zip(systems, values, strict=True)]
    known = [(ours, theirs) for ours, theirs in pairs if ours == ours and theirs == theirs]
    if len(known) < 2:
        return float("nan"), float("nan"), len(known)
    ours, theirs = (list(side) for side in zip(*known, strict=True))
    return (
        kendall(ours, theirs).statistic,
        pairwise_accuracy(ours, theirs).statistic,
        len(known),
    )
