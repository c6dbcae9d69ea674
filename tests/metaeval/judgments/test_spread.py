"""How annotators use the scale, and who answers faster than one reads: numpy, statistics, scipy."""

import statistics

import numpy as np
import pytest
from scipy import stats

from metaeval.judgments import rolling_means, spread
from metaeval.judgments.controls import reading_speeds
from metaeval.messages import DataError
from tests.refusals import refused


def test_a_spread_by_other_libraries() -> None:
    values = np.random.default_rng(1).normal(50, 20, 101)
    found = spread([*values, np.nan])
    assert (found.n, found.n_excluded) == (101, 1)
    assert found.mean == pytest.approx(statistics.fmean(values))
    assert found.sd == pytest.approx(statistics.stdev(values))
    cuts = statistics.quantiles(values.tolist(), n=20, method="inclusive")
    assert (found.q05, found.q25, found.median) == pytest.approx((cuts[0], cuts[4], cuts[9]))
    assert (found.q75, found.q95) == pytest.approx((cuts[14], cuts[18]))
    described = stats.describe(values)
    assert (found.min, found.max) == described.minmax


def test_nothing_and_one_value_have_no_spread() -> None:
    assert np.isnan([spread([]).mean, spread([np.nan]).median, spread([3.0]).sd]).all()
    assert (spread([3.0]).mean, spread([3.0]).q95) == (3.0, 3.0)


def test_rolling_means_cover_every_value_once() -> None:
    values = np.arange(57.0)
    points = rolling_means(values)
    sizes = [len(part) for part in np.array_split(values, 5)]
    assert len(points) == 5
    assert np.dot([mean for _, mean in points], sizes) == pytest.approx(values.sum())
    assert points[0] == pytest.approx((6.5, 5.5))
    # A gap has a place and no value.
    values[3] = np.nan
    place, mean = rolling_means(values)[0]
    assert place == pytest.approx(np.mean([1, 2, 3, *range(5, 14)]))
    assert mean == pytest.approx(np.mean([0, 1, 2, *range(4, 13)]))
    assert rolling_means([np.nan]) == []
    assert len(rolling_means(np.arange(1000.0), most=7)) == 7


def test_speed_is_judged_judgment_by_judgment() -> None:
    """A reads long texts slowly and skims none; B is below the least in three of five."""
    least = [1.0, 2.0, 30.0, 1.0, 2.0] * 2
    taken = [2.0, 3.0, 40.0, 2.0, 3.0, 0.5, 1.0, 40.0, 0.5, 3.0]
    found = reading_speeds(taken, least, "AAAAABBBBB")
    assert found.annotators == ("A", "B")
    assert found.is_impossible.tolist() == [False, True]
    assert found.seconds.tolist() == [statistics.median(taken[:5]), statistics.median(taken[5:])]
    assert found.least.tolist() == [2.0, 2.0]
    assert found.counts.tolist() == [5, 5]


def test_who_has_few_timed_judgments_has_no_speed() -> None:
    found = reading_speeds([1.0, np.nan, 1.0, 1.0], [2.0, 2.0, np.nan, 2.0], "AAAB", fewest=2)
    assert (found.annotators, found.n) == ((), 0)
    assert dict(found.reasons) == {"missing-time": 2, "too-few-timed-judgments": 2}
    with refused("argument.lengths", kind=DataError, names=["seconds", "least"], lengths=[1, 2]):
        reading_speeds([1.0], [1.0, 2.0], "AB")
