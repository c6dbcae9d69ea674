"""Intervals of agreement against an independent slow bootstrap."""

import json
import warnings

import krippendorff
import numpy as np
import pytest
from scipy import stats

from metaeval.judgments import z_scores
from metaeval.judgments.agreement import (
    agreement_interval,
    judgment_agreement,
    krippendorff_alpha,
    one_vs_rest_pearson,
)
from metaeval.judgments.agreement.alpha import (
    COLUMNS,
    ROWS,
    delta_interval,
    influence,
    standard_errors,
)
from metaeval.judgments.agreement.paired import pair
from metaeval.messages import DataError
from metaeval.results import ConstantInputWarning, Notes, TooFewWarning
from tests.metaeval.published import DATA
from tests.refusals import refused, tells

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


def weighted_log(table, weights):
    """log(1 - alpha) by definition, every item counted ``weights`` times."""
    m = (~np.isnan(table)).sum(axis=0)
    pairs = np.nansum((table[:, None] - table[None]) ** 2, axis=(0, 1)) / (m - 1)
    n = weights @ m
    mean = weights @ np.nansum(table, axis=0) / n
    spread = weights @ np.nansum((table - mean) ** 2, axis=0)
    return np.log(weights @ pairs / n / (2 * n * spread / (n * (n - 1))))


def log_and_error(table, weights):
    """The same with its delta error, from numerical derivatives."""
    size, step = table.shape[1], 1e-5
    at = weighted_log(table, weights)
    moved = [weighted_log(table, weights + step * row) for row in np.eye(size)]
    slopes = (np.array(moved) - at) / step
    mean = weights @ slopes / size
    return at, np.sqrt(size / (size - 1) * weights @ (slopes - mean) ** 2)


def test_the_interval_of_alpha_equals_a_slow_studentised_bootstrap():
    table = sparse(annotators=4, units=30)
    table = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    size = table.shape[1]
    result = agreement_interval(*long(table), n_resamples=2000, rng=11)
    level, error = log_and_error(table, np.ones(size))
    assert level == pytest.approx(np.log(1 - krippendorff.alpha(table, None, None, "interval")))
    rng = np.random.default_rng(99)
    drawn = [
        log_and_error(table, rng.multinomial(size, np.ones(size) / size).astype(float))
        for _ in range(400)
    ]
    ratios = [(at - level) / se for at, se in drawn]
    ends = 1 - np.exp(level - np.quantile(ratios, [0.025, 0.975]) * error)
    assert result.alpha_interval[:2] == pytest.approx(ends, abs=0.08)
    assert result.alpha_method.code == "method.bootstrap-alpha-items"


def test_from_two_thousand_items_the_error_alone_gives_the_interval():
    rng = np.random.default_rng(6)
    table = rng.normal(size=2000) + rng.normal(size=(3, 2000))
    whole = agreement_interval(*long(table), rng=1)
    most = agreement_interval(*long(table[:, :1999]), n_resamples=2000, rng=1)
    assert whole.alpha_method.code == "method.delta-alpha-items"
    assert most.alpha_method.code == "method.bootstrap-alpha-items"
    assert whole.alpha_interval[:2] == pytest.approx(most.alpha_interval[:2], abs=3e-3)


def test_the_published_checks():
    """estimation-checks.json: alpha's error, the F interval, the jackknife of r."""
    checks = json.loads((DATA.parent / "specs/estimation-checks.json").read_text("utf-8"))["checks"]
    error, f, jackknife = (
        next(each for each in checks if each["id"] == name)
        for name in ("1-alpha-se", "1-alpha-F", "1-ovr-jack")
    )
    table = np.array(error["inputs"]["items_by_raters"]).T
    found = agreement_interval(*long(table), rng=1)
    sums = pair(*(np.ravel(each) for each in long(table)), Notes()).alpha_sums()
    totals, products = sums.sum(axis=0), (sums[:, ROWS] * sums[:, COLUMNS]).sum(axis=0)
    expected = error["expected"]
    assert found.alpha == pytest.approx(expected["alpha"], abs=1e-6)
    assert sums @ influence(totals) == pytest.approx(expected["influence"], abs=1e-4)
    assert standard_errors(totals, products, 6) == pytest.approx(expected["se_delta"], abs=1e-4)
    ends = [f["expected"][end] for end in ("low", "high")]
    assert found.alpha_interval[:2] == pytest.approx(ends, abs=1e-5)
    assert found.alpha_method.code == "method.f"
    ends = [jackknife["expected"][end] for end in ("low", "high")]
    assert found.one_vs_rest_interval[:2] == pytest.approx(ends, abs=1e-5)


