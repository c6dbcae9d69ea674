"""Intervals of pooled correlations: worked cases, numerical derivatives, coverage by simulation."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from metaeval import ScoreMatrix
from metaeval.correlation import Measure, acc_eq, kendall, pearson, spearman
from metaeval.correlation.intervals import correlation_intervals, crossed
from metaeval.correlation.intervals.influence import influence_of
from metaeval.messages import DataError
from metaeval.results import ConstantInputWarning, DependentDataWarning, TooFewWarning
from tests.refusals import refused

HUMAN = [[3.0, 5, 2, 6], [4, 7, 3, 6], [1, 2, 2, 4]]
METRIC = [[2.0, 6, 1, 5], [5, 7, 2, 8], [1, 1, 3, 3]]


def matrix(values: Any) -> ScoreMatrix:
    rows, columns = np.shape(values)
    return ScoreMatrix(values, map(str, range(rows)), map(str, range(columns)))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Worked cases are of four segments."""
    monkeypatch.setattr(crossed, "FEWEST_SEGMENTS", 2)
    monkeypatch.setattr(crossed, "FEWEST_SYSTEMS", 2)


@pytest.fixture
def checks(data_dir: Path) -> dict[str, Any]:
    path = data_dir.parent / "specs" / "estimation-checks.json"
    return {one["id"]: one for one in json.loads(path.read_text("utf-8"))["checks"]}


def test_worked_case_of_pooled_r(few: None, checks: dict[str, Any]) -> None:
    one = checks["1-pooled-r"]
    human, metric = (matrix(one["inputs"][name]) for name in ("human", "metric"))
    expected = one["expected"]
    for target, name in (("segments", "fixed"), ("systems", "random")):
        found = correlation_intervals(human, {"m": metric}, target=target)
        assert found.values[0] == pytest.approx(expected["r"], abs=1e-5)
        ends = (found.lows[0], found.highs[0])
        assert ends == pytest.approx(expected[f"{name}_systems_interval"], abs=1e-4)


def test_worked_case_of_pooled_tau(checks: dict[str, Any]) -> None:
    one = checks["1-pooled-tau"]
    human, metric = (np.ravel(one["inputs"][name]) for name in ("human", "metric"))
    found = influence_of(Measure("kendall"))(human, metric)
    assert found == pytest.approx(one["expected"]["influence"], abs=1e-5)
    by_segment = found.reshape(3, 4).sum(axis=0) / 12
    assert 4 / 3 * (by_segment**2).sum() == pytest.approx(one["expected"]["V_segments"], abs=1e-6)


def weighted(kind: str, z: np.ndarray, x: np.ndarray, w: np.ndarray) -> float:
    """The correlation of a distribution that gives each pair its weight."""
    if kind != "pearson":
        signs = [np.sign(side[:, None] - side) for side in (z, x)]
        if kind == "kendall":
            both = w[:, None] * w
            c, a, b = ((both * s * t).sum() for s, t in zip(
                (signs[0], signs[0], signs[1]), (signs[1], signs[0], signs[1]), strict=True
            ))  # fmt: skip
            return float(c / np.sqrt(a * b))
        z, x = signs[0] @ w, signs[1] @ w
    z, x = z - w @ z / w.sum(), x - w @ x / w.sum()
    return float(w @ (z * x) / np.sqrt(w @ (z * z) * (w @ (x * x))))


@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall"])
def test_influence_is_the_derivative(kind: str) -> None:
    rng = np.random.default_rng(1)
    z = rng.integers(0, 5, 14).astype(float)
    x = z + rng.integers(0, 4, 14)
    even, step = np.full(14, 1 / 14), 1e-5
    towards = np.eye(14) - even
    slopes = [
        (weighted(kind, z, x, even + step * d) - weighted(kind, z, x, even - step * d)) / (2 * step)
        for d in towards
    ]
    assert influence_of(Measure(kind))(z, x) == pytest.approx(slopes, abs=1e-6)


def test_tau_c_and_values_are_those_of_scipy() -> None:
    rng = np.random.default_rng(2)
    human = rng.integers(0, 6, (4, 30)).astype(float)
    metric = human + rng.integers(0, 5, (4, 30))
    for variant in "bc":
        found = correlation_intervals(
            matrix(human), {"m": matrix(metric)}, Measure("kendall", variant=variant)
        )
        theirs = stats.kendalltau(human.ravel(), metric.ravel(), variant=variant).statistic
        assert found.values[0] == pytest.approx(theirs)
        assert found.lows[0] < theirs < found.highs[0]


def test_by_item_it_is_the_t_interval_of_the_segments() -> None:
    rng = np.random.default_rng(3)
    human, metric = rng.normal(size=(2, 5, 30))
    values = [stats.pearsonr(human[:, j], metric[:, j]).statistic for j in range(30)]
    found = correlation_intervals(matrix(human), {"m": matrix(metric)}, Measure(grouping="item"))
    theirs = stats.ttest_1samp(values, 0.0)
    assert (found.lows[0], found.highs[0]) == pytest.approx(tuple(theirs.confidence_interval()))
    assert found.pvalues[0] == pytest.approx(theirs.pvalue)


