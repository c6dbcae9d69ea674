"""Tests between MT systems on a corpus metric or on segment scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.arrays import BoolArray, FloatArray, IntArray, fraction, one_of, positive_int
from metaeval.documents import (
    DOCUMENTS,
    effective_clusters,
    effective_units,
    has_enough_documents,
    sizes_of,
    sum_by,
    unit_of,
    units_message,
)
from metaeval.messages import Message, data_error, message, plural
from metaeval.resampling import (
    ALTERNATIVES,
    Rng,
    block_counts,
    blocks,
    expanded_pvalue,
    expanded_tail,
    random_bits,
    resampled_pvalue,
    resolve_seed,
    stream,
)
from metaeval.results import IdenticalInputWarning, MissingDataWarning, Notes, Result, TooFewWarning
from metaeval.scores.corpus import CorpusStatistics, MetricScores
from metaeval.scores.matrix import ScoreMatrix

# Differences of less than this share of the scores, times the root of how many are summed, are
# rounding errors.
ROUNDING = 4 * float(np.finfo(np.float64).eps)
BOOTSTRAP = message("method.paired-bootstrap", "paired bootstrap")
RANDOMISATION = message("method.approximate-randomisation", "approximate randomisation")


@dataclass(frozen=True, kw_only=True, eq=False)
class SystemComparison(Result):
    """Systems against one baseline; arrays follow ``systems`` (the baseline is not among them).

    ``differences`` are system - baseline. ``lows`` and ``highs`` bound the difference, and
    ``wins`` is the share of resamples in which the system scores higher (Koehn 2004); both are
    None for approximate randomisation. ``n`` counts segments; ``unit`` (documents or segments) is
    what was drawn or swapped, ``n_units`` how many there are, and ``n_effective`` their effective
    number, below it where they differ in size.
    """

    baseline: str
    baseline_score: float
    systems: tuple[str, ...]
    scores: FloatArray
    differences: FloatArray
    pvalues: FloatArray
    lows: FloatArray | None
    highs: FloatArray | None
    wins: FloatArray | None
    confidence: float | None
    method: Message
    alternative: str
    n_resamples: int
    seed: int
    unit: str
    n_units: int
    n_effective: float


def paired_bootstrap(
    scores: MetricScores,
    baseline: str,
    *,
    alternative: str = "two-sided",
    confidence: float = 0.95,
    n_resamples: int = 1000,
    rng: Rng = None,
) -> SystemComparison:
    """Compare each system with a baseline by a paired bootstrap over documents.

    Documents, or segments if no document has two, are drawn with replacement, the same draw for all
    systems. A corpus metric is computed from the summed counts of the draw, which is one matrix
    product for all resamples. For documents, p and the interval are expanded for their number
    (`metaeval.resampling.expanded_tail`).
    p = (#{|d* - d| >= |d|} + 1) / (n + 1), a test of the shifted difference (Riezler and Maxwell
    2005). Identical systems get p = 1; sacrebleu counts with > and gives them 1/(n+1). The share
    of wins (Koehn 2004) is not a p-value: the rule "95% of resamples" rejects a true null in 10% of
    cases.

    Parameters
    ----------
    scores
        `CorpusStatistics` (BLEU, chrF), or a `ScoreMatrix` of segment scores (their mean).
    baseline
        A system's name; all others are compared with it.
    alternative
        ``two-sided`` (default), ``greater`` (system above baseline) or ``less``.
    confidence
        Of the percentile interval of each difference.

    Warns
    -----
    MissingDataWarning
        Segments that some system lacks are excluded.
    TooFewWarning
        Fewer than 25 segments: p is too small and the interval too narrow; of one segment, nan.
        Fewer than 20 documents: both are approximate; of fewer than 6, nan.
    IdenticalInputWarning
        A system equals the baseline in every segment.

    Examples
    --------
    >>> from metaeval import ScoreMatrix
    >>> matrix = ScoreMatrix([[1, 2, 3, 4], [2, 4, 4, 6]], ["A", "B"], "stuv")
    >>> result = paired_bootstrap(matrix, "A", rng=1)
    >>> result.differences.tolist(), bool(result.wins[0] == 1.0)
    ([1.5], True)
    """
    fraction("confidence", confidence)
    systems = _from_baseline(scores, baseline)
    others = np.arange(1, len(systems))
    job = _Job(scores, systems, (others, np.zeros_like(others)), alternative, n_resamples, rng)
    differences = job.bootstrapped()
    tail = job.tail((1.0 - confidence) / 2.0)
    lows, highs = np.quantile(differences, [tail, 1.0 - tail], axis=0)
    wins = (differences > 0.0).mean(axis=0)
    pvalues = job.expanded(job.pvalues(differences - job.differences))
    pvalues, lows, highs, wins = job.trusted(np.array([pvalues, lows, highs, wins]))
    return job.result(BOOTSTRAP, pvalues, lows, highs, wins, confidence)


def bootstrapped_pairs(
    scores: MetricScores, first: IntArray, second: IntArray, n_resamples: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Return p and difference of `paired_bootstrap` for each pair of systems, by their positions.

    All systems must have the same segments. They are drawn once.
    """
    job = _Job(scores, scores.systems, (first, second), "two-sided", n_resamples, seed)
    pvalues = job.expanded(job.pvalues(job.bootstrapped() - job.differences))
    return np.where(job.same, 1.0, job.trusted(pvalues)), job.differences


