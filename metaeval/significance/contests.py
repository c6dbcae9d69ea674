"""Two systems, or two metrics, against each other: how often each is better."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import BoolArray, FloatArray, IntArray, as_floats, fraction, one_length, one_of
from metaeval.correlation.intervals.independent import (
    FEWEST_SCORES,
    effective_outcomes,
    wilson_interval,
)
from metaeval.documents import DOCUMENTS, SEGMENTS, has_enough_documents, unit_of
from metaeval.messages import message
from metaeval.results import Interval, Notes, Result, TooFewWarning
from metaeval.significance.trainings import gain_interval


@dataclass(frozen=True)
class Share:
    """How many of all outcomes, as a number and a share; without outcomes nan and no interval."""

    count: int
    share: float
    interval: Interval | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Contest(Result):
    """``wins`` of the first side, ``ties``, and ``losses``; ``n`` counts outcomes.

    ``lead`` is the share of wins minus that of losses, with the interval of `paired_gain`, which is
    None below five units. Below six documents there is no interval at all.

    ``unit`` is ``documents`` or ``segments``, and ``n_units`` their number. Outcomes of one unit,
    such as the pairs of systems of one segment, are not independent.
    """

    wins: Share
    ties: Share
    losses: Share
    unit: str
    n_units: int
    lead: float
    lead_interval: Interval | None


def contest(
    outcomes: ArrayLike,
    units: ArrayLike | None = None,
    *,
    unit: str = SEGMENTS,
    confidence: float = 0.95,
) -> Contest:
    """Count outcomes above, at and below zero.

    Intervals are Wilson's (1927) with the effective number of outcomes (Kish 1965): their number
    by the design effect, which is the variance of the share clustered by unit over p (1 - p) / n.
    With one outcome per unit they are Wilson's own. The variance of a share of 0 or 1 cannot be
    estimated, so the number of units is used. The lead's is the adjusted Wald interval of
    `paired_gain`, with its own effective number; with independent outcomes the 95% interval covers
    94% or more (by enumeration).

    Parameters
    ----------
    outcomes
        Differences of two scores, or signs; nan is excluded and counted.
    units
        The unit of each outcome; by default each outcome is a unit.
    unit
        ``segments`` or ``documents``.

    Warns
    -----
    TooFewWarning
        There is no outcome. Fewer than 6 documents: no interval; fewer than 20: it is approximate.

    Examples
    --------
    >>> result = contest([1.0, 2.0, 0.0, -1.0])
    >>> result.wins.share, result.ties.share, result.losses.count
    (0.5, 0.25, 1)
    >>> round(result.wins.interval.low, 3), round(result.wins.interval.high, 3)
    (0.15, 0.85)
    """
    fraction("confidence", confidence)
    one_of("unit", unit, (SEGMENTS, DOCUMENTS))
    values = as_floats("outcomes", outcomes, ndim=1)
    labels = np.arange(len(values)) if units is None else np.asarray(units)
    one_length(outcomes=values, units=labels)
    notes, known = Notes(), ~np.isnan(values)
    notes.exclude("missing-score", int((~known).sum()))
    signs, places = np.sign(values[known]), np.unique(labels[known], return_inverse=True)[1]
    if not len(signs):
        notes.warn(
            TooFewWarning(
                message(
                    "contest.no-outcomes",
                    "No segment or pair of outputs allows a comparison of the two.",
                )
            )
        )
    is_enough = unit == SEGMENTS or has_enough_documents(places, notes)
    shares = [_share(signs == sign, places, confidence) for sign in (1, 0, -1)]
    if not is_enough:
        shares = [replace(share, interval=None) for share in shares]
    lead = float(signs.mean()) if len(signs) else np.nan
    return Contest(
        n=len(signs),
        **notes.fields,
        unit=unit,
        n_units=int(places.max(initial=-1)) + 1,
        wins=shares[0],
        ties=shares[1],
        losses=shares[2],
        lead=lead,
        lead_interval=_lead_interval(signs, places, confidence) if is_enough else None,
    )


def _lead_interval(signs: FloatArray, places: IntArray, confidence: float) -> Interval | None:
    """Return the interval for the effective number of independent outcomes, in the same shares."""
    n_units = int(places.max(initial=-1)) + 1
    if n_units < FEWEST_SCORES:
        return None
    size = effective_outcomes(signs, places)
    won, lost = (size * float((signs == sign).mean()) for sign in (1.0, -1.0))
    return gain_interval(won, lost, size, confidence, freedom=n_units - 1)


def _share(hits: BoolArray, places: IntArray, confidence: float) -> Share:
    n = len(hits)
    if not n:
        return Share(0, np.nan, None)
    count, share = int(hits.sum()), float(hits.mean())
    size = effective_outcomes(hits, places)
    low, high = wilson_interval(share, size, confidence=confidence)
    return Share(count, share, Interval(float(low), float(high), confidence))


def contest_of_metrics(
    human: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    clusters: IntArray | None = None,
    confidence: float = 0.95,
) -> Contest:
    """Compare two metrics by the pairs of outputs of a segment whose human scores differ.

    A metric is right about a pair that it orders as the humans do. ``wins`` are the pairs on which
    only the first is right, ``losses`` those on which only the second is, ``ties`` those on which
    both or neither are. Pairs of one document are a unit, or of one segment if no document has two.

    Parameters
    ----------
    human, first, second
        Scores (systems, segments), higher better; nan where there is none.
    clusters
        The number of each segment's document; by default each segment is one of its own.

    Examples
    --------
    >>> human = [[1.0, 2.0], [2.0, 1.0]]
    >>> result = contest_of_metrics(human, [[1.0, 2.0], [2.0, 1.0]], [[1.0, 1.0], [2.0, 2.0]])
    >>> result.wins.count, result.ties.count, result.losses.count
    (1, 1, 0)
    """
    sides = [
        as_floats(name, values, ndim=2)
        for name, values in (("human", human), ("first", first), ("second", second))
    ]
    n_systems, n_segments = sides[0].shape
    found = [_of_pair(sides, i, j) for i, j in combinations(range(n_systems), 2)]
    outcomes = np.array(found).reshape(-1)
    known = ~np.isnan(outcomes)
    each = np.arange(n_segments) if clusters is None else np.asarray(clusters)
    units = np.tile(each, len(found))
    unit = unit_of(each[known.reshape(-1, n_segments).any(axis=0)])
    return contest(outcomes[known], units[known], unit=unit, confidence=confidence)


def _of_pair(sides: list[FloatArray], i: int, j: int) -> FloatArray:
    """Return, by segment, 1 if only the first is right, -1 if only the second is, else 0.

    nan if a score is missing or the human scores are equal.
    """
    ours, *theirs = (np.sign(values[i] - values[j]) for values in sides)
    first, second = ((sign == ours).astype(np.float64) for sign in theirs)
    is_known = ~np.isnan(np.array([ours, *theirs])).any(axis=0) & (ours != 0)
    return np.where(is_known, first - second, np.nan)
