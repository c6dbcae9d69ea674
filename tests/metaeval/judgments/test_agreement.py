import itertools

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from metaeval.judgments import z_scores
from metaeval.judgments.agreement import (
    annotator_alphas,
    krippendorff_alpha,
    one_vs_rest_pearson,
)
from metaeval.judgments.agreement.estimates import LEVELS
from metaeval.messages import DataError
from metaeval.results import ConstantInputWarning, TooFewWarning
from tests.metaeval.published import numbers, pivot, table
from tests.refusals import refused

NAN = np.nan
# Krippendorff (2011), "Computing Krippendorff's alpha-reliability", example D with missing data.
KRIPPENDORFF_D = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]


@pytest.mark.parametrize(
    ("level", "published"),
    [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)],
)
def test_krippendorffs_own_example(level, published):
    result = krippendorff_alpha(KRIPPENDORFF_D, level=level)
    assert round(result.statistic, 3) == published
    assert (result.n, result.n_items, result.n_excluded) == (40, 11, 1)


@given(
    arrays(np.float64, (3, 6), elements=st.integers(0, 5).map(float)),
    arrays(np.bool_, (3, 6)),
    st.sampled_from(LEVELS),
)
def test_equals_the_krippendorff_package(ratings, missing, level):
    ratings = np.where(missing, NAN, ratings)
    pairable = ratings[:, (~np.isnan(ratings)).sum(axis=0) > 1]
    if not pairable.size or len(np.unique(pairable[~np.isnan(pairable)])) < 2:
        with pytest.warns((ConstantInputWarning, TooFewWarning)):
            assert np.isnan(krippendorff_alpha(ratings, level=level).statistic)
        return
    peer = krippendorff.alpha(ratings, level_of_measurement=level)
    assert krippendorff_alpha(ratings, level=level).statistic == pytest.approx(peer, abs=1e-9)


def test_interval_alpha_keeps_its_digits_far_from_zero():
    rng = np.random.default_rng(0)
    ratings = rng.normal(size=(3, 50))
    near = krippendorff_alpha(ratings).statistic
    assert krippendorff_alpha(ratings + 1e8).statistic == pytest.approx(near, abs=1e-6)


def test_alpha_is_the_mean_of_its_annotators():
    ratings = np.array(KRIPPENDORFF_D)
    found = annotator_alphas(ratings)
    peer = krippendorff.alpha(ratings, level_of_measurement="interval")
    present = ~np.isnan(ratings)
    n = (present & (present.sum(axis=0) > 1)).sum(axis=1)
    assert np.average(found, weights=n) == pytest.approx(peer)
    expected = krippendorff_alpha(ratings).expected
    for one, row in enumerate(ratings):
        others = np.delete(ratings, one, axis=0)
        shared = present[one] & (~np.isnan(others)).any(axis=0)
        distance = np.nanmean((others[:, shared] - row[shared]) ** 2, axis=0).mean()
        assert found[one] == pytest.approx(1 - distance / expected)


def test_an_annotator_without_shared_items_has_no_alpha():
    found = annotator_alphas([[1, 2, NAN], [2, 2, NAN], [NAN, NAN, 4]])
    assert np.isnan(found).tolist() == [False, False, True]
    assert np.isnan(annotator_alphas([[3, 3], [3, 3]])).all()


def test_ratio_refuses_negative_ratings():
    with refused("data.negative", kind=DataError):
        krippendorff_alpha([[-1, 2], [1, 2]], level="ratio")


def test_one_vs_rest_equals_scipy_on_complete_ratings():
    ratings = np.random.default_rng(5).normal(size=(4, 30))
    result = one_vs_rest_pearson(ratings, annotators="WXYZ")
    for index in range(4):
        rest = np.delete(ratings, index, axis=0).mean(axis=0)
        assert result.r[index] == pytest.approx(stats.pearsonr(ratings[index], rest)[0])
    assert result.statistic == pytest.approx(result.r.mean())
    assert result.annotators == ("W", "X", "Y", "Z")