def approximate_randomization(
    scores: MetricScores,
    baseline: str,
    *,
    alternative: str = "two-sided",
    n_resamples: int = 10_000,
    rng: Rng = None,
) -> SystemComparison:
    """Compare systems with a baseline by approximate randomisation, which swaps whole documents.

    A segment without a document is swapped separately.
    p = (#{|d*| >= |d|} + 1) / (n + 1) (Noreen 1989; Riezler and Maxwell 2005). Parameters as for
    `paired_bootstrap`. Identical systems get p = 1 (sacrebleu: 1/(n+1)).

    Examples
    --------
    >>> from metaeval import ScoreMatrix
    >>> matrix = ScoreMatrix([[1, 2, 3, 4], [1, 2, 3, 4]], ["A", "B"], "stuv")
    >>> approximate_randomization(matrix, "A", n_resamples=99, rng=1).pvalues.tolist()
    [1.0]
    """
    systems = _from_baseline(scores, baseline)
    others = np.arange(1, len(systems))
    job = _Job(scores, systems, (others, np.zeros_like(others)), alternative, n_resamples, rng)
    moves = job.values[1:] - job.values[:1]
    table = job.by_unit(moves)
    totals = job.values.sum(axis=1)
    parts = []
    for number, start, end in blocks(n_resamples):
        swaps = random_bits(stream(job.seed, number), end - start, job.n_units).astype(np.float64)
        moved = (swaps @ table).reshape(end - start, len(moves), -1)
        parts.append(job.metric(totals[1:] - moved) - job.metric(totals[0] + moved))
    has_enough_documents(job.clusters, job.notes)
    return job.result(RANDOMISATION, job.pvalues(np.concatenate(parts)))


def _from_baseline(scores: MetricScores, baseline: str) -> tuple[str, ...]:
    """Return the systems, the baseline first."""
    one_of("baseline", baseline, scores.systems)
    if len(scores.systems) < 2:
        raise data_error("data.one-system", "A comparison needs two systems.")
    return baseline, *(name for name in scores.systems if name != baseline)


