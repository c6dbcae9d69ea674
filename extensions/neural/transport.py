"""Compute optimal transport between two bags of vectors from a cost matrix.

Rubner et al. 2000, The earth mover's distance as a metric for image retrieval, eq. 1–5. If both
sides have the same number of points of equal weight, an optimal plan is a permutation (Birkhoff),
so an assignment solves it. Other problems use POT's network simplex.
"""

from math import gcd

import numpy as np
from numpy.typing import NDArray
from ot.lp.emd_wrap import emd_c
from scipy.optimize import linear_sum_assignment

from metaeval.messages import message
from metrics.base import MetricError

Array = NDArray[np.float64]

# POT's default is 100,000 pivots; texts of 512 pieces may need more.
MAX_PIVOTS = 10_000_000
OPTIMAL = 1  # the only status of POT's solver with an optimal cost


def transport_cost(cost: Array, left: Array | None = None, right: Array | None = None) -> float:
    """Return the least mean cost of moving one bag onto the other, in the unit of ``cost``.

    ``cost`` is (m, n); ``left`` (m,) and ``right`` (n,) are weights of any positive sum, None for
    equal ones. Raises ValueError for invalid input and a permanent
    :class:`~metrics.base.MetricError` if the solver does not reach the optimum.
    """
    cost = _checked(cost)
    m, n = cost.shape
    if left is None and right is None:
        return _uniform(cost)
    supplies = np.full(m, 1 / m) if left is None else _masses(left, m, "left")
    demands = np.full(n, 1 / n) if right is None else _masses(right, n, "right")
    # With rounding errors in the sums, the solver would find no solution.
    return _solve(cost, supplies, demands * (supplies.sum() / demands.sum()))[0]


def integer_flow(cost: Array) -> NDArray[np.int64]:
    """Return an optimal plan between equal weights, (m, n), in units of 1/lcm(m, n).

    Rows sum to n/g and columns to m/g with g = gcd(m, n). The cost of an optimal plan is unique;
    the plan may not be.
    """
    cost = _checked(cost)
    return np.rint(_solve(cost, *_integer_masses(*cost.shape))[1]).astype(np.int64)


def flow_dropout_cost(cost: Array, rate: float = 0.3) -> float:
    """Return the cost of the plan without its small flows; the rest is not scaled up.

    As in XMoverScore's later release: the threshold is the max(int(rate × count), 1)-th of the
    positive flows in ascending order, and smaller flows are dropped. The release compares flows
    with rounding errors, so it drops ties at random; here flows are integers, and ties are kept.
    """
    flow = integer_flow(cost)
    positive = np.sort(flow[flow > 0])
    threshold = positive[max(int(rate * len(positive)), 1) - 1]
    kept = np.where(flow >= threshold, flow, 0)
    return float((kept * cost).sum() / flow.sum())


def _uniform(cost: Array) -> float:
    m, n = cost.shape
    if m == 1 or n == 1:
        return float(cost.mean())
    if m == n:
        return float(cost[linear_sum_assignment(cost)].mean())
    return _solve(cost, *_integer_masses(m, n))[0] * gcd(m, n) / (m * n)


def _integer_masses(m: int, n: int) -> tuple[Array, Array]:
    """Return integer masses, whose sums and differences are exact in the simplex."""
    common = gcd(m, n)
    return np.full(m, float(n // common)), np.full(n, float(m // common))


def _solve(cost: Array, supplies: Array, demands: Array) -> tuple[float, Array]:
    """Return the cost and the plan of POT's network simplex."""
    plan, total, _, _, status = emd_c(supplies, demands, cost, MAX_PIVOTS, 1)
    if status != OPTIMAL:
        m, n = cost.shape
        problem = message(
            "transport.not-solved",
            "The transport problem of {rows} × {columns} tokens was not solved (status {status}).",
            rows=m,
            columns=n,
            status=str(status),
        )
        raise MetricError(problem, permanent=True)
    return float(total), plan


def _checked(cost: Array) -> Array:
    cost = np.ascontiguousarray(cost, dtype=np.float64)
    if cost.ndim != 2 or not cost.size:
        raise ValueError(f"cost must be a matrix with at least one cell, not {cost.shape}")
    # One pass: a sum of such numbers is finite if and only if all of them are.
    if not np.isfinite(cost.sum()):
        raise ValueError("cost holds numbers that are not finite")
    return cost


def _masses(weights: Array, size: int, side: str) -> Array:
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (size,):
        raise ValueError(f"{side} must have {size} weights, not {weights.shape}")
    total = weights.sum()
    if not np.isfinite(total) or (weights < 0).any() or total <= 0:
        raise ValueError(f"{side}: weights must be finite, none negative, and not all zero")
    return np.ascontiguousarray(weights / total)
