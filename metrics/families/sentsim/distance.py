"""Distances between two texts as bags of token vectors (Song et al. 2021; Kusner et al. 2015).

Vectors are used as the encoder gives them, not at length 1.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from metrics.families.transport import transport_cost

Array = NDArray[np.float64]


def word_movers_distance(left: Array, right: Array) -> float:
    """Return the exact transport cost of (m, d) onto (n, d) vectors, Euclidean, uniform weights."""
    return transport_cost(cdist(left, right))


def mean_distance(left: Array, right: Array) -> float:
    """Return the Euclidean distance of the two mean vectors ("SMD")."""
    return float(np.linalg.norm(left.mean(axis=0) - right.mean(axis=0)))


def largest_distance(left: Array, right: Array) -> float:
    """Return mean |x| + mean |y|, which no transport cost exceeds: the distance of a blank text."""
    lengths = [float(np.linalg.norm(vectors, axis=1).mean()) for vectors in (left, right)]
    return sum(lengths)
