"""Metric scores against delivered length where human scores are held constant."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import FloatArray, as_floats, fraction, mean_along, positive_int
from metaeval.documents import clusters_from, sizes_of, unit_of
from metaeval.messages import message, plural
from metaeval.resampling import Rng, resolve_seed
from metaeval.results import ConstantInputWarning, Notes, StatisticResult, TooFewWarning
from metaeval.systems.shortness.resampled import interval_of

FEWEST = 4
# A variance or a determinant below this share of its scale is a rounding error.
NOTHING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class PartialCorrelation(StatisticResult):
    """``statistic`` is r(metric, length | human); ``n`` counts outputs, ``n_segments`` segments.

    ``unit`` is the resampled unit (documents or segments), ``n_units`` their number. Above 0 the
    metric prefers longer outputs more than human scores justify: it penalises shortness as such.
    The three plain correlations are included.
    """

    n_segments: int
    unit: str
    n_units: int
    metric_length: float
    human_length: float
    metric_human: float


def partial_on_length(
    metric: ArrayLike,
    human: ArrayLike,
    length: ArrayLike,
    *,
    within_segments: bool = True,
    documents: Iterable[Hashable] | None = None,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    rng: Rng = None,
) -> PartialCorrelation:
    """Partial correlation of a metric with delivered length, given the human scores.

    r(m, l | h) = (r_ml - r_mh r_lh) / sqrt((1 - r_mh²)(1 - r_lh²)) over outputs. Human scores are
    noisy, so they explain less of the metric than true quality would: a part of a positive value is
    due to this noise (attenuation), and only a large value is meaningful.

    Parameters
    ----------
    metric, human, length
        Systems x segments, scores higher better; length as a share of the full length. An output
        with nan in any of them is excluded and counted.
    within_segments
        Subtract each segment's mean from all three first, so that effects of long and hard segments
        are not attributed to long outputs.
    documents
        The document of each segment; by default each is one.
    confidence, n_resamples, rng
        Of the percentile interval over documents drawn with replacement.

    Warns
    -----
    TooFewWarning
        Fewer than 4 outputs: nan; fewer than 20 segments, or 6 documents: no interval.
        Fewer than 20 documents: the interval is approximate.
    ApproximationWarning
        Fewer than 100 segments: the interval is somewhat too narrow.
    ConstantInputWarning
        Scores or lengths do not vary: nan.

    Examples
    --------
    >>> length = [[0.5, 0.5, 0.6], [0.8, 0.7, 0.9], [1.0, 1.1, 1.0]]
    >>> human = [[40.0, 60.0, 55.0], [70.0, 55.0, 80.0], [75.0, 70.0, 60.0]]
    >>> metric = [[0.3, 0.4, 0.4], [0.6, 0.5, 0.7], [0.8, 0.9, 0.7]]
    >>> result = partial_on_length(metric, human, length, n_resamples=200, rng=1)
    >>> round(result.statistic, 3), round(result.metric_human, 3), result.n
    (0.992, 0.797, 9)
    """
    values = np.stack([
        as_floats(name, each, ndim=2)
        for name, each in (("metric", metric), ("human", human), ("length", length))
    ])  # fmt: skip
    fraction("confidence", confidence)
    positive_int("n_resamples", n_resamples)
    seed, notes = resolve_seed(rng), Notes()
    of = clusters_from(documents, values.shape[2])
    known = ~np.isnan(values).any(axis=0)
    notes.exclude("missing-score-or-length", int((~known).sum()))
    values = np.where(known, values, np.nan)
    if within_segments:
        values = values - mean_along(values, axis=1)[:, None, :]
    sums = _sums(values, known)
    n = int(known.sum())
    plain, statistic = _plain(sums.sum(axis=0)[None]), _partial(sums.sum(axis=0)[None])
    _warn(notes, n, float(statistic[0]))
    interval = None if np.isnan(statistic[0]) else interval_of(
        sums, _partial, of, n_resamples=n_resamples, seed=seed, confidence=confidence, notes=notes
    )  # fmt: skip
    return PartialCorrelation(
        n=n,
        **notes.fields,
        statistic=float(statistic[0]),
        method="partial correlation with length given human scores"
        + (", within segments" if within_segments else ""),
        interval=interval,
        n_resamples=n_resamples,
        seed=seed,
        n_segments=int(known.any(axis=0).sum()),
        unit=unit_of(of[known.any(axis=0)]),
        n_units=len(sizes_of(of[known.any(axis=0)])),
        metric_length=float(plain[0][0]),
        human_length=float(plain[1][0]),
        metric_human=float(plain[2][0]),
    )


def _warn(notes: Notes, n: int, statistic: float) -> None:
    if n < FEWEST:
        notes.warn(
            TooFewWarning(
                plural(
                    "partial.few-outputs",
                    "Only {n} output has all scores. A partial correlation needs at least "
                    "{fewest}.",
                    "Only {n} outputs have all scores. A partial correlation needs at least "
                    "{fewest}.",
                    n=n,
                    fewest=FEWEST,
                )
            )
        )
    elif np.isnan(statistic):
        notes.warn(
            ConstantInputWarning(
                message(
                    "partial.constant",
                    "The partial correlation is undefined, because scores or lengths are all equal "
                    "or one of them is determined by the human scores.",
                )
            )
        )


def _sums(values: FloatArray, known: FloatArray) -> FloatArray:
    """Return (segments, 10): n, sums, squares and products of metric, human, length.

    Means are subtracted first, because sums of squares of large scores lose digits.
    """
    overall = np.array([each[known].mean() if known.any() else 0.0 for each in values])
    m, h, d = np.where(known, values - overall[:, None, None], 0.0)
    parts = [known.astype(float), m, h, d, m * m, h * h, d * d, m * h, m * d, h * d]
    return np.stack([part.sum(axis=0) for part in parts], axis=1)


def _plain(sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return r of metric and length, human and length, metric and human, (resamples,) each."""
    n, m, h, d, mm, hh, ll, mh, ml, hl = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = [square / n - (each / n) ** 2 for square, each in ((mm, m), (hh, h), (ll, d))]
        scales = [square / n for square in (mm, hh, ll)]
        spread = [np.where(v > NOTHING * np.maximum(s, 1e-300), v, np.nan)
                  for v, s in zip(variances, scales, strict=True)]  # fmt: skip
        products = {"ml": ml / n - m * d / n**2, "hl": hl / n - h * d / n**2,
                    "mh": mh / n - m * h / n**2}  # fmt: skip
        return (
            products["ml"] / np.sqrt(spread[0] * spread[2]),
            products["hl"] / np.sqrt(spread[1] * spread[2]),
            products["mh"] / np.sqrt(spread[0] * spread[1]),
        )


def _partial(sums: FloatArray) -> FloatArray:
    ml, hl, mh = _plain(sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = (1 - mh**2) * (1 - hl**2)
        found = (ml - mh * hl) / np.sqrt(np.where(rest > NOTHING, rest, np.nan))
    return np.where(sums[:, 0] >= FEWEST, found, np.nan)
