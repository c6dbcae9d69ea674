"""WMT26's check of annotators who rate several systems on one screen."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    as_floats,
    factorize,
    group_means,
    one_length,
)
from metaeval.messages import message
from metaeval.results import Notes, Result, TooFewWarning

# The expected mean for independent differences with the spread of the two systems' scores:
# E[2^(-z²/2)] of a standard normal z.
CHANCE = float(1 / np.sqrt(1 + np.log(2)))


@dataclass(frozen=True, kw_only=True, eq=False)
class ScreenAgreement(Result):
    """How well each annotator's differences fit the systems' means; arrays follow ``annotators``.

    ``agreement`` is a mean over ``pairs`` of scores, nan without any; ``screens`` counts those of
    an annotator. ``n`` counts pairs.
    """

    annotators: tuple[Any, ...]
    agreement: FloatArray
    pairs: IntArray
    screens: IntArray
    flagged: BoolArray


def screen_agreement(
    scores: ArrayLike,
    annotators: Iterable[Hashable],
    screens: Iterable[Hashable],
    segments: Iterable[Hashable],
    systems: Iterable[Hashable],
    *,
    threshold: float = 0.75,
    min_screens: int = 3,
    min_scores: int = 11,
) -> ScreenAgreement:
    """Flag annotators whose differences between systems are unlikely, as WMT26 drops them.

    Each pair of systems with scores of one segment on one screen counts
    2^-((d - mu)^2 / (2 (s1^2 + s2^2) + 1e-6)), where d is the difference of the two scores, mu that
    of the systems' means over everybody, and s^2 are their variances (``humeval/02a`` of
    wmt-conference/wmt26-general-mt). An annotator with at least ``min_screens`` screens and a mean
    below ``threshold`` is flagged; systems with fewer than ``min_scores`` scores count nowhere.

    The published bound is close to what honest noise gives: differences that spread as the scores
    of both systems do, unrelated to each other, have an expected mean of `CHANCE`, .768. So a flag
    is a reason to look at an annotator, not to drop one.

    Parameters
    ----------
    scores
        Raw scores of outputs, 0-100, without tutorials and controls; nan is skipped.
    annotators, screens, segments, systems
        Of each score. A screen's name need only be unique within its annotator.

    Raises
    ------
    DataError
        If the lengths differ.

    Warns
    -----
    TooFewWarning
        No screen has two systems that can be compared.
    """
    values = as_floats("scores", scores, ndim=1)
    names, who = factorize(annotators)
    _, system = factorize(systems)
    screen, segment = (factorize(each)[1] for each in (screens, segments))
    one_length(scores=values, annotators=who, screens=screen, segments=segment, systems=system)
    means, variances = _moments(values, system, min_scores)
    usable = ~np.isnan(values) & ~np.isnan(means[system])
    likely, rater = _pairs(values, who, screen, segment, system, usable, means, variances)
    notes = Notes()
    if not len(likely):
        notes.warn(
            TooFewWarning(
                message(
                    "screens.too-few",
                    "No item has outputs of two systems with enough scores to compare them.",
                )
            )
        )
    seen = np.unique(np.stack([who, screen])[:, usable], axis=1)[0]
    counts = np.bincount(seen, minlength=len(names))
    agreement = group_means(likely, rater, len(names))
    return ScreenAgreement(
        n=len(likely),
        **notes.fields,
        annotators=tuple(names),
        agreement=agreement,
        pairs=np.bincount(rater, minlength=len(names)),
        screens=counts,
        flagged=(counts >= min_screens) & (np.nan_to_num(agreement, nan=1.0) < threshold),
    )


def _moments(values: FloatArray, system: IntArray, least: int) -> tuple[FloatArray, FloatArray]:
    """Return the mean and variance of each system's scores; nan for fewer than `least` scores."""
    n = int(system.max(initial=-1)) + 1
    known = ~np.isnan(values)
    counts = np.bincount(system[known], minlength=n)
    means = group_means(values[known], system[known], n)
    squares = group_means((values[known] - means[system[known]]) ** 2, system[known], n)
    return tuple(np.where(counts >= least, each, np.nan) for each in (means, squares))  # type: ignore[return-value]


def _pairs(
    values: FloatArray, who: IntArray, screen: IntArray, segment: IntArray, system: IntArray,
    usable: BoolArray, means: FloatArray, variances: FloatArray,
) -> tuple[FloatArray, IntArray]:  # fmt: skip
    """The likelihood of every pair's difference, and whose it is."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for place in np.flatnonzero(usable):
        key = (int(who[place]), int(screen[place]), int(segment[place]))
        groups.setdefault(key, []).append(int(place))
    found = [
        pair
        for places in groups.values()
        for pair in combinations(places, 2)
        if system[pair[0]] != system[pair[1]]
    ]
    first, second = np.array(found, dtype=np.int64).reshape(-1, 2).T
    one, two = system[first], system[second]
    gaps = values[first] - values[second] - (means[one] - means[two])
    likely = 2.0 ** -(gaps**2 / (2 * (variances[one] + variances[two]) + 1e-6))
    return likely, who[first]
