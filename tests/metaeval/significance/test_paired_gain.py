"""The gain's interval against every outcome that can be: exact coverage, no simulation."""

from itertools import product
from math import lgamma, log

import numpy as np
import pytest
from scipy import stats

from metaeval.messages import DataError
from metaeval.results import TooFewWarning
from metaeval.significance import paired_gain
from tests.refusals import refused


def texts(gained, lost, n):
    before = [0] * gained + [1] * lost + [1] * (n - gained - lost)
    return before, [1] * gained + [0] * lost + [1] * (n - gained - lost)


def coverage(n, gaining, losing):
    """Chance that the interval holds gaining - losing, over all outcomes of n texts."""
    chances = np.log(np.maximum([gaining, losing, 1 - gaining - losing], 1e-300))
    total = 0.0
    for gained, lost in product(range(n + 1), repeat=2):
        if gained + lost > n:
            continue
        low, high, _ = paired_gain(*texts(gained, lost, n)).interval
        if low <= gaining - losing <= high:
            counts = np.array([gained, lost, n - gained - lost])
            ways = lgamma(n + 1) - sum(lgamma(each + 1) for each in counts)
            total += np.exp(ways + counts @ chances)
    return total


@pytest.mark.parametrize("n", [5, 8, 12, 20])
def test_it_is_wrong_one_time_in_twenty_at_most(n):
    for gaining, losing in [(0.02, 0.02), (0.1, 0.0), (0.3, 0.1), (0.5, 0.45), (0.9, 0.05)]:
        assert coverage(n, gaining, losing) > 0.94


def test_a_gain_of_nothing_does_not_exclude_everything_else():
    """The normal interval of texts that all stayed as they were is 0 to 0."""
    low, high, _ = paired_gain([1] * 10, [1] * 10).interval
    half = stats.t.ppf(0.975, 9) * np.sqrt(2 * 1.5) / 13
    assert (low, high) == pytest.approx((-half, half))
    with pytest.warns(TooFewWarning):
        assert paired_gain([1] * 4, [1] * 4).interval is None


def test_many_texts_have_nearly_the_normal_interval():
    before, after = texts(300, 200, 2000)
    low, high, _ = paired_gain(before, after).interval
    half = 1.96 * stats.sem(np.array(after) - np.array(before))
    assert (low, high) == pytest.approx((0.05 - half, 0.05 + half), abs=2e-3)
    assert log(high - low) == pytest.approx(log(2 * half), abs=0.01)


def test_refusals_name_the_arguments():
    with refused("argument.lengths", kind=DataError, lengths=[2, 1]):
        paired_gain([1, 0], [1])
    with refused("argument.least", kind=DataError, name="before", value=0):
        paired_gain([], [])
    with refused("argument.flags", kind=DataError, name="before"):
        paired_gain([0.5, 1], [1, 1])
