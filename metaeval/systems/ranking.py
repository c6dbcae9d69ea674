"""Rankings of MT systems from human scores, with clusters of systems that do not differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from metaeval.arrays import BoolArray, FloatArray, IntArray, fraction, one_of
from metaeval.correlation.intervals import mean_interval
from metaeval.documents import (
    DOCUMENTS,
    FEWEST_DOCUMENTS,
    SEGMENTS,
    effective_clusters,
    effective_units,
    few_documents,
    recoded,
    sizes_of,
    sum_by,
    unit_of,
    units_message,
)
from metaeval.messages import Message, message
from metaeval.resampling import Rng, resample_counts, resolve_seed, stream
from metaeval.results import ApproximationWarning, Notes, Result, TooFewWarning
from metaeval.rounding import largest, round_to_ties
from metaeval.scores.matrix import ScoreMatrix
from metaeval.systems.paired_tests import approximate_randomization

# WMT26's comparison of two systems by either of two bootstraps, and its error rate.

# As published (wmt-conference/wmt26-general-mt, humeval/02b).
N_RESAMPLES = 100
# Keys of these random streams, so that they differ from those of other resamplings.
PAIRED, OWN = 261, 262
OR_WARNING = message(
    "ranking.wmt26-rule",
    "WMT26’s rule uses the smaller p-value of a paired and an unpaired bootstrap. It finds a "
    "difference between two equally good systems more often than the nominal {nominal:percent}: in "
    "about {shared:percent} of cases if all segments are shared, and in {low:percent} to "
    "{high:percent} if few are. The paired permutation test does not have this problem.",
    nominal=0.05,
    shared=0.06,
    low=0.10,
    high=0.17,
)


def either_bootstrap(
    scores: FloatArray,
    *,
    clusters: IntArray | None = None,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> FloatArray:
    """Return one-sided p of every system (row) being better than another by WMT26's rule.

    Systems x segments, nan where not judged. The smaller of two shares of bootstrap samples in
    which the first system is not better: of differences on the segments that both share, and of
    differences of means over each system's own segments. nan where both are undefined, and of a
    system with itself. The rule calls a difference significant below .05.

    ``clusters`` (segments,) numbers the document of each segment. Documents are then drawn, unlike
    in WMT26; by default segments are.
    """
    of = np.arange(scores.shape[1]) if clusters is None else clusters
    draw = _Draw(of, n_resamples, seed)
    table = np.full((len(scores), len(scores)), np.nan)
    for i, j in np.argwhere(~np.eye(len(scores), dtype=bool)):
        shares = [_paired(scores, i, j, draw), _own(scores, i, j, draw)]
        table[i, j] = min((each for each in shares if each == each), default=np.nan)
    return table


@dataclass(frozen=True)
class _Draw:
    clusters: IntArray
    n_resamples: int
    seed: int

    def means(self, values: FloatArray, key: tuple[int, ...]) -> FloatArray:
        """Return the means (n_resamples,) of the values that are there over drawn documents."""
        known = ~np.isnan(values)
        if not known.any():
            return np.full(self.n_resamples, np.nan)
        sums = sum_by(np.stack([values[known], np.ones(known.sum())]), self.clusters[known])
        counts = resample_counts(stream(self.seed, *key), self.n_resamples, sums.shape[1])
        return np.asarray(counts @ sums[0] / (counts @ sums[1]))


def _paired(scores: FloatArray, first: int, second: int, draw: _Draw) -> float:
    gaps = scores[first] - scores[second]
    # The smaller number first: (i, j) and (j, i) are one draw.
    key = (PAIRED, *sorted((int(first), int(second))))
    return _share(draw.means(gaps, key))


def _own(scores: FloatArray, first: int, second: int, draw: _Draw) -> float:
    means = [
        draw.means(row, (OWN, int(place)))
        for place, row in ((first, scores[first]), (second, scores[second]))
    ]
    return _share(means[0] - means[1])


def _share(gaps: FloatArray) -> float:
    return float(np.nan if np.isnan(gaps).any() else (gaps <= 0).mean())


# Rank-sum tests between systems: Wilcoxon's over segments, and with documents as clusters.


def rank_sums(scores: FloatArray, clusters: IntArray) -> FloatArray:
    """Return one-sided p of every system (row) being better than another, nan on the diagonal.

    Systems x segments, nan where not judged; ``clusters`` (segments,) numbers their documents.
    If no document has two segments it is WMT's test: Wilcoxon's, unpaired, by the normal
    approximation with continuity correction. Otherwise it is Mann-Whitney's U / (n m), the share of
    pairs in which the first is higher (ties half), with the variance of Obuchowski (1997,
    "Nonparametric analysis of clustered ROC curve data", Biometrics 53): the errors of a document's
    scores, of both systems, are summed before squaring. t has one degree of freedom fewer than the
    effective number of documents; nan below six documents.
    """
    from scipy.stats import mannwhitneyu, rankdata

    rows = [(row[~np.isnan(row)], clusters[~np.isnan(row)]) for row in scores]
    table = np.full((len(rows), len(rows)), np.nan)
    is_plain = unit_of(clusters) == SEGMENTS
    ranks = [] if is_plain else [rankdata(values) for values, _ in rows]
    for i, j in np.argwhere(~np.eye(len(rows), dtype=bool)):
        (first, of_first), (second, of_second) = rows[i], rows[j]
        if is_plain:
            test = mannwhitneyu(first, second, alternative="greater", method="asymptotic")
            table[i, j] = test.pvalue
        elif i < j:
            both = rankdata(np.concatenate([first, second]))
            above = (both[: len(first)] - ranks[i]) / len(second)
            below = 1.0 - (both[len(first) :] - ranks[j]) / len(first)
            table[i, j], table[j, i] = _rank_sum_pvalues(above, below, of_first, of_second)
    return table


def _rank_sum_pvalues(
    above: FloatArray, below: FloatArray, of_first: IntArray, of_second: IntArray
) -> tuple[float, float]:
    """Return both one-sided p from the placements of each score among the other side's."""
    share = float(above.mean())
    documents = recoded(np.concatenate([of_first, of_second]))
    parts = np.concatenate([(above - share) / len(above), (below - share) / len(below)])
    errors = np.bincount(documents, weights=parts)
    if len(errors) < FEWEST_DOCUMENTS:
        return np.nan, np.nan
    n = effective_units(documents)
    error = float(np.sqrt((errors**2).sum() * n / (n - 1)))
    away = share - 0.5
    if not error > 1e-12:
        t = np.inf * np.sign(away) if abs(away) > 1e-12 else 0.0
    else:
        t = away / error
    return float(stdtr(n - 1, -t)), float(stdtr(n - 1, t))


