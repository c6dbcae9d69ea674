"""What a difference of two systems' metric scores says: the probability that humans agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, stdtrit

from metaeval.arrays import FloatArray, as_pair, fraction
from metaeval.correlation.intervals.jackknife import FEWEST
from metaeval.messages import data_error, message
from metaeval.results import DirectionWarning, Interval, Notes, Result, TooFewWarning

# Intervals from 3 or 4 pairs of different sets cover the slope in 75 to 79 of 100 simulations.
FEWEST_PAIRS = 6


@dataclass(frozen=True, kw_only=True, eq=False)
class AgreementCurve(Result):
    """P(humans agree | difference d) = 1 / (1 + exp(-slope d)); ``n`` counts pairs of systems.

    ``slope_interval`` has nan ends below 6 systems or 6 pairs. ``agreeing`` counts the pairs that
    the metric orders as the humans do.
    """

    slope: float
    slope_interval: Interval
    agreeing: int
    n_systems: int

    def probability(self, difference: float) -> tuple[float, Interval]:
        """Return the probability that humans agree with a difference, whatever its sign."""
        size = abs(difference)
        low, high, confidence = self.slope_interval
        ends = Interval(float(expit(low * size)), float(expit(high * size)), confidence)
        return float(expit(self.slope * size)), ends

    def difference(self, probability: float) -> tuple[float, Interval]:
        """Return the difference from which humans agree with this probability, above .5."""
        if not 0.5 < probability < 1.0:
            raise data_error(
                "argument.probability", "The probability must be above .5 and below 1: {value}.",
                value=probability,
            )  # fmt: skip
        target = float(logit(probability))
        low, high, confidence = self.slope_interval
        return target / self.slope, Interval(target / high, target / low, confidence)


def agreement_curve(
    human: Mapping[str, ArrayLike], metric: Mapping[str, ArrayLike], *, confidence: float = 0.95
) -> AgreementCurve:
    """Fit the probability that humans prefer the system that a metric scores higher.

    Kocmi et al. (2024) ask what a difference of scores is worth, and answer with the share of
    pairs of systems on which humans agree. Here the curve is logistic and 1/2 at a difference
    of 0, so that it has one parameter; it is fitted with Firth's (1993) penalty, which keeps it
    finite when every pair agrees. Pairs share systems, so the interval is a jackknife over systems
    on the log scale, with t. Pairs that the humans tie are excluded; those that the metric ties
    say nothing.

    Parameters
    ----------
    human, metric
        Language pair -> scores of its systems, higher better; only systems of one pair are
        compared. A system with nan is excluded.

    Warns
    -----
    TooFewWarning
        Fewer than 6 systems or 6 pairs: no interval. No pair of systems differs on both sides: nan.
    DirectionWarning
        Humans agree no more often with larger differences: nan; without one system: no interval.

    Examples
    --------
    >>> found = agreement_curve({"en-de": [1, 2, 3, 4]}, {"en-de": [10.0, 12.0, 11.0, 15.0]})
    >>> found.n, found.agreeing, round(found.probability(2.0)[0], 2)
    (6, 5, 0.76)
    """
    fraction("confidence", confidence)
    if set(human) != set(metric) or not human:
        raise data_error(
            "argument.pairs", "Give the same language pairs for humans and metric, at least one."
        )
    notes = Notes()
    sides = []
    for name in human:
        x, y = as_pair(f"human {name}", human[name], f"metric {name}", metric[name])
        known = ~np.isnan(x + y)
        notes.exclude("system-without-score", int((~known).sum()))
        sides.append((x[known], y[known]))
    n_systems = sum(len(x) for x, _ in sides)
    sizes, hits, members = _pairs(sides)
    informative = sizes > 0.0
    slope = _slope(sizes, hits)
    interval = Interval(np.nan, np.nan, confidence)
    if not informative.any():
        notes.warn(
            TooFewWarning(
                message(
                    "agreement-curve.no-pairs",
                    "No two systems differ in both scores, so the curve is undefined.",
                )
            )
        )
    elif np.isnan(slope):
        notes.warn(
            DirectionWarning(
                message(
                    "agreement-curve.flat",
                    "Humans do not agree more often with larger differences, so the curve is "
                    "undefined.",
                )
            )
        )
    elif n_systems < FEWEST:
        notes.warn(
            TooFewWarning(
                message(
                    "agreement-curve.few-systems",
                    "There are only {n} systems. An interval needs at least {fewest}.",
                    n=n_systems,
                    fewest=FEWEST,
                )
            )
        )
    elif informative.sum() < FEWEST_PAIRS:
        notes.warn(
            TooFewWarning(
                message(
                    "agreement-curve.few-pairs",
                    "There are only {n} pairs of systems that differ in both scores. An interval "
                    "needs at least {fewest}.",
                    n=int(informative.sum()),
                    fewest=FEWEST_PAIRS,
                )
            )
        )
    else:
        others = [(members != system).all(axis=1) for system in range(n_systems)]
        logs = np.log([_slope(sizes[kept], hits[kept]) for kept in others])
        error = np.sqrt((n_systems - 1) / n_systems * ((logs - logs.mean()) ** 2).sum())
        half = float(stdtrit(n_systems - 1, 0.5 + confidence / 2.0) * error)
        interval = Interval(slope * np.exp(-half), slope * np.exp(half), confidence)
        if np.isnan(half):
            notes.warn(
                DirectionWarning(
                    message(
                        "agreement-curve.flat-without",
                        "Without one of the systems the curve is undefined, so it has no interval.",
                    )
                )
            )
    return AgreementCurve(
        n=len(sizes),
        **notes.fields,
        slope=slope,
        slope_interval=interval,
        agreeing=int(hits[informative].sum()),
        n_systems=n_systems,
    )


def _pairs(
    sides: Sequence[tuple[FloatArray, FloatArray]],
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return size of the metric's difference, whether humans agree, and both systems' numbers."""
    sizes, hits, members, start = [], [], [], 0
    for x, y in sides:
        upper, lower = np.triu_indices(len(x), 1)
        ours, theirs = x[upper] - x[lower], y[upper] - y[lower]
        counted = ours != 0.0
        sizes.append(np.abs(theirs)[counted])
        hits.append((ours * theirs > 0.0)[counted].astype(np.float64))
        members.append(np.stack([upper, lower], axis=1)[counted] + start)
        start += len(x)
    return np.concatenate(sizes), np.concatenate(hits), np.concatenate(members)


def _slope(sizes: FloatArray, hits: FloatArray) -> float:
    """Return the slope of the penalised fit, found by bisection on its logarithm.

    nan where it is not positive: at 0 the penalty is flat, and the likelihood falls.
    """
    hits, sizes = hits[sizes > 0.0], sizes[sizes > 0.0]
    if not (sizes * (hits - 0.5)).sum() > 0.0:
        return np.nan
    scale = float(np.sqrt((sizes**2).mean()))
    d = sizes / scale

    def score(b: float) -> float:
        p = expit(b * d)
        spread = d * d * p * (1.0 - p)
        penalty = 0.5 * float((spread * d * (1.0 - 2.0 * p)).sum() / spread.sum())
        return float((d * (hits - p)).sum()) + penalty

    # Above the upper end every probability is 1, and the penalty pulls the slope down.
    low, high = 1e-8, 40.0 / float(d.min())
    for _ in range(80):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if score(middle) > 0.0 else (low, middle)
    return low / scale