def test_a_published_check_of_alpha_with_one_more_unit_of_two_ratings():
    checks = json.loads((DATA.parent / "specs/estimation-checks.json").read_text("utf-8"))["checks"]
    check = next(each for each in checks if each["id"] == "7-alpha-update")
    table = np.array([*check["inputs"]["items_by_raters"], [55, 65, np.nan]]).T
    assert krippendorff_alpha(table).statistic == pytest.approx(
        check["expected"]["alpha"], abs=1e-6
    )


def test_the_jackknife_of_r_leaves_out_every_item():
    table = sparse(annotators=4, units=40)
    table = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    size = table.shape[1]
    z = np.arctanh([one_vs_rest(np.delete(table, column, axis=1)) for column in range(size)])
    half = stats.t.ppf(0.975, size - 1) * np.sqrt((size - 1) * np.var(z))
    centre = np.arctanh(one_vs_rest(table))
    found = agreement_interval(*long(table), rng=1).one_vs_rest_interval
    assert found[:2] == pytest.approx(np.tanh([centre - half, centre + half]))


def test_intervals_of_ten_items_cover_the_truth():
    """Known truth: alpha = rho = .5, r = rho sqrt(2/(1 + rho)) = .577 (three annotators)."""
    rng, covered, n = np.random.default_rng(8), np.zeros(2), 200
    who, what = np.indices((3, 10))
    for number in range(n):
        table = np.sqrt(0.5) * (rng.normal(size=10) + rng.normal(size=(3, 10)))
        result = agreement_interval(
            table.ravel(), who.ravel(), what.ravel(), n_resamples=256, rng=number
        )
        alpha, r = result.alpha_interval, result.one_vs_rest_interval
        covered += alpha.low <= 0.5 <= alpha.high, r.low <= 0.57735 <= r.high
    assert (covered / n).min() > 0.925


def test_two_items_prove_nothing():
    result = agreement_interval([10, 90, 10, 90, 10, 90], list("AABBCC"), [1, 2] * 3, rng=1)
    assert (result.alpha, result.one_vs_rest) == (1.0, 1.0)
    assert (result.alpha_interval, result.one_vs_rest_interval) == (None, None)
    assert {warning.code for warning in result.warnings} == {"too_few"}
    near = agreement_interval([10, 90, 10, 91, 11, 90], list("AABBCC"), [1, 2] * 3, rng=1)
    assert near.alpha_interval is None
    assert near.warnings[-1].message.code == "agreement.few-items"


def test_below_eight_items_alpha_has_the_f_interval_of_complete_raw_scores_alone():
    table = sparse(annotators=3, units=7, seed=5)
    ratings = 50 + 15 * np.random.default_rng(5).normal(size=table.shape)
    assert agreement_interval(*long(ratings), rng=1).alpha_method.code == "method.f"
    gap = ratings.copy()
    gap[0, 0] = NAN
    z = (ratings - ratings.mean(axis=1, keepdims=True)) / ratings.std(axis=1, keepdims=True)
    for other in (gap, z):
        result = agreement_interval(*long(other), rng=1)
        assert result.alpha_interval is None
        assert "too_few" in {warning.code for warning in result.warnings}
        assert result.one_vs_rest_interval is not None


def test_perfect_agreement_on_many_items_has_no_interval():
    ratings = np.tile(np.arange(20.0), 2)
    result = agreement_interval(ratings, ["A"] * 20 + ["B"] * 20, [*range(20)] * 2, rng=1)
    assert (result.alpha, result.alpha_interval, result.one_vs_rest_interval) == (1.0, None, None)
    assert any(tells(str(each), "agreement.no-disagreement") for each in result.warnings)


def test_zeros_and_skew_are_warned_of():
    def codes(ratings):
        found = agreement_interval(*long(ratings), rng=1).warnings
        return [each.message.code for each in found if each.code == "approximation"]

    rng = np.random.default_rng(2)
    zeros = np.where(rng.random((3, 120)) < 0.6, 0.0, rng.integers(1, 10, (3, 120)))
    heavy = np.exp(rng.normal(size=(3, 120)) + rng.normal(size=120))
    for ratings in (zeros, heavy):
        assert set(codes(ratings[:, :60])) == {"agreement.unreliable-interval"}
        assert set(codes(ratings)) == {"agreement.lower-coverage"}
        assert set(codes(np.tile(ratings, 20))) == {"agreement.lower-coverage"}
    assert not codes(np.clip(np.round(70 + 20 * rng.normal(size=(3, 60))), 0, 100))


def crowd(annotators, units, rng):
    """Two of many annotators rate each unit; rho = .5."""
    who = np.argsort(rng.random((units, annotators)), axis=1)[:, :2].ravel()
    what = np.repeat(np.arange(units), 2)
    return rng.normal(size=units)[what] + rng.normal(size=2 * units), who, what


