import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from metaeval import ScoreMatrix
from metaeval.correlation import kendall, pearson, spearman, system_correlation
from metaeval.correlation.intervals import system_intervals
from metaeval.correlation.measure import COEFFICIENTS, SYSTEM_LEVEL, Measure
from metaeval.correlation.rows import kendall_tau, row_kendall, row_spearman
from metaeval.results import (
    ConstantInputWarning,
    MissingDataWarning,
    TooFewWarning,
    UndefinedGroupWarning,
)
from metaeval.significance import boot_interval
from tests.metaeval.published import numbers, pivot, table

RNG = np.random.default_rng(4)
X, Y = RNG.integers(0, 9, 60).astype(float), RNG.integers(0, 9, 60).astype(float)


def test_vectors_equal_scipy():
    for function, peer in (
        (pearson, stats.pearsonr),
        (spearman, stats.spearmanr),
        (kendall, stats.kendalltau),
    ):
        own, other = function(X, Y), peer(X, Y)
        assert own.statistic == pytest.approx(other.statistic)
        assert own.pvalue == pytest.approx(other.pvalue)
    own = kendall(X, Y, variant="c").statistic
    assert own == pytest.approx(stats.kendalltau(X, Y, variant="c").statistic)


@given(
    arrays(np.float64, (2, 8), elements=st.integers(0, 4).map(float)),
    st.sampled_from("bc"),
)
def test_short_rows_equal_the_long_algorithm(pair, variant):
    short = row_kendall(pair[:1], pair[1:], variant)[0]
    assert short == pytest.approx(kendall_tau(pair[0], pair[1], variant), nan_ok=True)
    if np.ptp(pair[0]) and np.ptp(pair[1]):
        rho = row_spearman(pair[:1], pair[1:])[0]
        assert rho == pytest.approx(stats.spearmanr(*pair).statistic)


def test_groupings_equal_a_plain_loop():
    x, y = RNG.normal(size=(5, 12)), RNG.normal(size=(5, 12))
    names = [f"S{i}" for i in range(5)], [str(j) for j in range(12)]
    left, right = ScoreMatrix(x, *names), ScoreMatrix(y, *names)
    item = [stats.kendalltau(x[:, j], y[:, j]).statistic for j in range(12)]
    assert kendall(left, right, grouping="item").statistic == pytest.approx(np.mean(item))
    system = [stats.spearmanr(x[i], y[i]).statistic for i in range(5)]
    assert spearman(left, right, grouping="system").statistic == pytest.approx(np.mean(system))
    flat = stats.pearsonr(x.ravel(), y.ravel()).statistic
    assert pearson(left, right).statistic == pytest.approx(flat)


def test_undefined_groups_are_left_out_and_counted():
    left = ScoreMatrix([[1, 1, 5], [2, 1, 7]], "AB", "stu")
    right = ScoreMatrix([[1, 2, 9], [2, 3, np.nan]], "AB", "stu")
    with pytest.warns(UndefinedGroupWarning, match="2 of 3"):
        result = pearson(left, right, grouping="item")
    assert result.statistic == 1.0
    assert (result.n, result.n_excluded) == (5, 1)


def test_degenerate_vectors_are_nan_with_a_warning():
    with pytest.warns(ConstantInputWarning):
        assert np.isnan(kendall([0.1] * 3, [1, 2, 3]).statistic)
    with pytest.warns(TooFewWarning):
        assert np.isnan(pearson([1], [2]).statistic)
    with pytest.warns(MissingDataWarning):
        assert pearson([1, 2, np.nan, 3], [2, 4, 5, 7]).n == 3
    with pytest.raises(ValueError, match="needs two ScoreMatrix"):
        pearson([1, 2], [1, 2], grouping="item")


@pytest.mark.parametrize(
    ("metric", "system", "segment"),
    [("BLEU", 0.917, 0.192), ("chrF", 0.866, 0.232), ("GEMBA-MQM", 0.993, 0.502)],
)
def test_published_wmt23_correlations(metric, system, segment):
    scores = table("wmt23-meta/en-de/segment-scores.tsv")
    column = next(name for name in scores if name.split("-src")[0].split("-refA")[0] == metric)
    keep = [i for i, name in enumerate(scores["system"]) if name != "refA"]
    pick = lambda name: [scores[name][i] for i in keep]  # noqa: E731
    axes = pick("system"), pick("seg")
    human = ScoreMatrix(*pivot(*axes, numbers(pick("mqm"))))
    own = ScoreMatrix(*pivot(*axes, numbers(pick(column))))
    with pytest.warns(MissingDataWarning):
        result = pearson(human, own)
    assert result.n == 5520
    assert round(result.statistic, 3) == segment
    given_scores = table("wmt23-meta/en-de/system-scores.tsv")
    rows = [i for i, name in enumerate(given_scores["system"]) if name != "refA"]
    pairs = [[numbers(given_scores[name])[i] for i in rows] for name in ("mqm", column)]
    assert round(system_correlation(*pairs).statistic, 3) == system


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize("metric", [[3, 1], [1, 3], [2, 2]])
def test_over_two_systems_nothing_correlates(name, metric):
    """Random scores would: half the time at 1."""
    said = "2 systems: a correlation over systems needs 3; two are always at ±1."
    with pytest.warns(TooFewWarning, match=re.escape(said)):
        alone = system_correlation([1, 2], metric, name)
    with pytest.warns(TooFewWarning, match=re.escape(said)):
        among = system_intervals([1, 2], {"m": metric}, name)
    assert [len(alone.warnings), len(among.warnings)] == [1, 1]
    assert np.isnan([alone.statistic, *among.values]).all()
    segments = [str(n) for n in range(30)]
    scores = np.random.default_rng(3).normal(size=(2, 2, 30))
    human, other = (ScoreMatrix(values, "AB", segments) for values in scores)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = boot_interval(human, other, Measure(name, SYSTEM_LEVEL), n_resamples=9, rng=1)
    assert np.isnan([drawn.statistic, *drawn.interval[:2]]).all()
