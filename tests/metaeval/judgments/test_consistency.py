import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metaeval.judgments.controls import pass_rate, repeat_consistency
from metaeval.messages import DataError
from metaeval.results import ConstantInputWarning, MissingDataWarning, TooFewWarning
from tests.metaeval.published import table
from tests.refusals import refused


@given(st.integers(1, 200), st.data())
def test_wilson_interval_equals_scipy(n, data):
    passed = data.draw(st.integers(0, n))
    ours = pass_rate(passed, n)
    theirs = stats.binomtest(passed, n).proportion_ci(method="wilson")
    assert ours.interval[:2] == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert ours.statistic == passed / n


def test_no_items_have_no_rate():
    with pytest.warns(TooFewWarning):
        assert np.isnan(pass_rate(0, 0).statistic)
    assert pass_rate(0, 0).interval is None
    for passed, n in ((2, 1), (-1, 3)):
        with refused("argument.range", kind=DataError, name="passed", low=0):
            pass_rate(passed, n)


def test_consistency_equals_numpy_and_scipy():
    rng = np.random.default_rng(1)
    first = rng.integers(0, 101, 30)
    second = np.clip(first + rng.normal(3, 10, 30), 0, 100)
    result = repeat_consistency(first, second)
    assert result.mean_absolute == pytest.approx(np.mean(np.abs(second - first)))
    assert result.mean_difference == pytest.approx(second.mean() - first.mean())
    assert result.sd == pytest.approx(stats.tstd(second - first))
    assert result.r == pytest.approx(stats.pearsonr(first, second).statistic)


def test_what_is_undefined_is_nan():
    with pytest.warns(ConstantInputWarning):
        constant = repeat_consistency([50, 50, 50], [50, 50, 50])
    with pytest.warns(ConstantInputWarning):
        assert np.isnan(repeat_consistency([1, 2], [50, 50]).r)
    assert constant.mean_absolute == 0
    assert np.isnan(constant.r)
    with pytest.warns(TooFewWarning):
        assert np.isnan(repeat_consistency([], []).mean_absolute)
    with pytest.warns(TooFewWarning):
        assert np.isnan(repeat_consistency([1], [2]).sd)
    with pytest.warns(MissingDataWarning):
        assert repeat_consistency([1, np.nan], [2, 3]).n == 1


def rows(name):
    columns = table(name)
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def test_consistency_alone_admits_those_who_do_not_read():
    """Graham et al. 2015: the rejected worker W08 gave 48 to 50 throughout, in 85 seconds."""
    items = {
        (row["hit"], row["position"]): row for row in rows("raw-crowd-da/graham2015/items.tsv")
    }
    scores = {
        (row["hit"], row["worker"], row["position"]): float(row["score"])
        for row in rows("raw-crowd-da/graham2015/judgments.tsv")
        if row["score"]
    }
    pairs = {}
    for (hit, worker, position), score in scores.items():
        item = items[hit, position]
        partner = scores.get((hit, worker, item["paired_position"]))
        if item["type"] == "REPEAT" and partner is not None:
            pairs.setdefault(worker, []).append((partner, score))
    mean = {
        worker: repeat_consistency(*zip(*values, strict=True)).mean_absolute
        for worker, values in pairs.items()
        if len(values) == 10
    }
    assert len(mean) >= 25
    assert min(mean, key=mean.get) == "W08"
    assert mean["W08"] < 1 < sorted(mean.values())[1]
