"""Transport against the literal checks, POT's own function and a linear program."""

import numpy as np
import ot
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from extensions.neural import transport
from extensions.neural.transport import (
    flow_dropout_cost,
    integer_flow,
    transport_cost,
)
from metrics.base import MetricError
from tests.extensions.neural.mover.published import CHECKS

SIZES = [(1, 1), (1, 7), (6, 1), (5, 5), (6, 9), (8, 13), (30, 30), (31, 50), (44, 36), (128, 97)]


def draw(m: int, n: int, *, seed: int = 0) -> NDArray[np.float64]:
    """Euclidean distances of unit vectors, some of which lie close together."""
    rng = np.random.default_rng([seed, m, n])
    left, right = rng.standard_normal((m, 16)), rng.standard_normal((n, 16))
    right[: min(m, n) // 2] += 2 * left[: min(m, n) // 2]
    left /= np.linalg.norm(left, axis=1, keepdims=True)
    right /= np.linalg.norm(right, axis=1, keepdims=True)
    distances: NDArray[np.float64] = np.linalg.norm(left[:, None] - right[None], axis=2)
    return distances


def linear_program(
    cost: NDArray[np.float64], left: NDArray[np.float64], right: NDArray[np.float64]
) -> float:
    m, n = cost.shape
    rows = np.kron(np.eye(m), np.ones(n))
    columns = np.kron(np.ones(m), np.eye(n))
    solved = linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.r_[left, right])
    return float(solved.fun)


def test_published_costs() -> None:
    check = CHECKS["C3"]
    cost = np.array(check["inputs"]["cost"])
    left, right = map(np.array, check["inputs"]["weights_b"])
    assert transport_cost(cost) == pytest.approx(check["expected"]["uniform"], abs=1e-6)
    assert transport_cost(cost, left, right) == pytest.approx(
        check["expected"]["weights_b"], abs=1e-6
    )


def test_published_flow_and_dropout() -> None:
    check = CHECKS["C8"]
    cost, expected = np.array(check["inputs"]["cost"]), check["expected"]
    flow = integer_flow(cost)
    assert flow.sum(1).tolist() == [5, 5, 5]
    assert flow.sum(0).tolist() == [3] * 5
    assert flow.tolist() == expected["integer_flow"]
    assert transport_cost(cost) == pytest.approx(expected["cost"], abs=1e-6)
    assert flow_dropout_cost(cost) == pytest.approx(expected["cost_after"], abs=1e-6)


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_equal_to_pot(m: int, n: int) -> None:
    for seed in range(5):
        cost = draw(m, n, seed=seed)
        expected = ot.emd2(np.full(m, 1 / m), np.full(n, 1 / n), cost)
        assert transport_cost(cost) == pytest.approx(expected, abs=1e-9, rel=0)


@pytest.mark.parametrize(("m", "n"), SIZES[:-1])
def test_equal_to_a_linear_program(m: int, n: int) -> None:
    cost, rng = draw(m, n), np.random.default_rng(m)
    left, right = rng.dirichlet(np.ones(m)), rng.dirichlet(np.ones(n))
    uniform = linear_program(cost, np.full(m, 1 / m), np.full(n, 1 / n))
    assert transport_cost(cost) == pytest.approx(uniform, abs=1e-9, rel=0)
    weighted = linear_program(cost, left, right)
    assert transport_cost(cost, left, right) == pytest.approx(weighted, abs=1e-9, rel=0)


def test_weights_need_not_sum_to_one() -> None:
    cost, left, right = draw(3, 4), np.array([1.0, 0, 7]), np.array([2.0, 2, 0, 5])
    expected = transport_cost(cost, left / 8, right / 9)
    assert transport_cost(cost, left, right) == pytest.approx(expected, abs=1e-12)
    assert expected == pytest.approx(linear_program(cost, left / 8, right / 9), abs=1e-9)


def test_a_bag_onto_itself_costs_nothing() -> None:
    points = np.random.default_rng(2).standard_normal((9, 3))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert transport_cost(distances) == 0
    assert transport_cost(distances, np.arange(1.0, 10), np.arange(1.0, 10)) == pytest.approx(0)


def test_dropout_drops_nothing_where_all_flows_are_equal() -> None:
    cost = draw(7, 7)
    assert flow_dropout_cost(cost) == pytest.approx(transport_cost(cost), abs=1e-12)


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (np.ones(3), "matrix"),
        (np.ones((0, 3)), "at least one cell"),
        (np.array([[1.0, np.nan]]), "not finite"),
        (np.array([[1.0, np.inf], [0.0, 1.0]]), "not finite"),
    ],
)
def test_costs_that_are_none(cost: NDArray[np.float64], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        transport_cost(cost)


@pytest.mark.parametrize(
    "weights", [np.ones(2), np.array([1.0, -1, 1]), np.zeros(3), np.array([1.0, np.nan, 1])]
)
def test_weights_that_are_none(weights: NDArray[np.float64]) -> None:
    with pytest.raises(ValueError, match="left"):
        transport_cost(np.ones((3, 2)), weights)


def test_an_unsolved_problem_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_PIVOTS", 1)
    with pytest.raises(MetricError) as caught:
        transport_cost(draw(31, 50))
    assert caught.value.permanent
    problem = caught.value.message
    assert problem.code == "transport.not-solved"
    assert (problem.parameters["rows"], problem.parameters["columns"]) == (31, 50)