TESTS = ("rank-sum", "permutation", "wmt26")
# The minimum of segments on which two systems are compared. With 25 normal differences the paired
# bootstrap rejects a true null in 6.7% of cases, with fewer more often.
LEAST_SHARED = 25


@dataclass(frozen=True, kw_only=True, eq=False)
class SystemRanking(Result):
    """Systems from best to worst.

    ``lows`` and ``highs`` bound each mean in ``scores`` (95%, `mean_interval`); nan if there are
    too few segments or documents.
    ``pvalues[i, j]`` is the one-sided p that system i is better than j, systems in ranked order.
    ``clusters`` numbers the clusters from 1. ``wins`` counts the systems that one beats, and
    ``first`` and ``last`` bound its rank: 1 + systems that beat it, and n - wins. ``shared[i, j]``
    counts the segments that both systems have scores of. ``n`` counts segment scores. ``unit``
    (documents or segments) is the unit that intervals and tests treat as independent, ``n_units``
    their number and ``n_effective`` their effective number.
    """

    systems: tuple[str, ...]
    scores: FloatArray
    lows: FloatArray
    highs: FloatArray
    pvalues: FloatArray
    shared: IntArray
    clusters: IntArray
    wins: IntArray
    first: IntArray
    last: IntArray
    method: Message
    alpha: float
    seed: int | None
    unit: str
    n_units: int
    n_effective: float

    def stars(self) -> list[list[str]]:
        """Return WMT's labels for each pair: ***, **, * at .001, .01, .05, else empty."""
        levels = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
        return [
            [next((mark for level, mark in levels if p < level), "") for p in row]
            for row in self.pvalues
        ]


