"""Choosing a layer: folds, correlations of each against scipy, and that choosing flatters."""

import numpy as np
import pytest
from scipy import stats

from metaeval import ScoreMatrix
from metaeval.correlation.hybrids import hybrid_supersample
from metaeval.scores.oriented import OrientedScores
from metaeval.sensitivity import Profile, choose, curves, draw_segments, layer_profile
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


def test_a_document_is_in_one_fold_and_folds_have_as_many_documents():
    clusters = np.random.default_rng(3).permutation(np.repeat(np.arange(23), 4))
    found = folds(92, clusters)
    for document in range(23):
        assert (found[:, clusters == document].sum(axis=1) > 0).sum() == 1
    assert found.sum(axis=0).tolist() == [1.0] * 92
    assert np.ptp(found.sum(axis=1)) <= 4
    # Fewer documents than folds: one fold each.
    assert folds(6, np.array([0, 0, 1, 1, 2, 2])).sum(axis=1).tolist() == [2.0, 2.0, 2.0]


def test_a_chosen_layer_that_knows_nothing_is_worth_nothing_held_out():
    """Segments of a document have the same scores: in several folds they would show the choice."""
    rng, documents = np.random.default_rng(4), np.arange(80) // 2
    held = {"documents": [], "segments": []}
    for _ in range(40):
        human = rng.normal(size=(4, 40))[:, documents]
        layers = {f"l{k}": rng.normal(size=(4, 40))[:, documents] for k in range(40)}
        for unit, values in held.items():
            names = "ABCD", map(str, range(80)), map(str, documents)
            ours = ScoreMatrix(human, *names)
            ours = ours if unit == "documents" else ours.by_segment()
            measures = {name: ours.with_values(each) for name, each in layers.items()}
            values.append(choose([layer_profile(ours, measures, "limit")]).held_out)
    means, errors = ([f(each) for each in held.values()] for f in (np.mean, stats.sem))
    assert abs(means[0]) < 3 * errors[0]
    assert means[1] > 5 * errors[1]


def test_curves_draw_whole_documents():
    clusters = np.array([0, 1, 0, 2, 2, 2, 3, 1])
    drawn = draw_segments(np.random.default_rng(1), 500, 8, 8, clusters)
    for document in range(4):
        assert np.ptp(drawn[:, clusters == document], axis=1).max() == 0
    # Four documents are drawn each time, eight segments on average.
    assert (drawn[:, [0, 1, 3, 6]].sum(axis=1) == 4).all()
    assert drawn.sum(axis=1).mean() == pytest.approx(8.0, abs=0.3)
    half = draw_segments(np.random.default_rng(1), 5, 8, 4, clusters)
    assert (half[:, [0, 1, 3, 6]].sum(axis=1) == 2).all()


def test_the_band_of_a_curve_is_that_of_copied_documents():
    rng = np.random.default_rng(2)
    documents = np.arange(40) // 4
    human = rng.normal(size=(3, 40)) + rng.normal(size=(3, 10))[:, documents]
    metric = human + rng.normal(size=(3, 40))
    points = list(
        curves(human, [OrientedScores(metric)], [40], n_samples=300, rng=np.random.default_rng(5),
               clusters=documents)
    )  # fmt: skip
    generator, values = np.random.default_rng(6), []
    for _ in range(300):
        at = np.concatenate(
            [np.flatnonzero(documents == k) for k in generator.integers(10, size=10)]
        )
        values.append(np.corrcoef(human[:, at].ravel(), metric[:, at].ravel())[0, 1])
    low, high = np.quantile(values, [0.025, 0.975])
    point = next(each for each in points if each.level == "r_segment")
    assert [point.low, point.high] == pytest.approx([low, high], abs=0.03)
