"""What a corpus metric's r over hybrids tends to: its score as a line through the mean counts."""

from __future__ import annotations

import numpy as np

from metaeval.arrays import BoolArray, FloatArray
from metaeval.corpus import ScoreFunction

# Relative step of the numerical slope: small beside the counts' spread, large beside rounding.
STEP = 1e-4


def corpus_limit(
    h: FloatArray, counts: FloatArray, score: ScoreFunction, drawable: BoolArray
) -> tuple[float, FloatArray]:
    """Return r over infinitely many hybrids and each segment's influence on it.

    A hybrid's counts lie close to the sum of the segments' mean counts, so its score is nearly
    linear in them, with slope g: the score of a cell is g . counts. Its r then has the closed form
    of a segment metric. The influence is the jackknife's, which takes a new slope each time.

    Parameters
    ----------
    h
        systems x segments, human differences from each segment's mean; zero where not drawable.
    counts
        systems x segments x k.
    """
    k = np.maximum(drawable.sum(axis=0), 1)
    kept = np.where(drawable[:, :, None], counts, 0.0)
    means = kept.sum(axis=0) / k[:, None]
    away = np.where(drawable[:, :, None], counts - means, 0.0)
    shared = np.einsum("sj,sjk->jk", h, away) / k[:, None]
    spread = np.einsum("sjk,sjl->jkl", away, away) / k[:, None, None]
    own = (h * h).sum(axis=0) / k
    total, every = means.sum(axis=0), (shared.sum(axis=0), spread.sum(axis=0), own.sum())
    whole = _r(slopes(score, total[None]), every[0][None], every[1][None], every[2][None])[0]
    informative = np.flatnonzero(drawable.sum(axis=0) > 1)
    influence = np.zeros(len(k))
    n = len(informative)
    if np.isnan(whole) or n < 2:
        return float(whole), influence
    without = _r(
        slopes(score, total - means[informative]),
        every[0] - shared[informative],
        every[1] - spread[informative],
        every[2] - own[informative],
    )
    influence[informative] = (n - 1) / n * (without.mean() - without)
    return float(whole), influence


def slopes(score: ScoreFunction, sums: FloatArray) -> FloatArray:
    """Return the gradient of a score at summed counts (rows x k), by central differences."""
    steps = STEP * np.maximum(np.abs(sums), 1.0)
    columns = []
    for place in range(sums.shape[1]):
        moved = np.zeros(sums.shape)
        moved[:, place] = steps[:, place]
        columns.append((score(sums + moved) - score(sums - moved)) / (2.0 * steps[:, place]))
    return np.stack(columns, axis=1)


def _r(g: FloatArray, shared: FloatArray, spread: FloatArray, own: FloatArray) -> FloatArray:
    above = np.einsum("rk,rk->r", g, shared)
    below = own * np.einsum("rk,rkl,rl->r", g, spread, g)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = above / np.sqrt(np.where(below > 0.0, below, np.nan))
    return np.asarray(np.clip(r, -1.0, 1.0))