class _Job:
    """Shared parts of both tests: checks, counts of the common segments, scores, p-values."""

    def __init__(
        self,
        scores: MetricScores,
        systems: Sequence[str],
        pairs: tuple[IntArray, IntArray],
        alternative: str,
        n_resamples: int,
        rng: Rng,
    ) -> None:
        one_of("alternative", alternative, ALTERNATIVES)
        positive_int("n_resamples", n_resamples)
        self.alternative, self.n_resamples = alternative, n_resamples
        self.seed, self.notes = resolve_seed(rng), Notes()
        self.systems, (self.first, self.second) = tuple(systems), pairs
        corpus = CorpusStatistics.of(scores)
        self.scorer = corpus.score
        values = corpus.subset(self.systems, corpus.segments)
        present = ~np.isnan(values).any(axis=(0, 2))
        self._note(present)
        self.values: FloatArray = np.ascontiguousarray(values[:, present])
        self.n, self.clusters = int(present.sum()), corpus.clusters[present]
        self.flat = self.by_unit(self.values)
        self.observed = self.metric(self.values.sum(axis=1))
        # Rounding errors are relative to scores, not to their mean, which may be near 0.
        is_mean = isinstance(scores, ScoreMatrix)
        self.sizes = np.abs(self.values[..., 0]).mean(axis=1) if is_mean else np.abs(self.observed)

    @property
    def differences(self) -> FloatArray:
        """The observed difference of each pair."""
        return np.asarray(self.observed[self.first] - self.observed[self.second])

    @property
    def same(self) -> BoolArray:
        """Which pairs have equal scores on every segment."""
        pairs = zip(self.first, self.second, strict=True)
        return np.array([np.array_equal(self.values[a], self.values[b]) for a, b in pairs], bool)

    def bootstrapped(self) -> FloatArray:
        """Return the differences of all samples, resamples x pairs."""
        parts = []
        for number, start, end in blocks(self.n_resamples):
            counts = block_counts(self.seed, (number,), end - start, self.n_units)
            parts.append(self.score(counts @ self.flat))
        drawn = np.concatenate(parts)
        return np.asarray(drawn[:, self.first] - drawn[:, self.second])

    @property
    def unit(self) -> str:
        """The unit that is drawn or swapped."""
        return unit_of(self.clusters)

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.flat)

    def by_unit(self, values: FloatArray) -> FloatArray:
        """Return the sums of each unit, units x (systems k), of systems x segments x k."""
        sums = np.moveaxis(sum_by(np.moveaxis(values, 1, -1), self.clusters), -1, 0)
        return np.ascontiguousarray(sums).reshape(len(sums), -1)

    def metric(self, sums: FloatArray) -> FloatArray:
        """Return ... scores of ... x k summed counts."""
        return self.scorer(sums.reshape(-1, sums.shape[-1])).reshape(sums.shape[:-1])

    def score(self, sums: FloatArray) -> FloatArray:
        """Return resamples x systems from resamples x (systems k)."""
        return self.metric(sums.reshape(len(sums), len(self.systems), -1))

    def pvalues(self, null: FloatArray) -> FloatArray:
        """Return p per pair; equal up to rounding counts as reached."""
        sizes = np.maximum(self.sizes[self.first], self.sizes[self.second])
        slack = ROUNDING * np.sqrt(self.n) * sizes
        return resampled_pvalue(null, self.differences, self.alternative, slack)

    def tail(self, tail: float) -> float:
        """Return the share of samples to cut off, expanded for documents."""
        is_expanded = self.unit == DOCUMENTS and self.n_units > 1
        return expanded_tail(tail, effective_units(self.clusters)) if is_expanded else tail

    def expanded(self, pvalues: FloatArray) -> FloatArray:
        """Return p-values of a bootstrap, expanded for documents."""
        if self.unit != DOCUMENTS or self.n_units < 2:
            return pvalues
        return expanded_pvalue(pvalues, effective_units(self.clusters), self.alternative)

    def trusted(self, found: FloatArray) -> FloatArray:
        """Return a bootstrap's results, or nan for one segment or few documents, with warnings."""
        from metaeval.systems.ranking import LEAST_SHARED  # It takes its tests from here.

        if not has_enough_documents(self.clusters, self.notes):
            return np.full_like(found, np.nan)
        if self.unit != DOCUMENTS and 1 < self.n < LEAST_SHARED:
            self.notes.warn(
                TooFewWarning(
                    message(
                        "paired-bootstrap.few-segments",
                        "There are only {segments} segments. With fewer than {fewest}, p-values of "
                        "the paired bootstrap are too small and its intervals too narrow.",
                        segments=self.n,
                        fewest=LEAST_SHARED,
                    )
                )
            )
        return found if self.n > 1 else np.full_like(found, np.nan)

    def result(
        self,
        method: Message,
        pvalues: FloatArray,
        lows: FloatArray | None = None,
        highs: FloatArray | None = None,
        wins: FloatArray | None = None,
        confidence: float | None = None,
    ) -> SystemComparison:
        """Return the result; a system equal to the baseline is never significant."""
        same = self.same
        for name in np.array(self.systems[1:])[same].tolist():
            self.notes.warn(
                IdenticalInputWarning(
                    message(
                        "systems.identical",
                        "{system} and {baseline} have the same score on every segment, so there is "
                        "no difference to test.",
                        system=name,
                        baseline=self.systems[0],
                    )
                )
            )
        return SystemComparison(
            n=self.n,
            **self.notes.fields,
            baseline=self.systems[0],
            baseline_score=float(self.observed[0]),
            systems=self.systems[1:],
            scores=self.observed[1:],
            differences=self.differences,
            pvalues=np.where(same, 1.0, pvalues),
            lows=lows,
            highs=highs,
            wins=wins,
            confidence=confidence,
            method=_over(method, self.clusters) if self.unit == DOCUMENTS else method,
            alternative=self.alternative,
            n_resamples=self.n_resamples,
            seed=self.seed,
            unit=self.unit,
            n_units=self.n_units,
            n_effective=effective_clusters(sizes_of(self.clusters)),
        )

    def _note(self, present: BoolArray) -> None:
        lost, n = int((~present).sum()), int(present.sum())
        self.notes.exclude("incomplete-segment", lost)
        if lost:
            self.notes.warn(
                MissingDataWarning(
                    plural(
                        "systems.incomplete-segments",
                        "Excluded {n} segment that some systems lack.",
                        "Excluded {n} segments that some systems lack.",
                        n=lost,
                    )
                )
            )
        if not n:
            raise data_error("data.no-common-segment", "The systems have no segment in common.")
        if n < 2:
            self.notes.warn(
                TooFewWarning(
                    message(
                        "systems.one-segment",
                        "There is only one segment, so all resamples are the same.",
                    )
                )
            )


def _over(method: Message, clusters: IntArray) -> Message:
    return message(
        "method.over-units",
        "{method} over {units}",
        method=method,
        units=units_message(clusters),
    )
