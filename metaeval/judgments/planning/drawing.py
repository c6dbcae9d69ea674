"""Draw with known probabilities: the systems that an item shows, and the units of a sample."""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import (
    FloatArray,
    IntArray,
    as_floats,
    between,
    factorize,
    group_means,
    positive_int,
)
from metaeval.messages import data_error

# The integral over the time at which a system is drawn, on a logarithmic scale: step between nodes,
# the probability that any system arrives before the first node, and that the slowest has not
# arrived at the last.
STEP, BEFORE, AFTER = 0.125, 1e-14, 1e-300
# Logarithm of a hazard by which every system has arrived; exp(800) would be infinite.
GONE = 300.0


def standing_weights(means: ArrayLike) -> FloatArray:
    """Return the weight of every system by its mean score so far: 1 / (rank + 1), the best 0.

    The first two count alike, as WMT26's campaigns draw them: 1/2, 1/2, 1/3, 1/4, ... Systems with
    equal means have the mean of their weights, and one without a mean (nan) comes first.

    >>> standing_weights([70, 90, 80, 70]).round(3).tolist()
    [0.292, 0.5, 0.5, 0.292]
    """
    values = as_floats("means", means, ndim=1)
    values = np.where(np.isnan(values), np.finfo(float).max, values)
    weights = np.empty(len(values))
    weights[np.argsort(-values, kind="stable")] = 1 / np.maximum(2, 1 + np.arange(len(values)))
    groups, codes = factorize(values.tolist())
    return np.asarray(group_means(weights, codes, len(groups))[codes])


def inclusion(weights: ArrayLike, size: int, *, exploration: float = 0.0) -> FloatArray:
    """Return each system's probability of being among the `size` that are drawn.

    In a share `exploration` of the draws all sets are equally likely; in the others systems are
    drawn one after another without replacement, by weight. The latter is a race: system i arrives
    at an exponential time of rate w_i, and the first `size` are drawn (Efraimidis and Spirakis
    2006). So the probability is the integral, over the time at which i arrives, of the probability
    that fewer than `size` others have arrived, which is a sum over a Poisson binomial. Over the
    logarithm of time it is smooth whatever the ratios of the weights, and the trapezoid rule
    exact to some twelve digits.

    Raises DataError unless all weights are above 0 and `size` is from 1 to their number.

    >>> inclusion([0.5, 0.5, 1 / 3], 2).round(4).tolist()
    [0.725, 0.725, 0.55]
    >>> inclusion([1, 1, 1, 1], 3, exploration=0.5).tolist()
    [0.75, 0.75, 0.75, 0.75]
    """
    rates, size = _checked(weights, size, exploration)
    even = size / len(rates)
    if size == len(rates) or exploration == 1 or np.ptp(rates) == 0:
        return np.full(len(rates), even)
    logs = np.log(rates)
    first, last = np.log(BEFORE / len(logs)) - logs.max(), np.log(-np.log(AFTER)) - logs.min()
    hazards = np.exp(np.minimum(logs[:, None] + np.arange(first, last, STEP), GONE))
    gone, left = -np.expm1(-hazards), np.exp(-hazards)
    found = np.empty(len(rates))
    for i, hazard in enumerate(hazards):
        fewer = _fewer(np.delete(gone, i, axis=0), np.delete(left, i, axis=0), size)
        found[i] = (hazard * left[i] * fewer).sum()
    found *= size / found.sum()
    return np.asarray((1 - exploration) * found + exploration * even)


def _fewer(chances: FloatArray, others: FloatArray, size: int) -> FloatArray:
    """P(fewer than `size` of some events), the events in rows, independent within each column.

    `others` are 1 - `chances`, which a difference would round away.
    """
    counts = np.zeros((size, chances.shape[1]))
    counts[0] = 1
    for chance, other in zip(chances, others, strict=True):
        counts[1:] = counts[1:] * other + counts[:-1] * chance
        counts[0] *= other
    return np.asarray(counts.sum(axis=0))


def draw(
    weights: ArrayLike, size: int, *, rng: np.random.Generator, exploration: float = 0.0
) -> IntArray:
    """Draw `size` different systems as `inclusion` says, and return their places at random.

    Their order is random, because in order of drawing the better systems would mostly come first.
    """
    rates, size = _checked(weights, size, exploration)
    if rng.random() < exploration:
        rates = np.ones(len(rates))
    arrivals = rng.exponential(size=len(rates)) / rates
    return rng.permutation(np.argsort(arrivals)[:size])


def draw_evenly(strata: Sequence[Hashable], size: int, *, seed: int) -> list[int]:
    """Draw `size` different units, evenly from their strata, and return their places in order.

    Strata, and the units in each, are put in random order; every (N / size)-th unit from a random
    start is drawn (systematic sampling). So each unit is drawn with probability size / N, and of a
    stratum of n units n · size / N are drawn, rounded up or down. With one stratum all sets are
    equally likely. The draw depends on :meth:`random.Random.random` alone, whose numbers are the
    same in every version of Python.

    Raises DataError unless `size` is from 1 to the number of units.

    >>> draw_evenly(["a", "a", "b", "b"], 2, seed=1)
    [0, 2]
    """
    between("size", size, 1, len(strata))
    rng = random.Random(seed)
    of_stratum = {stratum: rng.random() for stratum in dict.fromkeys(strata)}
    order = sorted(range(len(strata)), key=lambda place: (of_stratum[strata[place]], rng.random()))
    start = int(rng.random() * len(strata))
    return sorted(order[(start + step * len(strata)) // size] for step in range(size))


def _checked(weights: ArrayLike, size: int, exploration: float) -> tuple[FloatArray, int]:
    rates = as_floats("weights", weights, ndim=1)
    if not len(rates) or not (rates > 0).all():
        raise data_error("argument.weights", "Give at least one weight, and only weights above 0.")
    between("size", positive_int("size", size), 1, len(rates))
    between("exploration", exploration, 0, 1)
    return rates, int(size)
