"""Whether a metric prefers a text that is worse by construction to the one it was made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import FloatArray, IntArray, as_floats, as_pair, mean
from metaeval.judgments.controls.consistency import pass_rate
from metaeval.results import Notes, StatisticResult, TooFewWarning

NOTHING = "No segment has both scores: the preference is undefined."


@dataclass(frozen=True, kw_only=True, eq=False)
class Preference(StatisticResult):
    """``statistic`` is the share of segments with d > 0; ``n`` counts segments.

    ``interval`` is Wilson's for that share. ``differences`` are d of each segment, ``mean`` and
    ``median`` theirs, ``ties`` the share with d = 0.
    """

    differences: FloatArray
    mean: float
    median: float
    ties: float

    def histogram(self, bins: int = 21) -> tuple[IntArray, FloatArray]:
        """Return counts (3, bins) of d < 0, d = 0 and d > 0, and edges (bins + 1,).

        Edges lie symmetrically about 0; with an odd number of bins ties are in the middle one.
        """
        reach = float(np.abs(self.differences).max(initial=0.0)) or 1.0
        edges = np.linspace(-reach, reach, bins + 1)
        signs = np.sign(self.differences)
        parts = [np.histogram(self.differences[signs == sign], edges)[0] for sign in (-1, 0, 1)]
        return np.stack(parts), edges


@dataclass(frozen=True, kw_only=True, eq=False)
class PooledPreference(StatisticResult):
    """A preference over the segments of several test sets, without what only those tell."""

    mean: float
    ties: float


def pool_preferences(
    counts: ArrayLike, shares: ArrayLike, means: ArrayLike, ties: ArrayLike
) -> PooledPreference:
    """Take preferences over disjoint segments together, as if all had been asked at once.

    A set without segments counts nothing, whatever is said of it.

    Examples
    --------
    >>> result = pool_preferences([4, 1], [0.5, 1.0], [0.1, 0.6], [0.25, 0.0])
    >>> result.n, result.statistic, round(result.mean, 3), result.ties
    (5, 0.6, 0.2, 0.2)
    """
    n = as_floats("counts", counts, ndim=1)
    columns = (("shares", shares), ("means", means), ("ties", ties))
    preferred, moved, equal = (_total(n, name, values) for name, values in columns)
    total, notes = int(n.sum()), Notes()
    rate = pass_rate(round(preferred), total)
    if not total:
        notes.warn(TooFewWarning(NOTHING))
    return PooledPreference(
        n=total,
        warnings=notes.warnings,
        statistic=rate.statistic,
        interval=rate.interval,
        method="share of segments that prefer the altered text",
        mean=moved / total if total else np.nan,
        ties=equal / total if total else np.nan,
    )


def _total(n: FloatArray, name: str, values: ArrayLike) -> float:
    """Sum over segments of what is said of each set; of a set without any that is nan."""
    known = as_floats(name, values, ndim=1)
    if known.shape != n.shape or np.isnan(known[n > 0]).any():
        raise ValueError(f"{name}: expected a number for each set that has segments")
    return float(n @ np.where(n > 0, known, 0.0))


def preference(altered: ArrayLike, original: ArrayLike) -> Preference:
    """d(a, b; x) = m(x, a) - m(x, b) of altered texts a against originals b (Zhao et al. 2020).

    The share with d > 0, ties not counted, is the paper's W2W where a is a word-by-word
    translation: a good metric has few. The mean is the variation of the score under the change
    (table 11 of the ReFreeEval paper has it for sentence similarity).

    Parameters
    ----------
    altered, original
        Scores of each segment, higher better; nan on either side is left out and counted.

    Examples
    --------
    >>> result = preference([0.4, 0.5, 0.3, 0.6], [0.3, 0.5, 0.5, 0.2])
    >>> result.statistic, result.ties
    (0.5, 0.25)
    >>> round(result.interval.low, 3), round(result.interval.high, 3)
    (0.15, 0.85)
    """
    left, right = as_pair("altered", altered, "original", original)
    notes = Notes()
    missing = np.isnan(left) | np.isnan(right)
    notes.exclude("missing score", int(missing.sum()))
    differences = (left - right)[~missing]
    n = len(differences)
    if not n:
        notes.warn(TooFewWarning(NOTHING))
    return Preference(
        n=n,
        **notes.fields,
        statistic=float((differences > 0).mean()) if n else np.nan,
        interval=pass_rate(int((differences > 0).sum()), n).interval,
        method="share of segments that prefer the altered text",
        differences=differences,
        mean=mean(differences),
        median=float(np.median(differences)) if n else np.nan,
        ties=float((differences == 0).mean()) if n else np.nan,
    )
