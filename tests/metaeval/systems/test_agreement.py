"""The probability that humans agree with a difference of scores: fit, ends, intervals."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import t as student

from metaeval.results import DirectionWarning, TooFewWarning
from metaeval.systems import agreement_curve
from tests.metaeval.published import numbers, table


def penalised(slope: float, sizes: np.ndarray, hits: np.ndarray) -> float:
    """Log-likelihood with half the log of the information (Firth 1993)."""
    p = 1 / (1 + np.exp(-slope * sizes))
    likelihood = np.log(np.where(hits, p, 1 - p)).sum()
    with np.errstate(divide="ignore"):
        return likelihood + 0.5 * np.log((sizes**2 * p * (1 - p)).sum())


@pytest.mark.parametrize("metric", ["BLEU-refA", "CometKiwi-src", "GEMBA-MQM-src"])
def test_the_fit_maximises_the_penalised_likelihood(metric: str) -> None:
    """WMT23's system scores; GEMBA-MQM orders all 66 pairs as the humans do."""
    columns = table("wmt23-meta/en-de/system-scores.tsv")
    is_mt = np.array(columns["system"]) != "refA"
    human, scores = (numbers(columns[name])[is_mt] for name in ("mqm", metric))
    found = agreement_curve({"en-de": human}, {"en-de": scores})
    upper, lower = np.triu_indices(12, 1)
    sizes = np.abs(scores[upper] - scores[lower])
    hits = (human[upper] - human[lower]) * (scores[upper] - scores[lower]) > 0
    assert (found.n, found.agreeing, found.n_systems) == (66, hits.sum(), 12)
    grid = found.slope * np.exp(np.linspace(-1, 1, 20001))
    best = grid[np.argmax([penalised(slope, sizes, hits) for slope in grid])]
    assert found.slope == pytest.approx(best, rel=2e-4)


def fitted(human: np.ndarray, scores: np.ndarray) -> float:
    """Return the logarithm of the best slope."""
    upper, lower = np.triu_indices(len(human), 1)
    sizes, signs = scores[upper] - scores[lower], np.sign(human[upper] - human[lower])
    hits, sizes = (sizes * signs > 0), np.abs(sizes)
    found = minimize_scalar(
        lambda log: -penalised(np.exp(log), sizes, hits), bounds=(-6, 6), method="bounded",
        options={"xatol": 1e-10},
    )  # fmt: skip
    return float(found.x)


def test_the_interval_is_a_jackknife_over_systems() -> None:
    rng = np.random.default_rng(5)
    human = rng.normal(size=9)
    scores = human + rng.normal(size=9)
    logs = np.array([fitted(np.delete(human, k), np.delete(scores, k)) for k in range(9)])
    half = student.ppf(0.975, 8) * np.sqrt(8 / 9 * ((logs - logs.mean()) ** 2).sum())
    found = agreement_curve({"x": human}, {"x": scores})
    expected = np.exp(fitted(human, scores) + np.array([-half, half]))
    assert found.slope_interval[:2] == pytest.approx(expected, rel=1e-5)


def test_the_smallest_difference_decides_where_all_pairs_agree() -> None:
    """Large differences say nothing of the slope; it is far above one per root mean square."""
    human = np.arange(4.0)
    scores = np.array([0.0, 1e-5, 2e-5, 1.0])
    found = agreement_curve({"x": human}, {"x": scores})
    sizes = np.array([1e-5, 2e-5, 1e-5])
    grid = np.geomspace(1e3, 1e7, 40001)
    best = grid[np.argmax([penalised(slope, sizes, np.ones(3)) for slope in grid])]
    assert found.slope == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("sign", [-1.0, 0.0])
def test_a_metric_that_humans_do_not_agree_with_has_no_curve(sign: float) -> None:
    human = np.arange(8.0)
    scores = sign * human + np.tile([1.0, -1.0], 4) * (sign == 0)
    with pytest.warns(DirectionWarning) as caught:
        found = agreement_curve({"x": human}, {"x": scores})
    assert [each.message.message.code for each in caught] == ["agreement-curve.flat"]
    assert np.isnan([found.slope, found.difference(0.8)[0], found.probability(1.0)[0]]).all()


def test_a_curve_that_one_system_makes_has_no_interval() -> None:
    human = np.arange(7.0)
    scores = np.array([-10.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0])
    with pytest.warns(DirectionWarning):
        found = agreement_curve({"x": human}, {"x": scores})
    assert found.slope > 0.0
    assert np.isnan(found.slope_interval[:2]).all()


def test_probability_and_difference_are_inverse_and_symmetric() -> None:
    rng = np.random.default_rng(2)
    human = rng.normal(size=10)
    found = agreement_curve({"x": human}, {"x": human + rng.normal(size=10)})
    value, interval = found.difference(0.8)
    assert found.probability(value)[0] == pytest.approx(0.8)
    assert found.probability(-value)[0] == pytest.approx(0.8)
    assert found.probability(interval.low)[1].high == pytest.approx(0.8)
    assert interval.low < value < interval.high
    assert found.probability(0.0)[0] == 0.5


def test_pairs_lie_within_language_pairs() -> None:
    human = {"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0]}
    found = agreement_curve(human, {"a": [1.0, 2.0, 3.0], "b": [5.0, 4.0]})
    assert (found.n, found.agreeing, found.n_systems) == (4, 3, 5)
    assert np.isnan(found.slope_interval.low)


@pytest.mark.parametrize(("n", "has_interval"), [(4, False), (6, True)])
def test_few_pairs_of_many_systems_have_no_interval(n: int, has_interval: bool) -> None:
    """Two systems of each of four sets are eight systems, and only four pairs."""
    human = {str(k): [0.0, 1.0] for k in range(n)}
    scores = {str(k): [0.0, -1.0 if k == 0 else 1.0 + k] for k in range(n)}
    found = agreement_curve(human, scores)
    assert (found.n, found.n_systems) == (n, 2 * n)
    assert np.isfinite(found.slope)
    assert np.isfinite(found.slope_interval.low) == has_interval
    codes = [each.message.code for each in found.warnings]
    assert codes == ([] if has_interval else ["agreement-curve.few-pairs"])


def test_ties_of_humans_are_excluded_and_ties_of_metrics_say_nothing() -> None:
    rng = np.random.default_rng(8)
    human = np.repeat(np.arange(4.0), 2)
    scores = human + rng.normal(size=8)
    scores[7] = scores[0]
    upper, lower = np.triu_indices(8, 1)
    sizes = np.abs(scores[upper] - scores[lower])
    signs = (human[upper] - human[lower]) * (scores[upper] - scores[lower])
    used = (human[upper] != human[lower]) & (sizes > 0)
    found = agreement_curve({"x": human}, {"x": scores})
    assert (found.n, found.agreeing) == (28 - 4, (signs > 0).sum())
    grid = found.slope * np.exp(np.linspace(-1, 1, 20001))
    best = grid[np.argmax([penalised(slope, sizes[used], signs[used] > 0) for slope in grid])]
    assert found.slope == pytest.approx(best, rel=2e-4)


def test_without_differences_there_is_no_curve() -> None:
    with pytest.warns(TooFewWarning):
        assert np.isnan(agreement_curve({"a": [1.0, 2.0]}, {"a": [3.0, 3.0]}).slope)
