import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval import orders
from metaeval.dominance import signed_counts, weighted_counts
from metaeval.measures import Measure
from metaeval.significance import permuted_differences
from tests.metaeval.plain import panel_of


@given(st.integers(1, 40), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_counts_by_sorting_equal_all_comparisons(size, values, seed):
    z, a, b = np.random.default_rng(seed).integers(0, values, (3, size))
    z = z.astype(float)
    shown = np.sign(a[:, None] - b[None, :])
    gaps = z[:, None] - z[None, :]
    np.testing.assert_array_equal(signed_counts(z, a, b), (np.sign(gaps) * shown).sum(axis=1))
    np.testing.assert_allclose(weighted_counts(z, a, b), (gaps * shown).sum(axis=1))


@pytest.mark.parametrize("correlation", ["kendall", "spearman"])
@pytest.mark.parametrize("digits", [0, 8])
def test_many_cells_give_the_same_permutations(correlation, digits, monkeypatch):
    panel = panel_of(*np.random.default_rng(3).normal(size=(3, 4, 30)).round(digits))
    every = permuted_differences(panel, Measure(correlation), "both", 40, 1, [(0, 1)])
    monkeypatch.setattr(orders, "WIDE", 10)
    sorting = permuted_differences(panel, Measure(correlation), "both", 40, 1, [(0, 1)])
    np.testing.assert_allclose(sorting, every, atol=1e-12)