def test_accuracy_by_item_is_the_t_interval_of_the_segments() -> None:
    rng = np.random.default_rng(4)
    human = rng.integers(0, 4, (5, 40)).astype(float)
    metric = human + rng.normal(size=(5, 40))
    value = acc_eq(matrix(human), matrix(metric))
    each = [
        acc_eq(matrix(human[:, [j]]), matrix(metric[:, [j]]), epsilon=value.epsilon)
        for j in range(40)
    ]
    theirs = stats.ttest_1samp([one.statistic for one in each], 0.0).confidence_interval()
    found = correlation_intervals(matrix(human), {"m": matrix(metric)}, "acc_eq")
    pooled = correlation_intervals(matrix(human), {"m": matrix(metric)}, Measure("acc_eq", "item"))
    assert pooled.values[0] == pytest.approx(value.statistic)
    assert (pooled.lows[0], pooled.highs[0]) == pytest.approx(tuple(theirs))
    assert found.lows[0] < found.values[0] < found.highs[0]


def clustered_world(seed: int, w: float = 0.5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Humans and two equally good metrics; a share w of all variance is that of the segment."""
    rng = np.random.default_rng(seed)

    def effect() -> np.ndarray:
        return np.sqrt(w) * rng.normal(size=(1, 60)) + np.sqrt(1 - w) * rng.normal(size=(6, 60))

    human = effect()
    return human, human + 1.5 * effect(), human + 1.5 * effect()


def test_pooled_intervals_cover_where_fishers_does_not() -> None:
    truth, trials = 1 / np.sqrt(1 + 1.5**2), 400
    covered = np.zeros(4)
    for seed in range(trials):
        human, first, second = clustered_world(seed)
        found = correlation_intervals(matrix(human), {"a": matrix(first), "b": matrix(second)})
        fisher = pearson(human.ravel(), first.ravel()).interval
        public = pearson(matrix(human), matrix(first)).interval
        assert public is not None
        assert public[:2] == pytest.approx((found.lows[0], found.highs[0]))
        covered += [
            found.lows[0] <= truth <= found.highs[0],
            found.difference_lows[0, 1] <= 0 <= found.difference_highs[0, 1],
            found.difference_pvalues[0, 1] > 0.05,
            fisher[0] <= truth <= fisher[1],
        ]
    clustered, difference, test, independent = covered / trials
    # Three standard errors of 400 trials are 3.3 points.
    assert 0.917 <= clustered <= 0.983
    assert 0.917 <= difference <= 0.983
    assert 0.917 <= test <= 0.983
    assert independent < 0.85


@pytest.mark.parametrize("statistic", [pearson, spearman, kendall])
def test_few_segments_of_several_systems_have_no_interval(statistic: Any) -> None:
    rng = np.random.default_rng(0)
    human, metric = rng.normal(size=(2, 5, 19))
    with pytest.warns(DependentDataWarning):
        found = statistic(matrix(human), matrix(metric))
    assert np.isnan([*found.interval[:2], found.pvalue]).all()
    # The same numbers of one system are independent.
    alone = statistic(matrix(human.reshape(1, -1)), matrix(metric.reshape(1, -1)))
    vectors = statistic(human.ravel(), metric.ravel())
    assert alone.interval == vectors.interval
    assert np.isfinite(vectors.interval.low)


def test_too_few_for_the_question_and_refusals() -> None:
    rng = np.random.default_rng(0)
    human, metric = (matrix(values) for values in rng.normal(size=(2, 4, 25)))
    with pytest.warns(TooFewWarning):
        found = correlation_intervals(human, {"m": metric}, target="systems")
    assert np.isnan(found.lows).all()
    assert np.isfinite(correlation_intervals(human, {"m": metric}).lows).all()
    with pytest.warns(TooFewWarning):
        correlation_intervals(human, {"m": metric}, Measure(grouping="system"))
    with refused("argument.new-systems", kind=DataError):
        correlation_intervals(human, {"m": metric}, Measure(grouping="item"), target="systems")


def test_identical_metrics_are_no_different() -> None:
    rng = np.random.default_rng(5)
    human, metric = rng.normal(size=(2, 4, 40))
    same = {"a": matrix(metric), "b": matrix(3 * metric + 1), "flat": matrix(np.ones((4, 40)))}
    with pytest.warns(ConstantInputWarning):
        found = correlation_intervals(matrix(human), same, "kendall")
    assert found.differences[0, 1] == 0.0
    assert found.difference_pvalues[0, 1] == 0.5
    assert np.isnan(found.difference_pvalues[:2, 2]).all()
    assert np.isnan(found.lows[2])