def rank_systems(
    scores: ScoreMatrix,
    *,
    test: str = "rank-sum",
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    rng: Rng = None,
) -> SystemRanking:
    """Rank systems by the mean of their segment scores, in clusters.

    Two clusters are separate if every system above beats every system below with p < alpha
    (Barrault et al. 2021). There is no correction for many tests, as in WMT.

    Parameters
    ----------
    scores
        Human segment scores (means of z-scores), nan where not judged.
    test
        ``rank-sum``: Wilcoxon's unpaired rank-sum test, normal approximation with continuity
        correction, as WMT publishes; systems may be judged on different segments. With
        documents, the same share of pairs with a variance over documents.
        ``permutation``: paired sign flips on the segments two systems share, a document at a
        time; stronger, because it removes the difficulty of the segments.
        ``wmt26``: the smaller p of a paired and an unpaired bootstrap of 100 resamples, as WMT26
        publishes; it rejects a true null too often.
    n_resamples, rng
        Of the permutation test; the seed also of WMT26's bootstraps.

    Warns
    -----
    ApproximationWarning
        WMT26's rule was requested: it finds differences between equal systems too often.
    TooFewWarning
        Fewer than two systems have scores, or some were judged on different segments and share
        fewer than `LEAST_SHARED`, or fewer than six documents; the segments belong to fewer than
        20 documents, below six of which the rank-sum test is nan.

    Examples
    --------
    >>> matrix = ScoreMatrix([[1, 2, 3, 4], [5, 6, 7, 9], [1, 2, 4, 4]], "ABC", "stuv")
    >>> result = rank_systems(matrix)
    >>> result.systems, result.clusters.tolist()
    (('B', 'C', 'A'), [1, 2, 2])
    """
    one_of("test", test, TESTS)
    fraction("alpha", alpha)
    notes = Notes()
    means = scores.system_means()
    notes.exclude("system-without-scores", int(np.isnan(means).sum()))
    known = [name for name, mean in zip(scores.systems, means, strict=True) if not np.isnan(mean)]
    average = dict(zip(scores.systems, means.tolist(), strict=True))
    rounded_means = round_to_ties(means, largest(scores.values)).tolist()
    places = dict(zip(scores.systems, rounded_means, strict=True))
    order = sorted(known, key=lambda name: (-places[name], name))
    if len(order) < 2:
        notes.warn(
            TooFewWarning(
                message(
                    "ranking.few-systems",
                    "Fewer than two systems have human scores, so there is no ranking.",
                )
            )
        )
    ranked = scores.subset(systems=order)
    present, of = ranked.mask.any(axis=0), ranked.clusters
    shared = _shared(ranked.mask)
    _note_strangers(notes, order, ranked, test)
    if (warning := few_documents(of[present])) is not None:
        notes.warn(warning)
    seed = resolve_seed(rng) if test != "rank-sum" else None
    if test == "wmt26":
        notes.warn(ApproximationWarning(OR_WARNING))
    table = _pvalues(ranked, test, n_resamples, seed)
    beats = np.nan_to_num(table, nan=1.0) < alpha
    wins, losses = beats.sum(axis=1), beats.sum(axis=0)
    unit = unit_of(of[present])
    ends = np.array([mean_interval(row, clusters=of)[:2] for row in ranked.values])
    lows, highs = ends.reshape(-1, 2).T
    return SystemRanking(
        n=int(ranked.mask.sum()),
        **notes.fields,
        systems=tuple(order),
        scores=np.array([average[name] for name in order]),
        lows=lows,
        highs=highs,
        pvalues=table,
        shared=shared,
        clusters=_clusters(beats),
        wins=wins.astype(np.int64),
        first=(1 + losses).astype(np.int64),
        last=(len(order) - wins).astype(np.int64),
        method=_method(test, of[present]),
        alpha=alpha,
        seed=seed,
        unit=unit,
        n_units=len(sizes_of(of[present])),
        n_effective=effective_clusters(sizes_of(of[present])),
    )


