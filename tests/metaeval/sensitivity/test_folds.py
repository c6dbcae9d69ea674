"""Choosing a layer: folds, correlations of each against scipy, and that choosing flatters."""

import numpy as np
import pytest
from scipy import stats

from metaeval import ScoreMatrix
from metaeval.correlation.hybrids import hybrid_supersample
from metaeval.sensitivity import Profile, choose, layer_profile
from metaeval.sensitivity.folds import folds


def test_every_segment_is_in_one_fold_of_equal_size() -> None:
    found = folds(203)
    assert found.sum(axis=0).tolist() == [1.0] * 203
    assert set(found.sum(axis=1)) <= {40.0, 41.0}
    assert (folds(203) == found).all()


def matrices(
    noise: float, count: int, segments: int = 60
) -> tuple[ScoreMatrix, dict[str, ScoreMatrix]]:
    rng = np.random.default_rng(8)
    human = ScoreMatrix(rng.normal(size=(4, segments)), "ABCD", [str(k) for k in range(segments)])
    measures = {
        f"m{k}": human.with_values(human.values + noise * rng.normal(size=human.shape))
        for k in range(count)
    }
    return human, measures


@pytest.mark.parametrize("correlation", ["kendall", "pearson"])
def test_folds_by_scipy(correlation: str) -> None:
    human, measures = matrices(1.0, 3)
    found = layer_profile(human, measures, correlation)
    theirs = stats.kendalltau if correlation == "kendall" else stats.pearsonr
    inside = folds(60)[2] > 0
    for index, measure in enumerate(measures.values()):
        for values, chosen in ((found.held_out, inside), (found.train, ~inside)):
            expected = theirs(human.values[:, chosen].ravel(), measure.values[:, chosen].ravel())
            assert values[2, index] == pytest.approx(expected.statistic, abs=1e-12)


def test_limits_of_folds_are_those_of_their_segments() -> None:
    human, measures = matrices(1.0, 3)
    found = layer_profile(human, measures, "limit")
    names = [name for name, is_in in zip(human.segments, folds(60)[1] > 0, strict=True) if is_in]
    drawn = hybrid_supersample(
        human.subset(segments=names),
        {key: measure.subset(segments=names) for key, measure in measures.items()},
        n_hybrids=2,
        rng=1,
    )
    assert found.held_out[1] == pytest.approx(drawn.limit, abs=1e-12)


def test_a_layer_that_is_truly_best_is_chosen_by_all_folds() -> None:
    human, measures = matrices(2.0, 5)
    measures["m3"] = human.with_values(human.values + 0.1)
    found = choose([layer_profile(human, measures, "pearson")])
    assert found is not None
    assert (found.recommended, found.n_agreeing, found.best) == (3, 5, 3)
    assert found.held_out == pytest.approx(1.0)


def test_choosing_among_noise_flatters_and_held_out_folds_do_not() -> None:
    """A hundred measures that agree with nobody: the best of them seems to, its folds do not."""
    rng = np.random.default_rng(1)
    human = ScoreMatrix(rng.normal(size=(4, 60)), "ABCD", [str(k) for k in range(60)])
    noise = {f"m{k}": human.with_values(rng.normal(size=human.shape)) for k in range(100)}
    found = choose([layer_profile(human, noise, "limit")])
    assert found is not None
    flattering = layer_profile(human, noise, "limit").values[found.best]
    assert flattering > 0.12
    assert found.held_out < flattering / 2


def test_over_several_campaigns_the_mean_decides() -> None:
    first = Profile(np.array([0.9, 0.5]), np.tile([0.9, 0.5], (5, 1)), np.tile([0.8, 0.4], (5, 1)))
    second = Profile(np.array([0.0, 0.5]), np.tile([0.0, 0.5], (5, 1)), np.tile([0.1, 0.3], (5, 1)))
    found = choose([first, second])
    assert found is not None
    assert (found.recommended, found.n_agreeing) == (1, 5)
    assert found.held_out == pytest.approx(0.35)


def test_nothing_is_recommended_where_nothing_is_defined() -> None:
    nothing = np.full(2, np.nan)
    assert choose([Profile(nothing, np.tile(nothing, (5, 1)), np.tile(nothing, (5, 1)))]) is None
