"""Simpson's paradox between systems and segments: pooled correlations beside those within systems.

Outputs pooled over systems mix two questions: which system is better, and which output of one
system. A metric can correlate with the humans because it knows the better system, while within
every system it ranks the outputs the wrong way round, and the reverse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metaeval.arrays import FloatArray, IntArray, group_means
from metaeval.correlation.coefficients import kendall, pearson


@dataclass(frozen=True)
class WithinSystem:
    """One system's own outputs: ``is_opposite`` where r has another sign than pooled."""

    system: int
    n: int
    mean_x: float
    mean_y: float
    r: float
    tau: float
    is_opposite: bool


@dataclass(frozen=True)
class Pooled:
    """Pooled r and τ-b; ``r_within`` after each system's own mean is taken off on both sides.

    ``n_opposite`` of ``n_known`` systems have the opposite sign. ``warnings`` are sentences.
    """

    r: float
    tau: float
    r_within: float | None
    is_paradox: bool
    n_opposite: int
    n_known: int
    warnings: tuple[str, ...]


def within_systems(x: FloatArray, y: FloatArray, system: IntArray) -> list[WithinSystem]:
    """Return n, means and correlations of every system's own points, (n,) each, that has any."""
    overall = pearson(x, y).statistic if len(x) > 1 else np.nan
    found = []
    for index in np.unique(system).tolist():
        own = system == index
        ours, theirs = x[own], y[own]
        r, tau = (statistic(ours, theirs).statistic for statistic in (pearson, kendall))
        means = float(ours.mean()), float(theirs.mean())
        found.append(WithinSystem(index, len(ours), *means, r, tau, bool(r * overall < 0)))
    return found


def pooled(x: FloatArray, y: FloatArray, system: IntArray | None) -> Pooled:
    """Return pooled correlations and those within systems; with None nothing lies within.

    The paradox is there where r within has the opposite sign, or most systems have.
    """
    both = pearson(x, y), kendall(x, y)
    warnings = tuple(dict.fromkeys(w.message for each in both for w in each.warnings))
    r, tau = (each.statistic for each in both)
    if system is None or len(np.unique(system)) < 2:
        return Pooled(r, tau, None, False, 0, 0, warnings)
    within = pearson(_centred(x, system), _centred(y, system)).statistic
    known = [one for one in within_systems(x, y, system) if one.r == one.r]
    opposite = sum(one.is_opposite for one in known)
    is_paradox = bool(within * r < 0 or (known and opposite > len(known) / 2))
    return Pooled(r, tau, within, is_paradox, opposite, len(known), warnings)


def _centred(values: FloatArray, system: IntArray) -> FloatArray:
    """Values less the mean of their system."""
    return np.asarray(values - group_means(values, system, int(system.max()) + 1)[system])
