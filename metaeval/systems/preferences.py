"""Whether a metric prefers a text that is worse by construction to the one it was made from."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import FloatArray, IntArray, as_floats, as_pair, mean
from metaeval.correlation.intervals.independent import (
    effective_outcomes,
    share_interval,
    wilson_interval,
)
from metaeval.documents import clusters_from, has_enough_documents, sizes_of, unit_of
from metaeval.judgments.controls.consistency import pass_rate
from metaeval.results import Interval, Notes, StatisticResult, TooFewWarning

NOTHING = "No segment has both scores: the preference is undefined."


@dataclass(frozen=True, kw_only=True, eq=False)
class Preference(StatisticResult):
    """``statistic`` is the share of segments with d > 0; ``n`` counts segments.

    ``interval`` is Wilson's for that share, over ``n_units`` documents or segments, as ``unit``
    says; None below six documents. ``effective`` is how many independent segments
    would make the share as certain. ``differences`` are d of each segment, ``mean`` and
    ``median`` theirs, ``ties`` the share with d = 0.
    """

    differences: FloatArray
    mean: float
    median: float
    ties: float
    effective: float
    unit: str
    n_units: int

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
    counts: ArrayLike,
    shares: ArrayLike,
    means: ArrayLike,
    ties: ArrayLike,
    *,
    effective: ArrayLike | None = None,
) -> PooledPreference:
    """Take preferences over disjoint segments together, as if all had been asked at once.

    A set without segments counts nothing, whatever is said of it. ``effective`` is that of each
    `Preference`, where segments belong to documents; without it, ``counts``.

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
    worth = n if effective is None else as_floats("effective", effective, ndim=1)
    if worth.shape != n.shape:
        raise ValueError("effective: expected a number for each set")
    rate = pass_rate(round(preferred), total)
    if not total:
        notes.warn(TooFewWarning(NOTHING))
    return PooledPreference(
        n=total,
        warnings=notes.warnings,
        statistic=rate.statistic,
        interval=rate.interval
        if effective is None or not total
        else _interval(preferred, n, worth),
        method="share of segments that prefer the altered text",
        mean=moved / total if total else np.nan,
        ties=equal / total if total else np.nan,
    )


def _interval(preferred: float, n: FloatArray, effective: FloatArray) -> Interval:
    """Wilson's interval with the sum of the sets' variances, were their shares one."""
    has_any = n > 0
    size = float(n.sum() ** 2 / (n[has_any] ** 2 / effective[has_any]).sum())
    low, high = wilson_interval(round(preferred) / n.sum(), size)
    return Interval(float(low), float(high), 0.95)


def _total(n: FloatArray, name: str, values: ArrayLike) -> float:
    """Sum over segments of what is said of each set; of a set without any that is nan."""
    known = as_floats(name, values, ndim=1)
    if known.shape != n.shape or np.isnan(known[n > 0]).any():
        raise ValueError(f"{name}: expected a number for each set that has segments")
    return float(n @ np.where(n > 0, known, 0.0))


def preference(
    altered: ArrayLike, original: ArrayLike, *, documents: Iterable[Hashable] | None = None
) -> Preference:
    """d(a, b; x) = m(x, a) - m(x, b) of altered texts a against originals b (Zhao et al. 2020).

    The share with d > 0, ties not counted, is the paper's W2W where a is a word-by-word
    translation: a good metric has few. The mean is the variation of the score under the change
    (table 11 of the ReFreeEval paper has it for sentence similarity).

    Parameters
    ----------
    altered, original
        Scores of each segment, higher better; nan on either side is left out and counted.
    documents
        The document of each segment; without it each is one. The interval is then over documents
        (`metaeval.correlation.intervals.independent.share_interval`).

    Warns
    -----
    TooFewWarning
        No segment has both scores; fewer than 20 documents; below six there is no interval.

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
    n, of = len(differences), clusters_from(documents, len(left))[~missing]
    if not n:
        notes.warn(TooFewWarning(NOTHING))
    has_interval = has_enough_documents(of, notes) and n > 0
    return Preference(
        n=n,
        **notes.fields,
        statistic=float((differences > 0).mean()) if n else np.nan,
        interval=share_interval(differences > 0, of) if has_interval else None,
        method="share of segments that prefer the altered text",
        differences=differences,
        mean=mean(differences),
        median=float(np.median(differences)) if n else np.nan,
        ties=float((differences == 0).mean()) if n else np.nan,
        effective=effective_outcomes(differences > 0, of),
        unit=unit_of(of),
        n_units=len(sizes_of(of)),
    )
