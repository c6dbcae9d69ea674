"""Correlations of bootstrap samples of systems and segments, from counts instead of copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metaeval.arrays import FloatArray, IntArray, Remembered, content
from metaeval.correlation.drawn_pairs import DrawnPairs, moved
from metaeval.correlation.measure import FEWEST_SYSTEMS, SYSTEM_LEVEL, Measure
from metaeval.correlation.pair_counts import codes_of, mid_ranks
from metaeval.correlation.panel import Panel, grouped
from metaeval.correlation.rows import row_kendall, row_spearman
from metaeval.correlation.soft_pairwise import (
    gaps_to_pvalues,
    pair_pvalues,
    sign_flips,
    sums_to_pvalues,
    within_segments,
)
from metaeval.correlation.ties import PairTable, pair_table
from metaeval.documents import DOCUMENTS, sum_by, unit_of
from metaeval.rounding import largest, round_to_ties

# Above this many cells in a group, comparing all pairs costs more than sorting them into bins.
WIDE = 400
# Counts in memory at once: samples x cells.
NUMBERS = 2**23


def samples(
    panel: Panel, index: int, measure: Measure, rows: FloatArray, columns: FloatArray, seed: int
) -> FloatArray:
    """Return a metric's correlation in each sample; nan where undefined.

    Parameters
    ----------
    rows, columns
        samples x systems and samples x segments: how often each was drawn.
    """
    human, metric = panel.human, panel.metrics[index]
    if measure.correlation == "soft_pairwise_accuracy":
        return _soft(panel, index, rows, columns, measure.n_flips, seed)
    if measure.grouping == SYSTEM_LEVEL:
        return _system_level(panel, index, measure, rows, columns)
    weights = _by_group(panel, measure.grouping, rows, columns)
    z, x = (grouped(values, panel.valid, measure.grouping) for values in (human, metric))
    if measure.correlation in ("acc_eq", "kendall_like"):
        return _pairwise(pair_table(z.T, x.T), z, weights, measure)
    return _weighted_mean(_group_values(z, x, weights[1], measure), weights[0])


def _by_group(
    panel: Panel, grouping: str, rows: FloatArray, columns: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return how often each group and each member counts: samples x groups, samples x members."""
    if grouping == "item":
        return columns, rows
    if grouping == "system":
        return rows, columns
    cells = (rows[:, :, None] * columns[:, None, :])[:, panel.valid]
    return np.ones((len(rows), 1)), cells


def _group_values(
    z: FloatArray, x: FloatArray, weights: FloatArray, measure: Measure
) -> FloatArray:
    """Return samples x groups."""
    columns = []
    for group in range(len(z)):
        valid = ~np.isnan(z[group])
        columns.append(weighted(z[group][valid], x[group][valid], weights[:, valid], measure))
    return np.array(columns).T


def weighted(z: FloatArray, x: FloatArray, w: FloatArray, measure: Measure) -> FloatArray:
    """Return Pearson, Spearman or Kendall of n cells in each sample (samples,), nan if undefined.

    ``w`` is samples x n: how often each cell was drawn; copies of a cell tie on both sides.
    """
    if len(z) < 2:
        return np.full(len(w), np.nan)
    if measure.correlation == "pearson":
        return weighted_pearson(z - z.mean(), x - x.mean(), w)
    if measure.correlation == "kendall" and len(z) > WIDE:
        return np.asarray(weighted_kendall(z, [x], w, measure)[0])
    correlate = _wide_spearman if len(z) > WIDE else _weighted_order
    return np.concatenate([correlate(z, x, w[at], measure) for at in stretches(*w.shape)])


def weighted_kendall(
    z: FloatArray,
    others: Sequence[FloatArray],
    w: NDArray[Any],
    measure: Measure,
    columns: IntArray | None = None,
) -> FloatArray:
    """Return Kendall's tau of z with each of the others in each sample (others x samples).

    With ``columns``, these are the columns of ``w`` that cells have. With many cells, everything
    that depends only on z and the samples is computed once. What was computed last for several
    others and the same samples is remembered; if few values of z have changed since, only their
    pairs are compared.
    """
    if len(z) <= WIDE:
        w = w if columns is None else w[:, columns]
        return np.array([weighted(z, x, w.astype(np.float64), measure) for x in others])
    if measure.variant == "b" and len(others) > 1:
        return _updated(z, np.array(others), w, columns)
    pairs = DrawnPairs(codes_of(z), w, columns)
    return np.array([_wide_kendall(pairs, codes_of(x), measure.variant) for x in others])


# Of each set of samples and others: z, and for each sample the untied pairs of z, the cells drawn,
# and for each of the others the score and the untied pairs.
_remembered = Remembered(2**25)


