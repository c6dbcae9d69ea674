"""Drawing systems by their standing against enumeration, and the means that it does not bias."""

import json
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest

from benchmarks.metaeval.drawn import Design, campaign
from metaeval.judgments.planning import draw, drawing, inclusion, reweighted_means, standing_weights
from metaeval.messages import DataError
from metaeval.results import AdaptiveDrawWarning, TooFewWarning
from tests.refusals import refused


def enumerated(weights: list[float], size: int) -> list[float]:
    """Inclusion probabilities by adding up all orders in which systems can be drawn."""
    parts = [Fraction(weight) for weight in weights]
    found = [Fraction(0)] * len(parts)
    for order in permutations(range(len(parts)), size):
        chance, left = Fraction(1), sum(parts)
        for system in order:
            chance *= parts[system] / left
            left -= parts[system]
        for system in order:
            found[system] += chance
    return [float(each) for each in found]


@pytest.mark.parametrize(
    ("weights", "size"),
    [
        ([1 / 2, 1 / 2, 1 / 3, 1 / 4], 3),
        ([1 / 2, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6, 1 / 7, 1 / 8, 1 / 9, 1 / 10], 3),
        ([0.9, 0.01, 0.4, 0.4, 3.0], 2),
        ([1, 2, 3, 4, 5, 6], 5),
        ([5, 1], 1),
        ([1, 1e-7, 1e-7], 2),
        ([1e9, 1, 30, 1e5, 2e3, 1e9], 4),
    ],
)
def test_inclusion_is_that_of_all_orders(weights: list[float], size: int) -> None:
    assert inclusion(weights, size) == pytest.approx(enumerated(weights, size), abs=1e-6)
    mixed = inclusion(weights, size, exploration=0.25)
    even = size / len(weights)
    assert mixed == pytest.approx(
        [0.75 * p + 0.25 * even for p in enumerated(weights, size)], abs=1e-6
    )
    assert mixed.sum() == pytest.approx(size)


def test_inclusion_is_exact_whatever_the_ratio_of_weights() -> None:
    rng = np.random.default_rng(1)
    for _ in range(40):
        weights = (10 ** rng.uniform(-9, 0, rng.integers(2, 7))).tolist()
        size = int(rng.integers(1, len(weights) + 1))
        assert inclusion(weights, size) == pytest.approx(enumerated(weights, size), rel=1e-9)
    assert inclusion([1e308, 1e-308, 1], 2) == pytest.approx([1, 0, 1], abs=1e-9)


def test_inclusion_of_many_systems_keeps_its_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = standing_weights(-np.arange(60))
    found = inclusion(weights, 30)
    monkeypatch.setattr(drawing, "STEP", drawing.STEP / 2)
    assert found == pytest.approx(inclusion(weights, 30), abs=1e-11)


def test_forty_systems_have_a_probability_each() -> None:
    found = inclusion(standing_weights(-np.arange(40)), 10)
    assert found.sum() == pytest.approx(10)
    assert (np.diff(found[1:]) < 0).all()
    assert found[0] == pytest.approx(found[1])


def test_draws_come_as_often_as_said_and_in_any_order() -> None:
    weights, rng = [0.5, 0.5, 1 / 3, 0.25, 0.2], np.random.default_rng(4)
    drawn = np.array([draw(weights, 3, rng=rng, exploration=0.2) for _ in range(6000)])
    shares = np.bincount(drawn.ravel(), minlength=5) / len(drawn)
    assert shares == pytest.approx(inclusion(weights, 3, exploration=0.2), abs=0.025)
    # Whoever stands first is any of those drawn: a place tells nothing of the standing.
    for system in range(5):
        first = (drawn[:, 0] == system).mean() / shares[system]
        assert first == pytest.approx(1 / 3, abs=0.03)


def test_equal_means_have_equal_weights_and_the_unjudged_come_first() -> None:
    assert standing_weights([3, 3, 3]).tolist() == pytest.approx([4 / 9] * 3)
    assert standing_weights([np.nan, 90, 80]).round(3).tolist() == [0.5, 0.5, 0.333]


