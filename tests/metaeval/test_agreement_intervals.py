"""Intervals of agreement against a slow bootstrap that knows nothing of ours."""

import krippendorff
import numpy as np
import pytest
from scipy import stats

from metaeval import (
    ConstantInputWarning,
    TooFewWarning,
    agreement_interval,
    krippendorff_alpha,
    one_vs_rest_pearson,
)

NAN = np.nan


def sparse(annotators=5, units=60, seed=3):
    """annotators x units: true quality and noise, half of the cells missing."""
    rng = np.random.default_rng(seed)
    table = 50 + 15 * rng.normal(size=units) + 12 * rng.normal(size=(annotators, units))
    return np.where(rng.random(table.shape) < 0.5, NAN, table)


def long(table):
    who, what = np.indices(table.shape)
    keep = ~np.isnan(table)
    return table[keep], who[keep], what[keep]


def test_statistics_equal_those_of_the_whole_table():
    table = sparse()
    result = agreement_interval(*long(table), n_resamples=0)
    whole = krippendorff_alpha(table)
    assert result.alpha == pytest.approx(whole.statistic)
    assert result.one_vs_rest == pytest.approx(one_vs_rest_pearson(table).statistic)
    assert (result.n, result.n_units) == (whole.n, whole.n_items)
    assert result.alpha_interval is None


def one_vs_rest(table):
    """By hand: scipy on every annotator, over the items shared with others."""
    values = []
    for row, own in enumerate(table):
        others = np.delete(table, row, axis=0)
        used = ~np.isnan(own) & (~np.isnan(others)).any(axis=0)
        rest = np.array([np.nanmean(others[:, column]) for column in np.flatnonzero(used)])
        values.append(stats.pearsonr(own[used], rest).statistic)
    return float(np.mean(values))


def test_intervals_equal_a_slow_bootstrap_of_units():
    table = sparse(annotators=4, units=50)
    table = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    result = agreement_interval(*long(table), n_resamples=1500, rng=11)
    rng = np.random.default_rng(99)
    columns = [rng.integers(0, table.shape[1], table.shape[1]) for _ in range(1500)]
    alphas = [
        krippendorff.alpha(table[:, chosen], level_of_measurement="interval") for chosen in columns
    ]
    rs = [one_vs_rest(table[:, chosen]) for chosen in columns]
    for own, slow in ((result.alpha_interval, alphas), (result.one_vs_rest_interval, rs)):
        low, high = np.quantile(slow, [0.025, 0.975])
        spread = np.std(slow)
        assert own.low == pytest.approx(low, abs=0.25 * spread)
        assert own.high == pytest.approx(high, abs=0.25 * spread)


def test_the_same_seed_gives_the_same_interval():
    first = agreement_interval(*long(sparse()), n_resamples=200, rng=5)
    again = agreement_interval(*long(sparse()), n_resamples=200, rng=first.seed)
    other = agreement_interval(*long(sparse()), n_resamples=200, rng=6)
    assert first.alpha_interval == again.alpha_interval
    assert first.alpha_interval != other.alpha_interval


def test_more_units_give_a_narrower_interval():
    def width(units):
        interval = agreement_interval(
            *long(sparse(units=units)), n_resamples=300, rng=1
        ).alpha_interval
        return interval.high - interval.low

    assert width(1600) < 0.5 * width(100)


def test_a_unit_rated_twice_by_one_person_counts_with_the_mean():
    twice = agreement_interval([1, 3, 5, 2, 6], list("AAABB"), [1, 1, 2, 1, 2], n_resamples=0)
    once = agreement_interval([2, 5, 2, 6], list("AABB"), [1, 2, 1, 2], n_resamples=0)
    assert (twice.alpha, twice.n) == (pytest.approx(once.alpha), 4)


def test_large_offsets_do_not_cost_digits():
    ratings, who, what = long(sparse())
    near = agreement_interval(ratings, who, what, n_resamples=100, rng=1)
    far = agreement_interval(ratings + 1e8, who, what, n_resamples=100, rng=1)
    assert far.alpha == pytest.approx(near.alpha, abs=1e-5)
    assert far.one_vs_rest_interval.low == pytest.approx(near.one_vs_rest_interval.low, abs=1e-5)


def test_nothing_to_compare_is_said():
    with pytest.warns(TooFewWarning, match="two ratings"):
        alone = agreement_interval([1, 2, NAN], list("ABA"), [1, 2, 3], rng=1)
    assert np.isnan(alone.alpha)
    assert alone.alpha_interval is None
    assert dict(alone.reasons) == {"missing rating": 1, "item with fewer than two ratings": 2}
    with pytest.warns(ConstantInputWarning, match="do not vary"):
        flat = agreement_interval([5, 5, 5, 5], list("AABB"), [1, 2, 1, 2], rng=1)
    assert np.isnan(flat.one_vs_rest)
    with pytest.warns(TooFewWarning):
        assert agreement_interval([], [], []).n == 0


def test_refusals_name_the_argument():
    with pytest.raises(ValueError, match="annotators and units"):
        agreement_interval([1, 2], ["A"], [1, 2])
    with pytest.raises(ValueError, match="n_resamples"):
        agreement_interval([1.0], ["A"], [1], n_resamples=-1)