def _updated(
    z: FloatArray, others: FloatArray, w: NDArray[Any], columns: IntArray | None
) -> FloatArray:
    key, n, k = content(others, w, columns), len(z), len(others)
    known = _remembered.get(key)
    change = None if known is None else moved(known[:n], z, 4 * n)
    if known is not None and change is not None:
        rows = known[n:].reshape(2 * k + 2, -1).copy()
        if len(change.first):
            scores, untied = change.sums(others, w, columns)
            rows[2 : k + 2] += scores
            rows[0] += untied
    else:
        pairs, codes = DrawnPairs(codes_of(z), w, columns), [codes_of(x) for x in others]
        sums = *map(pairs.score, codes), *map(pairs.untied_by, codes)
        rows = np.array([pairs.untied, pairs.n, *sums])
    _remembered.put(key, np.concatenate([z, rows.ravel()]))
    scores, untied = np.split(rows[2:], 2)
    return np.array(
        [_tau(s, (rows[0], u), rows[1], None) for s, u in zip(scores, untied, strict=True)]
    )


def stretches(samples: int, cells: int) -> list[slice]:
    """Return slices of the samples whose counts fit into memory."""
    step = max(1, NUMBERS // max(cells, 1))
    return [slice(at, at + step) for at in range(0, samples, step)]


def _wide_kendall(pairs: DrawnPairs, x: IntArray, variant: str) -> FloatArray:
    distinct = None if variant == "b" else (pairs.distinct, pairs.distinct_by(x))
    return _tau(pairs.score(x), (pairs.untied, pairs.untied_by(x)), pairs.n, distinct)


def weighted_pearson(z: FloatArray, x: FloatArray, w: FloatArray) -> FloatArray:
    """Return Pearson's r of z and x (members, or samples x members) under each row of weights."""
    n = w.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mz, mx = _dot(w, z) / n, _dot(w, x) / n
        zz, xx, zx = _dot(w, z * z), _dot(w, x * x), _dot(w, z * x)
        vz, vx = zz - n * mz * mz, xx - n * mx * mx
        flat = (vz <= 1e-12 * zz) | (vx <= 1e-12 * xx)
        r = (zx - n * mz * mx) / np.sqrt(np.where(flat, np.nan, vz * vx))
    return np.asarray(np.clip(r, -1.0, 1.0))


def _weighted_order(z: FloatArray, x: FloatArray, w: FloatArray, measure: Measure) -> FloatArray:
    sign_z, sign_x = (np.sign(values[:, None] - values[None, :]) for values in (z, x))
    if measure.correlation == "spearman":
        # sum_j w_j sign(x_i - x_j) is twice the centred mid-rank of i in the sample.
        return weighted_pearson(w @ sign_z.T, w @ sign_x.T, w)
    score = ((w @ (sign_z * sign_x)) * w).sum(axis=1) / 2.0
    untied_z = ((w @ np.abs(sign_z)) * w).sum(axis=1) / 2.0
    untied_x = ((w @ np.abs(sign_x)) * w).sum(axis=1) / 2.0
    distinct = None if measure.variant == "b" else (_distinct(z, w), _distinct(x, w))
    return _tau(score, (untied_z, untied_x), w.sum(axis=1), distinct)


def _distinct(values: FloatArray, w: FloatArray) -> FloatArray:
    codes = np.unique(values, return_inverse=True)[1]
    shown = w @ np.eye(codes.max() + 1)[codes]
    return np.asarray((shown > 0).sum(axis=1), dtype=np.float64)


def _wide_spearman(z: FloatArray, x: FloatArray, w: FloatArray, measure: Measure) -> FloatArray:
    return weighted_pearson(mid_ranks(codes_of(z), w), mid_ranks(codes_of(x), w), w)


def _tau(
    score: FloatArray,
    untied: tuple[FloatArray, FloatArray],
    n: FloatArray,
    distinct: tuple[FloatArray, FloatArray] | None,
) -> FloatArray:
    """Return tau-b, or tau-c where the numbers of distinct values are given."""
    with np.errstate(invalid="ignore", divide="ignore"):
        if distinct is None:
            return np.asarray(score / np.sqrt(untied[0] * untied[1]))
        m = np.minimum(*distinct)
        scale = n * n * (m - 1.0) / m / 2.0
        return np.asarray(score / np.where((untied[0] > 0) & (untied[1] > 0), scale, np.nan))


def _weighted_mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    used = np.where(np.isnan(values), 0.0, weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((np.nan_to_num(values) * used).sum(axis=1) / used.sum(axis=1))


def _pairwise(
    table: PairTable, z: FloatArray, weights: tuple[FloatArray, FloatArray], measure: Measure
) -> FloatArray:
    """Pool or average pairs; two copies of one output tie on both sides, so they agree."""
    groups, members = weights
    valid = ~np.isnan(z)
    if measure.correlation == "kendall_like":
        counted = (np.abs(table.human) >= measure.threshold) & (table.human != 0.0)
        good = (counted & (np.sign(table.human) == np.sign(table.metric))).astype(np.float64)
        values = [_pooled(table, g, m, counted, good) for g, m in zip(groups, members, strict=True)]
        return np.array(values)
    order = _Order(table)
    values = []
    for g, m in zip(groups, members, strict=True):
        sizes = valid @ m
        used = np.where(sizes > 1, g, 0.0)
        share = used / np.maximum(sizes * (sizes - 1.0) / 2.0, 1.0) / (used.sum() or np.nan)
        copies = float(share @ (valid @ (m * (m - 1.0) / 2.0)))
        pairs = share[table.groups] * m[table.first] * m[table.second]
        is_constant = not ((pairs * table.metric).any() and (pairs * table.human).any())
        accuracy = copies + order.accuracy(pairs, measure.epsilon)
        values.append(np.nan if is_constant else accuracy)
    return np.array(values)


def _pooled(table: PairTable, g: FloatArray, m: FloatArray, counted: Any, good: Any) -> float:
    pairs = g[table.groups] * m[table.first] * m[table.second]
    n = float(pairs @ counted)
    is_constant = not (pairs * table.metric).any()
    return 2.0 * float(pairs @ good) / n - 1.0 if n and not is_constant else np.nan


class _Order:
    """The pairs of a table in order of their metric difference, for many weightings."""

    def __init__(self, table: PairTable) -> None:
        self.table = table
        self.concordant = (np.sign(table.human) * np.sign(table.metric)) > 0
        sizes = np.abs(table.metric)
        self.order = np.argsort(sizes, kind="stable")
        ordered = sizes[self.order]
        self.last = np.flatnonzero(np.append(np.diff(ordered) > table.slack, True)[: len(ordered)])
        self.gains = (np.where(table.human == 0.0, 1.0, 0.0) - self.concordant)[self.order]
        self.from_zero = not len(ordered) or ordered[0] > 0.0

    def accuracy(self, weights: FloatArray, epsilon: float | None) -> float:
        if epsilon is not None:
            return float(weights @ self.table.agreement(epsilon))
        running = np.cumsum(weights[self.order] * self.gains)[self.last]
        best = max(running.max(initial=-np.inf), 0.0 if self.from_zero else -np.inf)
        return float(weights @ self.concordant + (best if np.isfinite(best) else 0.0))


def _system_level(
    panel: Panel, index: int, measure: Measure, rows: FloatArray, columns: FloatArray
) -> FloatArray:
    valid = panel.valid.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        counts = columns @ valid.T
        z, x = (
            round_to_ties((columns @ np.nan_to_num(values).T) / counts, largest(values))
            for values in (panel.human, panel.metrics[index])
        )
    w = np.where(np.isnan(z), 0.0, rows)
    if measure.correlation == "pairwise_accuracy":
        ours, theirs = _signs(z), _signs(x)
        accuracy = _over_pairs((ours == theirs).astype(np.float64), w)
        drawn_pairs = _pair_weights(w)
        varies = [(drawn_pairs * np.nan_to_num(side)).any(axis=1) for side in (ours, theirs)]
        return np.where(varies[0] & varies[1], accuracy, np.nan)
    if valid.any(axis=1).sum() < FEWEST_SYSTEMS:
        return np.full(len(w), np.nan)
    if measure.correlation == "pearson":
        return weighted_pearson(np.nan_to_num(z), np.nan_to_num(x), w)
    copies = [
        (np.repeat(a, n)[None], np.repeat(b, n)[None])
        for a, b, n in zip(z, x, w.astype(np.int64), strict=True)
    ]
    if measure.correlation == "spearman":
        return np.array([row_spearman(a, b)[0] for a, b in copies])
    return np.array([row_kendall(a, b, measure.variant)[0] for a, b in copies])


def _soft(
    panel: Panel,
    index: int,
    rows: FloatArray,
    columns: FloatArray,
    n_flips: int | None,
    seed: int,
) -> FloatArray:
    n_documents = int(panel.clusters.max()) + 1
    flips = None if n_flips is None else sign_flips(seed, n_flips, n_documents)
    human = _resampled_pvalues(panel.human, panel, columns, flips)
    metric = _resampled_pvalues(panel.metrics[index], panel, columns, flips)
    gaps = np.abs(human - metric)
    pairs = np.where(np.isnan(gaps), 0.0, _pair_weights(rows))
    # Copies of a system without a drawn cell share no segment.
    is_seen = columns @ panel.valid.T.astype(np.float64) > 0.0
    copies = (is_seen * rows * (rows - 1.0) / 2.0).sum(axis=1)
    total = pairs.sum(axis=1) + copies
    total = np.where(total > 0.0, total, np.nan)
    for values in (panel.human, panel.metrics[index]):
        total[~(pairs * _moved(values, columns)).any(axis=1)] = np.nan
    return np.asarray(1.0 - (pairs * np.nan_to_num(gaps)).sum(axis=1) / total)


def _moved(values: FloatArray, columns: FloatArray) -> FloatArray:
    """Return, samples x pairs of systems, in how many drawn segments the two differ."""
    upper, lower = np.triu_indices(len(values), 1)
    gaps = np.nan_to_num(values[upper] - values[lower])
    return np.asarray(columns @ (gaps != 0.0).astype(np.float64).T)


def _resampled_pvalues(
    values: FloatArray, panel: Panel, columns: FloatArray, flips: FloatArray | None
) -> FloatArray:
    """Return samples x pairs of systems; ``flips`` has a column per drawn document."""
    clusters, firsts = panel.clusters, np.unique(panel.clusters, return_index=True)[1]
    if flips is not None:
        drawn = [_drawn(clusters, c[firsts].astype(np.int64)) for c in columns]
        return np.array(
            [pair_pvalues(values[:, at], panel.valid[:, at], flips[:, t]) for at, t in drawn]
        )
    filled = within_segments(values, panel.valid)
    if unit_of(clusters) == DOCUMENTS:
        return _resampled_documents(filled, panel, columns, columns[:, firsts])
    valid, size = panel.valid.astype(np.float64), len(values)
    shape = (len(columns), size, size)
    parts = (filled[:, None] * valid[None], (filled**2)[:, None] * valid[None])
    sums, squares = ((columns @ part.reshape(size * size, -1).T).reshape(shape) for part in parts)
    products = filled[:, None] * filled[None]
    crossed = (columns @ products.reshape(size * size, -1).T).reshape(shape)
    pvalues = sums_to_pvalues(sums, squares, crossed)
    upper, lower = np.triu_indices(size, 1)
    shared = columns @ (valid[upper] * valid[lower]).T
    return np.where(shared > 0, pvalues, np.nan)


def _drawn(clusters: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """Return the segments of the documents drawn so often, and the number of each one's draw."""
    documents = np.repeat(np.arange(len(counts)), counts)
    members = np.argsort(clusters, kind="stable")
    sizes = np.bincount(clusters, minlength=len(counts))
    starts = np.cumsum(sizes) - sizes
    draws = np.repeat(np.arange(len(documents)), sizes[documents])
    first = np.cumsum(sizes[documents]) - sizes[documents]
    within = np.arange(len(draws)) - first[draws]
    return members[starts[documents[draws]] + within], draws


def _resampled_documents(
    filled: FloatArray, panel: Panel, columns: FloatArray, documents: FloatArray
) -> FloatArray:
    """Return p of pairs, samples x pairs, with gaps summed by document.

    ``columns`` and ``documents`` say how often each segment and each document is drawn.
    """
    upper, lower = np.triu_indices(len(filled), 1)
    shared = panel.valid[upper] & panel.valid[lower]
    gaps = sum_by(np.where(shared, filled[upper] - filled[lower], 0.0), panel.clusters)
    size = np.where(shared, filled[upper] ** 2 + filled[lower] ** 2, 0.0)
    pvalues = gaps_to_pvalues(documents @ gaps.T, documents @ (gaps**2).T, columns @ size.T)
    return np.where(columns @ shared.T.astype(np.float64) > 0, pvalues, np.nan)


def _over_pairs(values: FloatArray, w: FloatArray) -> FloatArray:
    pairs = _pair_weights(w)
    copies = (w * (w - 1.0) / 2.0).sum(axis=1)
    total = pairs.sum(axis=1) + copies
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(((pairs * values).sum(axis=1) + copies) / total)


def _pair_weights(w: FloatArray) -> FloatArray:
    """Return samples x pairs from samples x systems: how often two systems are drawn together."""
    upper, lower = np.triu_indices(w.shape[1], 1)
    return np.asarray(w[:, upper] * w[:, lower])


def _signs(means: FloatArray) -> FloatArray:
    upper, lower = np.triu_indices(means.shape[1], 1)
    return np.sign(means[:, upper] - means[:, lower])


def _dot(w: FloatArray, values: FloatArray) -> FloatArray:
    """Return the weighted sum over members of one vector, or of one vector per sample."""
    return np.asarray(w @ values if values.ndim == 1 else (w * values).sum(axis=1))
