"""One number a system: over which cells, and of what.

A system's score rests on the cells that both sides have: the mean of its segment scores there, or a
corpus metric's score of the counts summed there. Each side over its own cells compares a mean over
the judged segments with one over others.
"""

from __future__ import annotations

import numpy as np

from metaeval.arrays import BoolArray, FloatArray, row_means
from metaeval.corpus import ScoreFunction


def system_scores(
    values: FloatArray,
    cells: BoolArray,
    *,
    counts: FloatArray | None = None,
    score: ScoreFunction | None = None,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Score systems over some cells: (systems,), or samples x systems with weights.

    Parameters
    ----------
    values, cells
        systems x segments: scores, and True where a cell counts. A cell without a score never
        does; a system without any cell is nan.
    counts, score
        Of a corpus metric: systems x segments x k, and the score of their sums (h x k).
    weights
        samples x segments: how often each segment counts, as in a bootstrap sample.

    Examples
    --------
    >>> values = np.array([[1.0, 2.0, 6.0], [3.0, np.nan, 5.0]])
    >>> system_scores(values, np.array([[True, True, False]] * 2)).tolist()
    [1.5, 3.0]
    >>> system_scores(values, values > 0, weights=np.array([[2.0, 0, 1]])).round(2).tolist()
    [[2.67, 3.67]]
    """
    known = cells & ~np.isnan(values)
    if weights is None and (counts is None or score is None):
        return row_means(np.where(known, values, np.nan))
    drawn = np.ones((1, values.shape[1])) if weights is None else weights
    n = drawn @ known.T.astype(np.float64)
    if counts is None or score is None:
        sums = drawn @ np.where(known, values, 0.0).T
        return np.where(n > 0, sums / np.maximum(n, 1.0), np.nan)
    kept = np.where(known[:, :, None], counts, 0.0)
    added = np.einsum("bs,hsk->bhk", drawn, kept) if weights is not None else kept.sum(axis=1)[None]
    scored = np.asarray(score(added.reshape(-1, added.shape[2]))).reshape(n.shape)
    found = np.where(n > 0, scored, np.nan)
    return np.asarray(found if weights is not None else found[0])