def test_z_scores_from_few_ratings_each_have_no_interval():
    found = judgment_agreement(*crowd(25, 100, np.random.default_rng(3)), rng=1)
    assert found.alpha_raw.interval is not None
    assert (found.alpha_z.interval, found.one_vs_rest.interval) == (None, None)
    assert tells(str(found.warnings[0]), "agreement.few-ratings-each", each=8)


def test_intervals_of_a_crowds_z_scores_cover_the_truth():
    """True alpha and r are .5; with 10 ratings each, z-scores take .07 off, of any number."""
    rng, n, covered = np.random.default_rng(9), 12, np.zeros(3)
    for _ in range(n):
        found = judgment_agreement(*crowd(200, 1000, rng), n_resamples=200, rng=1)
        ends = found.alpha_z.interval, found.one_vs_rest.interval, found.alpha_raw.interval
        covered += [each.low <= 0.5 <= each.high for each in ends]
        assert found.alpha_z.interval.low < found.alpha_z.statistic < 0.5
    assert (covered / n).min() > 0.85
    assert found.alpha_z.method.code == "method.widened"
    assert found.alpha_z.method.parameters["each"] == 10


def test_judgments_agree_as_their_z_scores_and_scores_do():
    ratings, who, what = long(sparse())
    found = judgment_agreement(ratings, who, what, rng=4)
    raw = agreement_interval(ratings, who, what, rng=4)
    z = agreement_interval(z_scores(ratings, who).z, who, what, is_standardised=True, rng=4)
    assert found.alpha_raw.interval == raw.alpha_interval
    assert (found.alpha_z.interval, found.alpha_z.statistic) == (z.alpha_interval, z.alpha)
    assert found.one_vs_rest.interval == z.one_vs_rest_interval
    assert (found.alpha_raw.seed, found.alpha_raw.n_resamples) == (4, 1000)


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
    with pytest.warns(TooFewWarning):
        alone = agreement_interval([1, 2, NAN], list("ABA"), [1, 2, 3], rng=1)
    assert np.isnan(alone.alpha)
    assert alone.alpha_interval is None
    assert dict(alone.reasons) == {"missing-rating": 1, "fewer-than-two-ratings": 2}
    with pytest.warns(ConstantInputWarning):
        flat = agreement_interval([5, 5, 5, 5], list("AABB"), [1, 2, 1, 2], rng=1)
    assert np.isnan(flat.one_vs_rest)
    with pytest.warns(TooFewWarning):
        assert agreement_interval([], [], []).n == judgment_agreement([], [], []).n == 0
    alone = judgment_agreement([10, 20, 30], list("ABA"), [1, 2, 3], rng=1)
    assert [np.isnan(each.statistic) for each in (alone.alpha_z, alone.alpha_raw)] == [True] * 2


def test_constant_others_leave_nothing_to_correlate_with():
    rng = np.random.default_rng(9)
    for _ in range(50):
        others = np.repeat(rng.integers(0, 101, size=4), 12).reshape(4, 12)
        found = agreement_interval(*long(np.vstack([rng.random(12), others])), n_resamples=0)
        assert np.isnan(found.one_vs_rest)
    with pytest.warns(ConstantInputWarning):
        twice = agreement_interval([0.1] * 9, list("AAAABBCCC"), [1, 1, 1, 2, 1, 2, 1, 2, 2])
    assert np.isnan([twice.alpha, twice.one_vs_rest]).all()


def test_the_unit_of_the_scores_changes_no_warning():
    ratings, who, what = long(sparse())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small = agreement_interval(ratings * 1e-12, who, what, n_resamples=100, rng=1)
    plain = agreement_interval(ratings, who, what, n_resamples=100, rng=1)
    assert small.alpha_interval == pytest.approx(plain.alpha_interval)


def test_an_end_without_bound_complains_of_no_overflow():
    """Two units have one degree of freedom, and t far out."""
    sums = np.array([[2.0, 0.1, 0.5, 1.0], [2.0, 1.0, -0.5, 2.0]])
    values = [1, 2, 2, *[1] * 9, 0, 1, 2, *[1] * 11]
    who, what = list("AB") * 13, np.repeat(np.arange(13), 2)
    with np.errstate(over="raise"):
        assert delta_interval(sums, 1.0 - 1e-15)[:2] == (-1.0, 1.0)
        agreement_interval(values, who, what, n_resamples=60, rng=1)


def test_refusals_name_the_argument():
    with refused(
        "argument.lengths",
        kind=DataError,
        names=["annotators", "units", "ratings"],
        lengths=[1, 2, 2],
    ):
        agreement_interval([1, 2], ["A"], [1, 2])
    with refused("argument.integer", kind=DataError, name="n_resamples", least=0, value=-1):
        agreement_interval([1.0], ["A"], [1], n_resamples=-1)
