"""d(a, b; x) and the share that is preferred, against the literal check."""

import numpy as np
import pytest
from scipy import stats

from metaeval.results import TooFewWarning
from metaeval.systems import pool_preferences, preference
from tests.extensions.neural.mover.published import CHECKS


def test_published_share() -> None:
    inputs, expected = CHECKS["C6"]["inputs"], CHECKS["C6"]["expected"]
    result = preference(inputs["m_literal"], inputs["m_reference"])
    np.testing.assert_allclose(result.differences, expected["d"], atol=1e-12)
    assert result.statistic == expected["W2W"]
    assert result.ties == 0.25
    assert result.mean == pytest.approx(np.mean(expected["d"]))
    assert result.median == pytest.approx(np.median(expected["d"]))


def test_missing_scores_are_left_out_and_counted() -> None:
    result = preference([0.4, np.nan, 0.1], [0.3, 0.2, np.nan])
    assert (result.n, result.statistic, dict(result.reasons)) == (1, 1, {"missing-score": 2})


def test_nothing_to_compare() -> None:
    with pytest.warns(TooFewWarning):
        result = preference([np.nan], [1.0])
    assert np.isnan(result.statistic)
    assert result.histogram()[0].sum() == 0


def test_the_share_has_wilsons_interval() -> None:
    result = preference([1.0] * 7 + [0.0] * 93, [0.5] * 100)
    theirs = stats.binomtest(7, 100).proportion_ci(method="wilson")
    assert result.interval is not None
    assert (result.interval.low, result.interval.high) == pytest.approx(tuple(theirs), abs=1e-12)
    with pytest.warns(TooFewWarning):
        assert preference([np.nan], [1.0]).interval is None


def test_the_histogram_is_centred_on_zero() -> None:
    rng = np.random.default_rng(3)
    altered, original = rng.standard_normal((2, 500))
    altered[:40] = original[:40]
    result = preference(altered, original)
    counts, edges = result.histogram(bins=11)
    assert counts.sum(axis=1).tolist() == [460 - round(500 * result.statistic), 40,
                                           round(500 * result.statistic)]  # fmt: skip
    assert counts[1, 5] == 40
    assert counts[0, 6:].sum() == counts[2, :5].sum() == 0
    np.testing.assert_allclose(edges, -edges[::-1], atol=1e-12)
    assert preference([1.0, 1.0], [1.0, 1.0]).histogram(bins=2)[1].tolist() == [-1, 0, 1]


def test_a_source_of_two_sets_counts_in_the_document_of_the_first() -> None:
    gaps = [[1.0, 1.0, -1.0, 0.0], [1.0, np.nan, -1.0], [-1.0, 1.0]]
    sources = ["aabc", "cad", "ed"]
    documents = [["x", "y", "y", ""], ["y", "y", ""], ["", ""]]
    found = pool_preferences(gaps, sources, documents)
    one = preference(np.concatenate(gaps), np.zeros(9), documents="xyyc" + "cxd" + "ed")
    assert (found.n, found.n_units, found.statistic) == (8, 5, 0.5)
    assert (found.unit, found.mean, found.ties) == (one.unit, one.mean, one.ties)
    with pytest.warns(TooFewWarning):
        empty = pool_preferences([[np.nan]], ["a"], [[""]])
    assert np.isnan([empty.statistic, empty.mean, empty.ties]).all()
    assert empty.interval is None
