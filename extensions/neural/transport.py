"""Optimal transport between two bags of vectors: the exact cost of a cost matrix, nothing else.

Rubner et al. 2000, The earth mover's distance as a metric for image retrieval, eq. 1–5. Where both
sides have as many points and all weigh the same, an optimal plan is a permutation (Birkhoff), so
an assignment solves it; anything else goes to POT's network simplex.
"""

from collections.abc import Sequence
from math import gcd

import numpy as np
from numpy.typing import NDArray
from ot.lp.emd_wrap import emd_c
from scipy.optimize import linear_sum_assignment

from metaeval.messages import message
from metrics.base import MetricError

Array = NDArray[np.float64]

# POT's own limit is 100,000 pivots; texts of 512 pieces may need more.
MAX_PIVOTS = 10_000_000
OPTIMAL = 1  # the only status of POT's solver after which its cost is the least


def transport_cost(cost: Array, left: Array | None = None, right: Array | None = None) -> float:
    """Return the least mean cost of moving one bag onto the other, in the unit of ``cost``.

    ``cost`` is (m, n); ``left`` (m,) and ``right`` (n,) are weights of any positive sum, None for
    equal ones. Raises ValueError for input of another kind and a permanent
    :class:`~metrics.base.MetricError` where the solver does not reach the optimum.
    """
    cost = _checked(cost)
    m, n = cost.shape
    if left is None and right is None:
        return _uniform(cost)
    supplies = np.full(m, 1 / m) if left is None else _masses(left, m, "left")
    demands = np.full(n, 1 / n) if right is None else _masses(right, n, "right")
    # Both sum to one but for rounding, which the solver would take for a problem without solution.
    return _solve(cost, supplies, demands * (supplies.sum() / demands.sum()))[0]


def transport_costs(
    costs: Sequence[Array],
    left: Sequence[Array | None] | None = None,
    right: Sequence[Array | None] | None = None,
) -> Array:
    """Return (pairs,) transport costs; ``left`` and ``right`` hold each pair's weights, or None."""
    lefts = left if left is not None else [None] * len(costs)
    rights = right if right is not None else [None] * len(costs)
    triples = zip(costs, lefts, rights, strict=True)
    return np.array([transport_cost(*each) for each in triples], dtype=np.float64)


def integer_flow(cost: Array) -> NDArray[np.int64]:
    """Return an optimal plan (m, n) between equal weights, in units of 1/lcm(m, n).

    Rows sum to n/g and columns to m/g with g = gcd(m, n). The cost of a plan is unique; the plan
    need not be.
    """
    cost = _checked(cost)
    return np.rint(_solve(cost, *_integer_masses(*cost.shape))[1]).astype(np.int64)


def flow_dropout_cost(cost: Array, rate: float = 0.3) -> float:
    """Return the cost of the plan without its small flows; not what is left scaled up again.

    As XMoverScore's later release cuts flows: of the positive flows in ascending order the
    max(int(rate × count), 1)-th is the threshold, and flows strictly below it are dropped. The
    release compares flows that carry rounding noise, so ties fall either way; here flows are
    whole numbers, and ties stay.
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
    """Whole numbers keep the simplex free of rounding: its sums and differences are exact."""
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
    # One pass: a sum is finite exactly where every summand is, at the size of such numbers.
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