def _shared(mask: BoolArray) -> IntArray:
    present = mask.astype(np.int64)
    return present @ present.T


def shared_documents(mask: BoolArray, clusters: IntArray) -> IntArray:
    """Return on how many documents two systems share a segment, systems x systems."""
    if unit_of(clusters) != DOCUMENTS:
        return _shared(mask)
    rows = mask.astype(np.float64)
    shares = [(sum_by(rows * row, clusters) > 0).sum(axis=1) for row in rows]
    return np.array(shares, dtype=np.int64).reshape(len(rows), len(rows))


def _method(test: str, clusters: IntArray) -> Message:
    if unit_of(clusters) == DOCUMENTS:
        return message(
            "method.clusters-over",
            "{test} clusters over {units}",
            test=test,
            units=units_message(clusters),
        )
    return message("method.clusters", "{test} clusters", test=test)


def _note_strangers(notes: Notes, systems: list[str], scores: ScoreMatrix, test: str) -> None:
    """Warn of pairs that were judged on different segments, which limits their comparison."""
    shared, documents = _shared(scores.mask), shared_documents(scores.mask, scores.clusters)
    own = np.diag(shared)
    few = (shared < LEAST_SHARED) | (documents < FEWEST_DOCUMENTS)
    few &= shared < np.minimum.outer(own, own)
    first, second = np.nonzero(np.triu(few, k=1))
    if not len(first):
        return
    least = int(np.argmin(shared[first, second]))
    overlap = {
        "pairs": len(first),
        "all": len(systems) * (len(systems) - 1) // 2,
        "few": _few_shared(scores),
        "first": systems[first[least]],
        "second": systems[second[least]],
        "shared": int(shared[first[least], second[least]]),
    }
    if test == "permutation":
        warning = message(
            "ranking.small-overlap-paired",
            "{pairs} of {all} pairs of systems share {few}; {first} and {second} share the fewest "
            "({shared} segments). The paired test has little power for such pairs, so being in one "
            "cluster does not mean that systems are equally good.",
            **overlap,
        )
    else:
        warning = message(
            "ranking.small-overlap-unpaired",
            "{pairs} of {all} pairs of systems share {few}; {first} and {second} share the fewest "
            "({shared} segments). The rank-sum test compares such pairs on different segments, "
            "which may differ in difficulty.",
            **overlap,
        )
    notes.warn(TooFewWarning(warning))


def _few_shared(scores: ScoreMatrix) -> Message:
    if unit_of(scores.clusters) == DOCUMENTS:
        return message(
            "ranking.few-shared-documents",
            "fewer than {segments} judged segments or {documents} documents",
            segments=LEAST_SHARED,
            documents=FEWEST_DOCUMENTS,
        )
    return message(
        "ranking.few-shared-segments",
        "fewer than {segments} judged segments",
        segments=LEAST_SHARED,
    )


def _clusters(beats: np.ndarray) -> IntArray:  # type: ignore[type-arg]
    size, cluster = len(beats), 1
    result = np.ones(size, dtype=np.int64)
    for position in range(1, size):
        cluster += bool(beats[:position, position:].all())
        result[position] = cluster
    return result


def _pvalues(scores: ScoreMatrix, test: str, n_resamples: int, seed: int | None) -> FloatArray:
    if seed is None:
        return rank_sums(scores.values, scores.clusters)
    if test == "wmt26":
        return either_bootstrap(scores.values, clusters=scores.clusters, seed=seed)
    return _permutations(scores, n_resamples, seed)


def _permutations(scores: ScoreMatrix, n_resamples: int, seed: int) -> FloatArray:
    table = np.full((len(scores.systems), len(scores.systems)), np.nan)
    for i, first in enumerate(scores.systems):
        for j, second in enumerate(scores.systems):
            shared = ~np.isnan(scores.values[i] + scores.values[j])
            if i == j or not shared.any():
                continue
            segments = [scores.segments[column] for column in np.flatnonzero(shared)]
            pair = scores.subset(systems=[first, second], segments=segments)
            test = approximate_randomization(
                pair, second, alternative="greater", n_resamples=n_resamples, rng=seed
            )
            table[i, j] = test.pvalues[0]
    return table
