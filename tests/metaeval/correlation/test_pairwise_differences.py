"""PDP against all ordered pairs of outputs, and its interval against the jackknife."""

import numpy as np
import pytest

from metaeval import ScoreMatrix
from metaeval.correlation.hybrids import (
    hybrid_limit_intervals,
    hybrid_limits,
    pairwise_difference_pearson,
)
from metaeval.results import ApproximationWarning, ConstantInputWarning


def scores(missing: float) -> tuple[ScoreMatrix, ScoreMatrix]:
    rng = np.random.default_rng(3)
    human = rng.normal(size=(6, 80)) + rng.normal(size=80)
    metric = 0.6 * human + rng.normal(size=(6, 80)) + 3 * rng.normal(size=80)
    human[rng.random(human.shape) < missing] = np.nan
    names = list("ABCDEF"), [str(k) for k in range(80)], [f"d{k // 4}" for k in range(80)]
    return ScoreMatrix(human, *names), ScoreMatrix(metric, *names)


def of_pairs(human: np.ndarray, metric: np.ndarray) -> float:
    x, y = [], []
    for j in range(human.shape[1]):
        for a in range(len(human)):
            for b in range(len(human)):
                if a != b and not np.isnan(human[[a, b], j]).any():
                    x.append(human[a, j] - human[b, j])
                    y.append(metric[a, j] - metric[b, j])
    return float(np.corrcoef(x, y)[0, 1])


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_all_ordered_pairs(missing: float) -> None:
    human, metric = scores(missing)
    found = pairwise_difference_pearson(human, {"m": metric})
    assert found.values[0] == pytest.approx(of_pairs(human.values, metric.values), abs=1e-12)
    # Every pair once.
    judged = human.mask.sum(axis=0)
    assert found.n == (judged * (judged - 1) // 2).sum()


def test_with_all_outputs_it_is_the_limit_of_hybrids() -> None:
    human, metric = scores(0.0)
    with pytest.warns(ApproximationWarning):
        found = pairwise_difference_pearson(human, {"m": metric})
    with pytest.warns(ApproximationWarning):
        limit = hybrid_limit_intervals(human, {"m": metric})
    assert found.values[0] == pytest.approx(hybrid_limits(human, {"m": metric})[0, 0], abs=1e-12)
    assert (found.lows[0], found.highs[0]) == pytest.approx((limit.lows[0], limit.highs[0]))


def test_the_interval_has_the_width_of_a_jackknife_over_documents() -> None:
    human, metric = scores(0.2)
    found = pairwise_difference_pearson(human, {"m": metric})
    assert (found.unit, found.n_units) == ("documents", 20)
    without = []
    for document in range(20):
        kept = np.arange(80) // 4 != document
        without.append(np.arctanh(of_pairs(human.values[:, kept], metric.values[:, kept])))
    error = np.sqrt(19 / 20 * ((np.array(without) - np.mean(without)) ** 2).sum())
    half = (np.arctanh(found.highs[0]) - np.arctanh(found.lows[0])) / 2
    assert half == pytest.approx(2.093024 * error, rel=0.08)  # t of 19


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_metric_that_is_constant_within_segments_has_no_value(missing: float) -> None:
    human, metric = scores(missing)
    flat = metric.with_values(np.tile(metric.values[0], (6, 1)))
    with pytest.warns(ConstantInputWarning):
        assert np.isnan(pairwise_difference_pearson(human, {"m": flat}).values[0])
    assert np.isnan(hybrid_limits(human, {"m": flat})[0, 0])
