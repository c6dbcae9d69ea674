"""Counts over all pairs against every comparison, and of samples against scipy on the copies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata, spearmanr

from metaeval.correlation import Measure, drawn_pairs
from metaeval.correlation.drawn_pairs import BIN, DrawnPairs
from metaeval.correlation.pair_counts import (
    agreements,
    codes_of,
    mid_ranks,
    mixed_agreements,
    weighted_counts,
)
from metaeval.correlation.ties import calibrate
from metaeval.significance.bootstrap_values import WIDE, weighted, weighted_kendall
from metaeval.significance.permutation import mixtures
from metaeval.significance.permutation.tests import permuted_differences
from tests.metaeval.plain import panel_of

N = 3 * WIDE
SHAPES = {
    "no ties": lambda values: values,
    "some ties": lambda values: np.round(values, 1),
    "a pile at the top": lambda values: np.minimum(np.round(values, 2), 0.3),
    "two values": lambda values: (values > 0.0).astype(float),
}


def draw(shape: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(len(shape))
    quality = rng.normal(size=N)
    z = SHAPES[shape](quality + rng.normal(size=N))
    x = np.round(quality + rng.normal(size=N), 2)
    return z, x, rng.multinomial(N, np.full(N, 1 / N), size=5).astype(float)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("variant", ["b", "c"])
def test_kendall(shape: str, variant: str) -> None:
    z, x, w = draw(shape)
    found = weighted(z, x, w, Measure("kendall", "none", variant))
    for row, tau in zip(w.astype(int), found, strict=True):
        copies = kendalltau(np.repeat(z, row), np.repeat(x, row), variant=variant)
        assert tau == pytest.approx(copies.statistic, abs=1e-14)


@pytest.mark.parametrize("shape", SHAPES)
def test_spearman(shape: str) -> None:
    z, x, w = draw(shape)
    found = weighted(z, x, w, Measure("spearman", "none"))
    for row, rho in zip(w.astype(int), found, strict=True):
        copies = spearmanr(np.repeat(z, row), np.repeat(x, row))
        assert rho == pytest.approx(copies.statistic, abs=1e-12)


@pytest.mark.parametrize("values", [2, 30, 10**6])
@pytest.mark.parametrize("blocks", [2, 5, drawn_pairs.BLOCKS])
@pytest.mark.parametrize("size", [2, BIN, BIN + 1, 9 * BIN])
def test_the_score_counts_every_pair_once(size, blocks, values, monkeypatch) -> None:
    """Blocks in blocks, with and without ties, of cells that share their counts."""
    monkeypatch.setattr(drawn_pairs, "BLOCKS", blocks)
    monkeypatch.setattr(drawn_pairs, "TIED", drawn_pairs.STEP)
    monkeypatch.setattr(drawn_pairs, "ADDED", 100)
    rng = np.random.default_rng(size)
    z, x = map(codes_of, rng.integers(values, size=(2, size)))
    w, columns = rng.integers(4, size=(3, size)), rng.integers(size, size=size)
    w[:, 0] += 300
    pairs = DrawnPairs(z, w.astype(float), columns)
    w = w[:, columns]
    sides = [np.sign(side[:, None] - side) for side in (z, x)]
    for found, signs in (
        (pairs.score(x), sides[0] * sides[1]),
        (pairs.untied, np.abs(sides[0])),
        (pairs.untied_by(x), np.abs(sides[1])),
    ):
        assert found.tolist() == (np.einsum("si,ij,sj->s", w, signs, w) / 2.0).tolist()


@pytest.mark.parametrize("digits", [1, 9])
def test_a_cell_is_compared_with_few_others_however_many_there_are(digits, monkeypatch) -> None:
    """One sample that draws each cell once has the tau of scipy."""
    compared, divided = [], []
    signs, between = drawn_pairs._drawn_signs, DrawnPairs._between
    monkeypatch.setattr(
        drawn_pairs, "_drawn_signs", lambda codes: compared.append(len(codes) ** 2) or signs(codes)
    )
    monkeypatch.setattr(
        DrawnPairs,
        "_between",
        lambda self, cells, blocks, x: (
            divided.append(len(cells) * (blocks.max() + 1)) or between(self, cells, blocks, x)
        ),
    )
    n = 200_000
    z, x = np.random.default_rng(digits).normal(size=(2, n)).round(digits)
    x += z
    pairs, levels = DrawnPairs(codes_of(z), np.ones((1, n))), 2
    tau = pairs.score(codes_of(x)) / np.sqrt(pairs.untied * pairs.untied_by(codes_of(x)))
    assert tau[0] == pytest.approx(kendalltau(z, x).statistic, abs=1e-12)
    assert sum(compared) <= 2 * n * (BIN + levels * drawn_pairs.STEP)
    assert sum(divided) <= n * levels * 2 * drawn_pairs.BLOCKS


def test_mid_ranks() -> None:
    _, x, w = draw("no ties")
    ranks = mid_ranks(codes_of(x), w)
    for row, mine in zip(w.astype(int), ranks, strict=True):
        expected = rankdata(np.repeat(x, row)) - 0.5
        assert np.repeat(mine, row).tolist() == expected.tolist()


def test_a_constant_side_has_no_correlation() -> None:
    z, x, w = draw("no ties")
    for name in ("kendall", "spearman"):
        assert np.isnan(weighted(np.zeros(N), x, w, Measure(name, "none"))).all()
        assert np.isnan(weighted(z, np.ones(N), w, Measure(name, "none"))).all()


@given(st.integers(1, 40), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_counts_by_sorting_equal_all_comparisons(size, values, seed):
    z, a, b = np.random.default_rng(seed).integers(0, values, (3, size))
    z = z.astype(float)
    shown = np.sign(a[:, None] - b[None, :])
    gaps = z[:, None] - z[None, :]
    np.testing.assert_allclose(weighted_counts(z, a, b), (gaps * shown).sum(axis=1))


@given(st.integers(1, 300), st.integers(1, 300), st.integers(0, 2**32 - 1))
def test_mixed_agreements_equal_all_comparisons(size, values, seed):
    z, a, b = map(codes_of, np.random.default_rng(seed).integers(0, values, (3, size)))
    signs = np.sign(z[:, None] - z)
    expected = [
        (signs * np.sign(one[:, None] - other)).sum(axis=1) for one, other in ((a, b), (b, a))
    ]
    found = mixed_agreements(z, a, b, (agreements(z, a), agreements(z, b)))
    np.testing.assert_array_equal(found, expected)


def test_agreements_of_wide_bins_give_the_tau_of_scipy():
    z, x = np.random.default_rng(1).permuted(np.tile(np.arange(100_000), (2, 1)), axis=1)
    # Kendall's tau of scipy from all of the sums.
    tau = agreements(z, x).sum() / (100_000 * 99_999)
    assert tau == pytest.approx(kendalltau(z, x).statistic, abs=1e-12)


@given(st.integers(1, 300), st.integers(1, 300), st.integers(0, 2**32 - 1))
def test_agreements_equal_all_comparisons(size, values, seed):
    z, x = map(codes_of, np.random.default_rng(seed).integers(0, values, (2, size)))
    signs = np.sign(z[:, None] - z) * np.sign(x[:, None] - x)
    np.testing.assert_array_equal(agreements(z, x), signs.sum(axis=1))


def test_what_rests_on_one_side_serves_many_others() -> None:
    """Ties of every size, on both sides, in one go as one by one."""
    z, x, w = draw("some ties")
    others = [SHAPES[shape](x) for shape in SHAPES]
    kendall = Measure("kendall", "none")
    found = weighted_kendall(z, others, w, kendall)
    assert found.tolist() == [weighted(z, other, w, kendall).tolist() for other in others]


@pytest.mark.parametrize("shape", SHAPES)
def test_few_changed_values_are_compared_with_the_others_alone(shape, monkeypatch) -> None:
    z, x, w = draw(shape)
    others, kendall = [SHAPES[other](x) for other in SHAPES], Measure("kendall", "none")
    weighted_kendall(z, others, w, kendall)
    computed = []
    score = DrawnPairs.score
    monkeypatch.setattr(DrawnPairs, "score", lambda self, x: computed.append(1) or score(self, x))
    rng = np.random.default_rng(5)
    for n_changed in (0, 1, 1, 3, N // 2):
        z = z.copy()
        at = rng.choice(N, n_changed, replace=False)
        # To the value of another cell, to one of their own, and so that changed ones tie.
        z[at] = rng.choice([z[0], z[1], z.min() - 1.0, z[2] + 1e-9], n_changed)
        computed.clear()
        found = weighted_kendall(z, others, w, kendall)
        assert bool(computed) == (n_changed > 3)
        expected = [weighted(z, other, w, kendall).tolist() for other in others]
        assert found.tolist() == expected


@pytest.mark.parametrize("correlation", ["kendall", "spearman"])
@pytest.mark.parametrize("digits", [0, 8])
def test_many_cells_give_the_same_permutations(correlation, digits, monkeypatch):
    panel = panel_of(*np.random.default_rng(3).normal(size=(3, 4, 30)).round(digits))
    every = permuted_differences(panel, Measure(correlation), "both", 40, 1, [(0, 1)])
    monkeypatch.setattr(mixtures, "WIDE", 10)
    sorting = permuted_differences(panel, Measure(correlation), "both", 40, 1, [(0, 1)])
    np.testing.assert_allclose(sorting, every, atol=1e-12)


@pytest.mark.parametrize("n", [300, 70_000])
def test_agreements_of_many_cells_are_those_of_all_pairs(n):
    rng = np.random.default_rng(n)
    z, x = codes_of(rng.integers(0, n, n)), codes_of(rng.integers(0, 9, n))
    found = agreements(z, x)
    for i in rng.integers(0, n, 40):
        assert found[i] == (np.sign(z[i] - z) * np.sign(x[i] - x)).sum()


@pytest.mark.parametrize("digits", [0, 1, 9])
def test_counted_pairs_are_calibrated_as_weighted_ones(digits):
    """Of one weight numbers are sorted, of several the places: one is changed beyond rounding."""
    rng = np.random.default_rng(digits)
    human, metric = (rng.normal(size=400).round(digits) for _ in range(2))
    same = np.full(400, 1 / 400)
    others = same * np.where(np.arange(400) == 7, 1 + 1e-14, 1)
    one, two = (calibrate(human, metric, weights, 1e-12) for weights in (same, others))
    assert one == pytest.approx(two, abs=1e-12)
    tied = np.abs(metric) <= one[1]
    agrees = np.where(tied, human == 0, (np.sign(human) == np.sign(metric)) & (metric != 0))
    assert one[0] == pytest.approx(agrees.mean(), abs=1e-12)