def test_one_vs_rest_uses_only_shared_items():
    ratings = np.array([[1, 2, 3, 9, NAN], [2, 2, 5, NAN, NAN], [1, 3, NAN, NAN, 4]])
    result = one_vs_rest_pearson(ratings)
    rest = [1.5, 2.5, 5]
    assert result.r[0] == pytest.approx(stats.pearsonr([1, 2, 3], rest)[0])
    assert result.counts.tolist() == [3, 3, 2]
    assert result.n_excluded == 2


def test_one_vs_rest_names_the_constant_annotator():
    with pytest.warns(ConstantInputWarning):
        result = one_vs_rest_pearson([[5, 5, 5], [1, 2, 3], [1, 3, 2]])
    assert np.isnan(result.r[0])
    assert result.statistic == pytest.approx(result.r[1:].mean())
    with pytest.warns(TooFewWarning):
        assert np.isnan(one_vs_rest_pearson([[1, 2, NAN], [NAN, NAN, 3]]).statistic)


def test_one_vs_rest_against_constant_others_is_undefined_however_sums_round():
    with pytest.warns(ConstantInputWarning):
        result = one_vs_rest_pearson([[0.3, 0.7, 0.45, 0.9, 0.12], [0.1] * 5, [0.1] * 5])
    assert np.isnan(result.r).all()
    assert np.isnan(result.statistic)
    # Opposite others cancel, and have a correlation each.
    up, down = np.array([[0.1, 0.2, 0.3, 0.7], [0.9, 0.8, 0.7, 0.3]])
    assert np.isnan(one_vs_rest_pearson([[0.3, 0.7, 0.45, 0.9], up, down]).r).tolist() == [
        True, False, False
    ]  # fmt: skip


@pytest.mark.parametrize("r", [0.3, 0.7])
def test_alpha_of_equicorrelated_standard_annotators_is_their_correlation(r):
    """Of three with equal means and pairwise r: alpha -> r, one-vs-rest -> r sqrt(2/(1+r))."""
    rng = np.random.default_rng(11)
    covariance = np.full((3, 3), r) + (1 - r) * np.eye(3)
    raw = rng.multivariate_normal(np.zeros(3), covariance, size=40_000).T
    flat = z_scores(raw.ravel(), np.repeat(list("ABC"), raw.shape[1]))
    ratings = flat.z.reshape(raw.shape)
    assert krippendorff_alpha(ratings).statistic == pytest.approx(r, abs=0.01)
    expected = r * np.sqrt(2 / (1 + r))
    assert one_vs_rest_pearson(ratings).statistic == pytest.approx(expected, abs=0.01)


def test_raw_or_z_decides_on_real_annotators():
    """en-zh of MLQE, first round: three annotators, two of whom use a narrow range."""
    judgments = table("da-annotators/en-zh/judgments.tsv")
    early = [i for i, position in enumerate(judgments["position"]) if int(position) < 3]
    who = [judgments["annotator"][i] for i in early]
    what = [judgments["segment_id"][i] for i in early]
    scores = numbers(judgments["raw"])[early]
    raw, _, _ = pivot(who, what, scores)
    z, _, _ = pivot(who, what, z_scores(scores, who).z)
    assert krippendorff_alpha(raw).statistic == pytest.approx(0.124, abs=5e-4)
    few = z[:, :40]
    peer = krippendorff.alpha(few, level_of_measurement="interval")
    assert krippendorff_alpha(few).statistic == pytest.approx(peer, abs=1e-9)
    assert krippendorff_alpha(z).statistic > 0.5


def test_permuting_annotators_and_items_changes_nothing():
    rng = np.random.default_rng(2)
    ratings = np.where(rng.random((4, 9)) < 0.3, NAN, rng.integers(1, 6, (4, 9)))
    shuffled = ratings[rng.permutation(4)][:, rng.permutation(9)]
    for level in LEVELS:
        values = [krippendorff_alpha(r, level=level).statistic for r in (ratings, shuffled)]
        assert values[0] == pytest.approx(values[1])


def test_ordinal_alpha_ignores_monotone_maps():
    ratings = np.array(list(itertools.islice(itertools.cycle([1, 2, 4, 3, 2]), 24)), float)
    ratings = ratings.reshape(3, 8)
    plain = krippendorff_alpha(ratings, level="ordinal").statistic
    assert krippendorff_alpha(np.exp(ratings), level="ordinal").statistic == pytest.approx(plain)
