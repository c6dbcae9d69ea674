"""Judgments of documents: against scipy over documents, brute force and simulated designs."""

import warnings
from itertools import product

import numpy as np
import pytest
from scipy import stats

from benchmarks.metaeval.covered.documents import HIGH
from benchmarks.metaeval.covered.judged import ratings
from metaeval.correlation.intervals.jackknife import jackknife_t
from metaeval.judgments import drift
from metaeval.judgments.agreement import agreement_interval, icc, judgment_agreement
from metaeval.judgments.agreement.alpha import log_disagreement
from metaeval.judgments.controls import control_test
from metaeval.judgments.planning import (
    VarianceComponents,
    allocate,
    power_table,
    reweighted_means,
    variance_components,
)
from metaeval.judgments.trial import mean_effect, rate_effect
from metaeval.messages import DataError
from metaeval.results import (
    ApproximationWarning,
    ConstantInputWarning,
    DependentDataWarning,
    TooFewWarning,
)
from tests.refusals import refused

RNG = np.random.default_rng(23)


def flat(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ratings, annotators and items, one entry for each rating."""
    who, what = np.nonzero(~np.isnan(values))
    return values[who, what], who, what


def sparse(n_documents: int = 9, size: int = 6) -> tuple[np.ndarray, np.ndarray]:
    values, of = ratings(RNG, HIGH, (n_documents, size))
    return np.where(RNG.random(values.shape) < 0.15, np.nan, values), of


def test_one_vs_rest_leaves_out_each_document():
    values, of = sparse()
    scores, who, what = flat(values)
    with pytest.warns(TooFewWarning):
        found = agreement_interval(scores, who, what, documents=of[what], rng=1)
    without = []
    for one in np.unique(of):
        kept = of[what] != one
        parts = agreement_interval(scores[kept], who[kept], what[kept], n_resamples=0)
        without.append(parts.one_vs_rest)
    low, high, _ = jackknife_t(found.one_vs_rest, np.array(without), 0.95)
    assert found.one_vs_rest_interval[:2] == pytest.approx((low, high))
    n_items = int(((~np.isnan(values)).sum(axis=0) > 1).sum())
    assert (found.unit, found.n_units, found.n_items) == ("documents", 9, n_items)
    assert found.one_vs_rest_method.code == "method.jackknife-r-documents"


def test_alpha_of_very_many_documents_has_the_error_of_a_jackknife_over_them():
    """The delta method of 2,000 documents against the jackknife over them."""
    values, of = ratings(RNG, HIGH, (2000, 2))
    scores, who, what = flat(values)
    found = agreement_interval(scores, who, what, documents=of[what], n_resamples=1, rng=1)
    assert found.alpha_method.code == "method.delta-alpha-documents"
    x = scores - scores.mean()
    raters = values.shape[0]
    means = np.bincount(what, x) / raters
    within = 2 * raters * np.bincount(what, (x - means[what]) ** 2) / (raters - 1)
    sums = [np.full(len(of), float(raters)), within, np.bincount(what, x), np.bincount(what, x**2)]
    by_document = np.stack([np.bincount(of, each) for each in sums], axis=1)
    logs = log_disagreement(by_document.sum(axis=0) - by_document)
    n = len(logs)
    error = np.sqrt((n - 1) / n * ((logs - logs.mean()) ** 2).sum())
    level = np.log(1 - found.alpha)
    expected = 1 - np.exp(level + np.array([1, -1]) * stats.t.ppf(0.975, n - 1) * error)
    assert found.alpha_interval[:2] == pytest.approx(expected, abs=2e-4)


def test_agreement_needs_six_documents_and_each_item_has_one():
    for n, has_interval in ((5, False), (6, True)):
        values, of = ratings(RNG, HIGH, (n, 8))
        scores, who, what = flat(values)
        with pytest.warns(TooFewWarning):
            found = judgment_agreement(scores, who, what, documents=of[what], rng=1)
        figures = (found.one_vs_rest, found.alpha_z, found.alpha_raw)
        assert [each.interval is not None for each in figures] == [has_interval] * 3
        assert (found.unit, found.n_units, found.n_items) == ("documents", n, 8 * n)
    with pytest.raises(DataError) as caught:
        agreement_interval([1.0, 2.0], ["A", "B"], [0, 0], documents=["a", "b"])
    assert caught.value.message.code == "data.two-documents"
    assert caught.value.message.parameters == {"name": "0", "one": "a", "other": "b"}


def test_icc_leaves_out_each_document():
    values, of = ratings(RNG, HIGH, (20, 3))
    found = icc(values, documents=of, form="A1")
    without = [icc(values[:, of != one], form="A1").statistic for one in range(20)]
    low, high, _ = jackknife_t(found.statistic, np.array(without), 0.95)
    assert found.interval[:2] == pytest.approx((low, high))
    assert found.statistic == icc(values, form="A1").statistic


def test_control_t_of_equal_documents_is_that_of_their_means():
    gaps = RNG.normal(size=24)[np.repeat(range(24), 5)] + RNG.normal(size=120)
    found = control_test(gaps, np.zeros(120), documents=np.repeat(range(24), 5))
    expected = stats.ttest_1samp(gaps.reshape(24, 5).mean(axis=1), 0.0, alternative="less")
    assert (found.statistic, found.pvalue) == pytest.approx((expected.statistic, expected.pvalue))
    assert (found.unit, found.n_units, found.n) == ("documents", 24, 120)


def test_documents_that_all_differ_by_as_much_leave_t_undefined():
    gaps = np.tile([1.0, 3.0], 20)
    with pytest.warns(ConstantInputWarning):
        found = control_test(gaps, np.zeros(40), documents=np.repeat(range(20), 2))
    assert np.isnan(found.pvalue)


def test_signed_ranks_flip_by_document():
    """Against all 2^12 flips of whole documents."""
    gaps = 0.3 + 0.7 * RNG.normal(size=12)[np.repeat(range(12), 4)] + RNG.normal(size=48)
    with pytest.warns(TooFewWarning):
        found = control_test(
            gaps, np.zeros(48), documents=np.repeat(range(12), 4), method="wilcoxon",
            alternative="greater",
        )  # fmt: skip
    ranks = (np.sign(gaps) * stats.rankdata(np.abs(gaps))).reshape(12, 4).sum(axis=1)
    flips = np.array(list(product((-1, 1), repeat=12))) @ ranks
    assert found.pvalue == pytest.approx((flips >= ranks.sum() - 1e-9).mean(), abs=0.01)


def test_the_unpaired_control_test_says_that_it_knows_no_documents():
    with pytest.warns(DependentDataWarning):
        control_test([1, 2, 3, 4], [5, 6, 7, 9], documents="aabb", method="mannwhitney")


def test_drift_is_tested_over_documents():
    values, of = RNG.normal(size=90), np.repeat(range(15), 6)
    found = drift(values, ["A"] * 90, documents=of)
    expected = stats.kendalltau(np.arange(15), values.reshape(15, 6).mean(axis=1))
    assert (found.tau[0], found.n) == (pytest.approx(expected.statistic), 90)
    assert (found.unit, found.n_units, found.units.tolist()) == ("documents", 15, [15])
    with pytest.warns(TooFewWarning):
        assert np.isnan(drift(values, ["A"] * 90, documents=np.repeat(range(9), 10)).pvalue).all()


def test_pairs_are_undecided_until_their_documents_tell_them_apart():
    """A pair on shared documents of one size has the t test of their means, by Bonferroni."""
    of = np.repeat(range(12), 5)
    effects = RNG.normal(size=(3, 12))
    for shift in np.linspace(0.0, 3.0, 13):
        scores = effects[:, of] + 0.3 * RNG.normal(size=(3, 60)) + [[0.0], [shift], [-shift]]
        found = allocate(scores, documents=of)
        for i, j in ((0, 1), (0, 2), (1, 2)):
            gaps = (scores[i] - scores[j]).reshape(12, 5).mean(axis=1)
            is_open = stats.ttest_1samp(gaps, 0.0).pvalue > 0.05 / 3
            assert found.undecided[i, j] == found.undecided[j, i] == is_open
    assert (found.unit, found.n_units) == ("documents", 12)
    means = scores[0].reshape(12, 5).mean(axis=1)
    assert found.variances[0] == pytest.approx(60 * means.var(ddof=1) / 12)
    few = allocate(10.0 * np.arange(2)[:, None] + RNG.normal(size=(2, 60)), documents=of // 3)
    assert few.n_undecided == 1


def test_components_of_documents_are_found_without_bias():
    """Three systems, 20 documents of 5, two annotators; variances 4, 3, 2, 1, ... on average."""
    rng, found = np.random.default_rng(8), []
    names = ("segment", "output", "document", "system_document", "annotator_document", "residual")
    truth = dict(zip(names, (1.0, 1.5, 2.0, 1.2, 0.8, 1.0), strict=True))
    of = np.repeat(range(20), 5)
    for _ in range(60):
        by = {name: np.sqrt(value) for name, value in truth.items()}
        scores = by["segment"] * rng.normal(size=(1, 100, 1))
        scores = scores + by["output"] * rng.normal(size=(3, 100, 1))
        scores = scores + by["document"] * rng.normal(size=(1, 20, 1))[:, of]
        scores = scores + by["system_document"] * rng.normal(size=(3, 20, 1))[:, of]
        scores = scores + by["annotator_document"] * rng.normal(size=(1, 20, 2))[:, of]
        scores = scores + by["residual"] * rng.normal(size=(3, 100, 2))
        system, segment, who = (each.ravel() for each in np.indices(scores.shape))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ApproximationWarning)
            one = variance_components(scores.ravel(), system, segment, who, documents=of[segment])
        found.append([getattr(one, name) for name in names])
    assert (one.n_documents, one.document_size) == (20, 5.0)
    errors = np.std(found, axis=0) / np.sqrt(60)
    assert (np.abs(np.mean(found, axis=0) - list(truth.values())) < 4 * errors + 0.02).all()


def test_the_size_of_documents_is_that_of_a_segments_document():
    values = RNG.normal(size=12)
    with pytest.warns(TooFewWarning):
        found = variance_components(
            values, ["S"] * 12, np.arange(12) // 2, ["A", "B"] * 6, documents=list("aaaaaaaabbcc")
        )
    assert (found.n_documents, found.document_size) == (3, (16 + 1 + 1) / 6)


def test_power_counts_documents():
    """The design effect is 1 + (m - 1) rho, and documents have the power of their means."""
    known = VarianceComponents.stated(
        segment=0.5, output=0.3, annotator=0.0, residual=0.4, system_document=0.3, document_size=8
    )
    table = power_table(
        known, difference=0.4, n_segments=[80, 240], annotators_per_item=[1, 2],
        n_simulations=4000, rng=1,
    )  # fmt: skip
    rho = np.array([0.3 / 1.0, 0.3 / 0.8])
    assert table.correlations == pytest.approx(rho)
    assert table.design_effects == pytest.approx(1 + 7 * rho)
    assert (table.unit, table.n_units, table.document_size) == ("documents", (10, 30), 8.0)
    variance = 2 * (0.3 + 0.3 / 8 + 0.4 / 8)
    critical, shift = stats.t.ppf(0.975, 29), 0.4 / np.sqrt(variance / 30)
    expected = stats.nct.sf(critical, 29, shift) + stats.nct.cdf(-critical, 29, shift)
    assert table.exact[0, 1] == pytest.approx(expected)
    assert table.power == pytest.approx(table.exact, abs=0.03)
    assert (table.smallest % 8 == 0).all()
    alone = power_table(
        known, difference=0.4, n_segments=[80], annotators_per_item=[1], document_size=1,
        n_simulations=50, rng=1,
    )  # fmt: skip
    assert alone.smallest[0, 0] < table.smallest[0, 0] / 2
    with refused("argument.least", kind=DataError, name="document_size", least=1, value=0.0):
        power_table(known, difference=1, n_segments=[9], annotators_per_item=[1], document_size=0)


def test_reweighted_means_warn_below_twenty_documents_and_need_six():
    for n in (5, 6, 20):
        scores = RNG.normal(size=n)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = reweighted_means(scores, "A" * n, range(n), np.full(n, 0.5))
        assert np.isnan(found.lows[0]) == (n < 6)
        assert [each.category for each in caught] == [TooFewWarning] * (n < 20)


def test_what_documents_share_widens_the_effect_of_a_condition():
    """People who rate the same documents see the same: cluster sums by loops."""
    n_people, of = 8, np.repeat(range(25), 4)
    who, what = (each.ravel() for each in np.indices((n_people, 100)))
    shown = RNG.random(len(who)) < 0.5
    values = RNG.normal(size=len(who)) + shown * RNG.normal(size=25)[of[what]]
    alone = mean_effect(values, shown, who, what)
    found = mean_effect(values, shown, who, what, documents=of[what])
    assert found.statistic == alone.statistic
    width = [each.interval.high - each.interval.low for each in (alone, found)]
    assert width[1] > 1.2 * width[0]
    assert (found.unit, found.n_units, alone.unit) == ("documents", 25, "segments")
    events = values > 0
    rate = rate_effect(events, shown, who, documents=of[what])
    plain = rate_effect(events, shown, who)
    rates = [events[shown].mean(), events[~shown].mean()]
    parts = np.where(shown, (events - rates[0]) / shown.sum(), (rates[1] - events) / (~shown).sum())
    by = [sum(parts[of[what] == d].sum() ** 2 for d in range(25)),
          sum(parts[(of[what] == d) & (who == a)].sum() ** 2
              for d in range(25) for a in range(n_people))]  # fmt: skip
    reach = stats.t.ppf(0.975, n_people - 1)
    error = (plain.interval.high - plain.statistic) / reach
    expected = np.sqrt(error**2 + max(0.0, by[0] - by[1]) * 25 / 24)
    assert (rate.interval.high - rate.statistic) / reach == pytest.approx(expected)


def test_trials_of_few_documents_have_no_interval():
    who, what = (each.ravel() for each in np.indices((6, 10)))
    shown, values = RNG.random(60) < 0.5, RNG.normal(size=60)
    with pytest.warns(TooFewWarning):
        found = mean_effect(values, shown, who, what, documents=what // 2)
    assert found.interval is None
    with pytest.warns(TooFewWarning):
        assert rate_effect(values > 0, shown, who, documents=what // 2).interval is None
