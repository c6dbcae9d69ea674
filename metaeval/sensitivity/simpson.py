"""Simpson's paradox between systems and segments: pooled correlations and those within systems.

Outputs pooled over systems mix two questions: which system is better, and which output of a system.
A metric can correlate with the humans because it recognises the better system although it ranks
the outputs within every system the wrong way round, and vice versa.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metaeval.arrays import FloatArray, IntArray, group_means
from metaeval.correlation.coefficients import kendall, pearson
from metaeval.messages import Message


@dataclass(frozen=True)
class WithinSystem:
    """The outputs of one system; ``is_opposite`` if r has the opposite sign of the pooled r."""

    system: int
    n: int
    mean_x: float
    mean_y: float
    r: float
    tau: float
    is_opposite: bool


@dataclass(frozen=True)
class Pooled:
    """Pooled r and τ-b; ``r_within`` after subtracting each system's mean on both sides.

    ``n_opposite`` of ``n_known`` systems have the opposite sign.
    """

    r: float
    tau: float
    r_within: float | None
    is_paradox: bool
    n_opposite: int
    n_known: int
    warnings: tuple[Message, ...]


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
    """Return pooled correlations and those within systems; without ``system`` only pooled ones.

    It is a paradox if r within systems has the opposite sign, or r of most systems.
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
    """Return values minus the mean of their system."""
    return np.asarray(values - group_means(values, system, int(system.max()) + 1)[system])
