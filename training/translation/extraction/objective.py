"""What makes an extract good, and how long one searches for it (Schumann et al. 2020).

Written from the published formulas. Pure: numpy alone.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
# Their exponents of fluency and similarity, and what fluency is divided into.
FLUENCY_POWER, SIMILARITY_POWER, FLUENCY_SCALE = 1.0, 12.0, 10_000.0
# Steps and restarts per word and squared length.
STEP_SHARE, RESTART_SHARE = 0.1, 0.035


@dataclass(frozen=True)
class Budget:
    """How long to search for `length` of `n` words; small problems are searched through."""

    steps: int
    restarts: int
    combinations: int

    @property
    def is_exhaustive(self) -> bool:
        """Whether there are no more extracts than proposals."""
        return self.steps * self.restarts >= self.combinations


def budget(n: int, length: int) -> Budget:
    """Return the search's steps and restarts."""
    size = n * length**2
    steps, restarts = (max(1, int(size * share)) for share in (STEP_SHARE, RESTART_SHARE))
    return Budget(steps, restarts, math.comb(n, length))


def objective(nll: ArrayLike, cosine: ArrayLike) -> Floats:
    """Return fluency times similarity.

    `nll` is the mean −ln p of a word or piece with the end; where two directions are known, their
    mean. `cosine` is between the vectors of extract and sentence.
    """
    fluency = (FLUENCY_SCALE / np.exp(np.asarray(nll, dtype=float))) ** FLUENCY_POWER
    similarity = ((np.asarray(cosine, dtype=float) + 1.0) / 2.0) ** SIMILARITY_POWER
    return np.asarray(fluency * similarity)