def test_the_weighted_sum_is_unbiased_however_the_past_decides() -> None:
    """All ways that two screens can go, one system of two each, the second drawn by the first.

    The expectation of sum(I y / p) is the sum of scores; that of what was seen alone is not.
    """
    scores = np.array([[60.0, 40.0], [70.0, 50.0]])  # screens x systems
    expected = np.zeros(2)
    for first, second in product(range(2), repeat=2):
        p_first = np.array([0.5, 0.5])
        # Drawn more often the second time if it was seen to be good the first time.
        best = first if scores[0, first] > 50 else 1 - first
        p_second = np.where(np.arange(2) == best, 0.8, 0.2)
        chance = p_first[first] * p_second[second]
        expected[first] += chance * scores[0, first] / p_first[first]
        expected[second] += chance * scores[1, second] / p_second[second]
    assert expected == pytest.approx(scores.sum(axis=0))


def test_means_are_ratios_with_an_interval_over_documents() -> None:
    """By hand: weights 2, 4, 4 and scores 90, 60, 50 are (180 + 240 + 200) / 10."""
    scores, chances = [90.0, 60, 50] * 2, [0.5, 0.25, 0.25] * 2
    with pytest.warns(AdaptiveDrawWarning):
        found = reweighted_means(scores, "AAAAAA", "uvwxyz", chances)
    assert found.means.tolist() == [62.0]
    assert found.plain == pytest.approx([200 / 3])
    # Residuals 2 * 28, -4 * 2, -4 * 12 over the sum of weights, 20; six documents.
    parts = np.array([56, -8, -48] * 2) / 20
    assert found.covariance[0, 0] == pytest.approx((parts**2).sum() * 6 / 5)
    assert found.effective.tolist() == pytest.approx([20**2 / (2 * (4 + 16 + 16))])
    assert found.lows[0] < 62 < found.highs[0]
    # All visits of a document vary together.
    with pytest.warns((AdaptiveDrawWarning, TooFewWarning)):
        fewer = reweighted_means(scores, "AAAAAA", "uvwuvw", chances)
    assert fewer.documents.tolist() == [3]
    assert np.isnan(fewer.lows).all()


@pytest.mark.parametrize("chances", [[0.0], [1.1], [np.nan]])
def test_what_is_no_probability_is_refused(chances: list[float]) -> None:
    with refused("argument.probabilities", kind=DataError):
        reweighted_means([1.0], "A", "x", chances)


@pytest.mark.filterwarnings("ignore::metaeval.StatisticsWarning")
def test_intervals_hold_the_truth_where_plain_means_are_too_low() -> None:
    """A cheap part of `benchmarks.metaeval.drawn`."""
    found = [campaign(Design(6, 60), seed) for seed in range(60)]
    holds = np.array([each.holds for each in found])
    # 95% of 360, which are dependent in groups of six, within three standard errors.
    assert 0.88 <= holds.mean() <= 0.99
    plain, reweighted = (
        np.mean([getattr(each, name) for each in found]) for name in ("plain", "reweighted")
    )
    assert plain < reweighted


def test_a_published_check_of_the_ratio_estimator(data_dir: Path) -> None:
    """estimation-checks.json: metric scores everywhere, corrected by the judged differences."""
    path = data_dir.parent / "specs" / "estimation-checks.json"
    checks = {each["id"]: each for each in json.loads(path.read_text("utf-8"))["checks"]}
    given, expected = (checks["3-aipw"][key] for key in ("inputs", "expected"))
    judged = np.array(given["labelled"])
    errors = np.array(given["y"]) - np.array(given["f"])[judged]
    with pytest.warns((AdaptiveDrawWarning, TooFewWarning)):
        found = reweighted_means(errors, "AAA", "uvw", np.array(given["pi"])[judged])
    assert np.mean(given["f"]) + found.means[0] == pytest.approx(expected["hajek"])
