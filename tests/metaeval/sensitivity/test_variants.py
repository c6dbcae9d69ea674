"""Variants of the human scores computed together equal those computed one by one."""

import numpy as np
import pytest

from metaeval.arrays import FloatArray as Floats
from metaeval.scores.corpus import FORMULAS
from metaeval.scores.oriented import OrientedScores
from metaeval.sensitivity import level_correlations, movement, ranks, variant_tables

SYSTEMS, SEGMENTS = 4, 40
RNG = np.random.default_rng(3)


def human_scores() -> Floats:
    """Scores that tie, a third of them missing."""
    grid = RNG.integers(0, 12, (SYSTEMS, SEGMENTS)).astype(np.float64)
    grid[RNG.random(grid.shape) < 0.3] = np.nan
    return grid


def metric(*, is_corpus: bool = False) -> OrientedScores:
    values = RNG.normal(size=(SYSTEMS, SEGMENTS)).round(1)
    values[0, :5] = np.nan
    if not is_corpus:
        return OrientedScores(values)
    counts = RNG.integers(1, 9, (SYSTEMS, SEGMENTS, 10)).astype(np.float64)
    return OrientedScores(values, counts, FORMULAS["bleu"])


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
    metrics = [metric(is_corpus=is_corpus), metric()]
    variants = [OrientedScores(grid) for grid in others(human)]
    for variant, table in zip(variants, variant_tables(human, variants, metrics), strict=True):
        expected = [level_correlations(variant, one) for one in metrics]
        np.testing.assert_allclose(table, expected, rtol=1e-12, atol=1e-12)


def test_nothing_to_leave_out_or_to_measure() -> None:
    human = human_scores()
    own = OrientedScores(human)
    assert variant_tables(human, [], [metric()]) == []
    assert variant_tables(human, [own], [])[0].shape == (0, 3)
    unscored = OrientedScores(np.full(human.shape, np.nan))
    assert np.isnan(variant_tables(human, [own], [unscored])[0]).all()


def test_scores_of_whole_systems_are_no_means() -> None:
    human, systems = human_scores(), np.array([1.0, 3.0, 2.0, 4.0])
    told = OrientedScores(human, systems=systems)
    (table,) = variant_tables(human, [told], [OrientedScores(human, systems=-systems)])
    assert table[0, 2] == pytest.approx(-1.0)


def test_ranks_share_the_better_place() -> None:
    assert ranks([0.5, 0.7, 0.5, 0.1]).tolist() == [2, 1, 2, 4]
    assert np.isnan(ranks([np.nan, 1.0])[0])


def test_what_moves_most_and_what_cannot_be_known() -> None:
    found = movement(np.array([0.5, 0.4, np.nan]), np.array([0.3, 0.45, 0.9]))
    assert (found.most, found.best, found.n_ranks) == (0, 1, 1)
    assert found.change[:2] == pytest.approx([-0.2, 0.05])
    nothing = movement(np.array([np.nan]), np.array([0.1]))
    assert (nothing.most, nothing.best, nothing.n_ranks) == (None, None, None)
