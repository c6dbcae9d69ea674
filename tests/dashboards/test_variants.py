"""Variants of the human scores taken together equal each of them taken by itself."""

import numpy as np
import pytest

from dashboards import brief, variants
from dashboards.selectors import Floats
from metaeval.corpus import FORMULAS

SYSTEMS, SEGMENTS = 4, 40
RNG = np.random.default_rng(3)


def human_scores() -> Floats:
    """Scores that tie, a third of them missing."""
    grid = RNG.integers(0, 12, (SYSTEMS, SEGMENTS)).astype(np.float64)
    grid[RNG.random(grid.shape) < 0.3] = np.nan
    return grid


def measure(key: str, *, is_corpus: bool = False) -> brief.Brief:
    values = RNG.normal(size=(SYSTEMS, SEGMENTS)).round(1)
    values[0, :5] = np.nan
    corpus = statistics = None
    if is_corpus:
        corpus = FORMULAS["bleu"]
        statistics = RNG.integers(1, 9, (SYSTEMS, SEGMENTS, 10)).astype(np.float64)
    return brief.Brief(key, key, key, key, values, statistics, corpus, 1.0)


def others(human: Floats) -> list[Floats]:
    """Without some scores, with some new ones, without a system, without all, and all new."""
    without, changed, bare = human.copy(), human.copy(), human.copy()
    without[RNG.random(human.shape) < 0.2] = np.nan
    changed[2, :4] = [50.0, 50.0, np.nan, 1.0]
    bare[1] = np.nan
    return [human, without, changed, bare, np.full_like(human, np.nan), human * 2 + 1]


@pytest.mark.parametrize("is_corpus", [False, True])
def test_together_as_one_by_one(is_corpus: bool) -> None:
    human = human_scores()
    measures = [measure("a", is_corpus=is_corpus), measure("b")]
    grids = others(human)
    for grid, table in zip(grids, variants.tables(human, grids, measures), strict=True):
        expected = [brief.correlations(grid, one) for one in measures]
        np.testing.assert_allclose(table, expected, rtol=1e-12, atol=1e-12)


def test_nothing_to_leave_out_or_to_measure() -> None:
    human = human_scores()
    assert variants.tables(human, [], [measure("a")]) == []
    assert variants.tables(human, [human], [])[0].shape == (0, 3)
    unscored = brief.Brief("a", "a", "a", "a", np.full(human.shape, np.nan), None, None, 1.0)
    assert np.isnan(variants.tables(human, [human], [unscored])[0]).all()
