"""The probability that humans agree with a difference of scores: fit, ends, intervals."""

import numpy as np
import pytest

from metaeval.results import TooFewWarning
from metaeval.systems import agreement_curve
from tests.metaeval.published import numbers, table


def penalised(slope: float, sizes: np.ndarray, hits: np.ndarray) -> float:
    """Log-likelihood with half the log of the information (Firth 1993)."""
    p = 1 / (1 + np.exp(-slope * sizes))
    likelihood = np.log(np.where(hits, p, 1 - p)).sum()
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


def test_without_differences_there_is_no_curve() -> None:
    with pytest.warns(TooFewWarning):
        assert np.isnan(agreement_curve({"a": [1.0, 2.0]}, {"a": [3.0, 3.0]}).slope)
