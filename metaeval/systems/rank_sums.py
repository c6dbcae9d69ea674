"""Rank-sum tests between systems: Wilcoxon's over segments, and with documents as clusters."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtr

from metaeval.arrays import FloatArray, IntArray
from metaeval.documents import FEWEST_DOCUMENTS, SEGMENTS, effective_units, recoded, unit_of


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
            table[i, j], table[j, i] = _pvalues(above, below, of_first, of_second)
    return table


def _pvalues(
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
