import numpy as np
import pytest
from scipy import stats

from metaeval.judgments import drift
from metaeval.judgments.drift import DriftWarning
from metaeval.messages import DataError
from metaeval.results import ConstantInputWarning, TooFewWarning
from tests.refusals import refused

RISING = [1, 2, 4, 3, 5, 7, 6, 9, 8, 10]


def test_equals_scipy_with_holm_by_hand() -> None:
    rng = np.random.default_rng(5)
    people = {"steady": rng.normal(size=60), "falling": rng.normal(size=60) - np.arange(60) / 25}
    with pytest.warns(DriftWarning):
        found = drift(np.concatenate(list(people.values())), np.repeat(list(people), 60))
    expected = [stats.kendalltau(np.arange(60), own) for own in people.values()]
    order = [found.annotators.index(name) for name in people]
    np.testing.assert_allclose(found.tau[order], [each.statistic for each in expected])
    np.testing.assert_allclose(found.pvalue[order], [each.pvalue for each in expected])
    steady, falling = (each.pvalue for each in expected)
    np.testing.assert_allclose(found.adjusted[order], [max(steady, 2 * falling), 2 * falling])
    assert found.is_drifting[order].tolist() == [False, True]
    assert found.first[order[1]] == pytest.approx(people["falling"][:20].mean())
    assert found.last[order[1]] == pytest.approx(people["falling"][-20:].mean())


def test_tau_counted_by_hand() -> None:
    pairs = [(i, j) for i in range(10) for j in range(i + 1, 10)]
    s = sum(np.sign(RISING[j] - RISING[i]) for i, j in pairs)
    with pytest.warns(DriftWarning):
        assert drift(RISING, "A" * 10).tau[0] == pytest.approx(s / 45)


def test_too_few_and_constant_have_no_test() -> None:
    with (
        pytest.warns(TooFewWarning),
        pytest.warns(ConstantInputWarning),
    ):
        found = drift([5] * 12 + [1, np.nan, 2], ["A"] * 12 + ["B"] * 3)
    assert np.isnan(found.pvalue).all()
    assert not found.is_drifting.any()
    assert found.counts.tolist() == [12, 2]
    assert found.n_excluded == 1
    assert found.first[1] == 1.0


def test_false_alarms_stay_near_the_level() -> None:
    rng = np.random.default_rng(11)
    found = drift(rng.normal(size=400 * 30), np.repeat(np.arange(400), 30))
    assert (found.pvalue <= 0.05).mean() == pytest.approx(0.05, abs=0.03)


def test_labels_must_match() -> None:
    with refused(
        "argument.lengths", kind=DataError, names=["values", "annotators"], lengths=[2, 1]
    ):
        drift([1, 2], ["A"])
