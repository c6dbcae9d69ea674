import numpy as np
import pytest

from metaeval import ScoreMatrix
from metaeval.arrays import Remembered
from metaeval.correlation.hybrids import hybrid_supersample, sampling
from metaeval.messages import DataError
from metaeval.resampling import draws_below, stream
from metaeval.results import ConstantInputWarning, MissingDataWarning
from metaeval.scores import CorpusStatistics
from tests.refusals import refused

RNG = np.random.default_rng(6)
NAMES = [f"S{i}" for i in range(4)], [str(j) for j in range(50)]
HUMAN = ScoreMatrix(RNG.normal(size=(4, 50)), *NAMES)
METRIC = HUMAN.with_values(0.6 * HUMAN.values + RNG.normal(size=(4, 50)))


def ratio(sums):
    return sums[:, 0] / sums[:, 1]


def test_the_sample_tends_to_the_closed_form():
    result = hybrid_supersample(HUMAN, {"m": METRIC}, n_hybrids=40_000, rng=1)
    assert result.r[0] == pytest.approx(result.limit[0], abs=0.015)


def test_small_enumeration_equals_the_limit():
    human, metric = HUMAN.values[:2, :3], METRIC.values[:2, :3]
    index = np.array(np.meshgrid(*[[0, 1]] * 3)).reshape(3, -1).T
    sums = [values[index, np.arange(3)].mean(axis=1) for values in (human, metric)]
    part = [ScoreMatrix(v, NAMES[0][:2], NAMES[1][:3]) for v in (human, metric)]
    result = hybrid_supersample(part[0], {"m": part[1]}, n_hybrids=10, rng=1)
    assert result.limit[0] == pytest.approx(np.corrcoef(*sums)[0, 1])


def test_the_same_seed_repeats_and_one_draw_serves_all():
    both = hybrid_supersample(HUMAN, {"a": METRIC, "b": METRIC}, n_hybrids=1500, rng=9)
    alone = hybrid_supersample(HUMAN, {"a": METRIC}, n_hybrids=1500, rng=both.seed)
    assert both.r == pytest.approx(alone.r[[0, 0]], abs=1e-12)
    assert both.between[0, 1] == pytest.approx(1.0)


def test_corpus_metrics_score_summed_counts():
    counts = RNG.integers(1, 9, size=(4, 50, 2)).astype(float)
    corpus = CorpusStatistics(counts, *NAMES, ratio)
    constant = CorpusStatistics(np.ones((4, 50, 2)), *NAMES, ratio)
    first = hybrid_supersample(HUMAN, {}, n_hybrids=300, rng=2, statistics={"c": corpus})
    sums = [
        hybrid_supersample(HUMAN, {"m": HUMAN.with_values(counts[..., k])}, n_hybrids=300, rng=2)
        for k in (0, 1)
    ]
    expected = sums[0].metric_scores[0] / sums[1].metric_scores[0]
    np.testing.assert_allclose(first.metric_scores[0], expected)
    many = hybrid_supersample(HUMAN, {}, n_hybrids=40_000, rng=2, statistics={"c": corpus})
    assert first.limit[0] == pytest.approx(many.r[0], abs=0.015)
    with pytest.warns(ConstantInputWarning):
        flat = hybrid_supersample(HUMAN, {}, n_hybrids=300, rng=2, statistics={"c": constant})
    assert np.isnan(flat.r[0])


def test_missing_human_cells_are_never_drawn():
    values = HUMAN.values.copy()
    values[0, :] = np.nan
    values[:, 3] = np.nan
    human = ScoreMatrix(values, *NAMES)
    with pytest.warns(MissingDataWarning):
        result = hybrid_supersample(human, {"m": METRIC}, n_hybrids=500, rng=3)
    assert (result.n, result.cells) == (49, 147)
    assert result.systems == ("S1", "S2", "S3")
    assert np.isfinite(result.r).all()
    values[1:, 3] = HUMAN.values[1:, 3]
    human = ScoreMatrix(values, *NAMES)
    with pytest.warns(MissingDataWarning):
        hybrid_supersample(human, {"m": METRIC}, n_hybrids=500, rng=3)


@pytest.mark.parametrize(("held", "cached"), [(2**24, 2**19), (1, 1), (5_000, 4_000)])
def test_sums_are_added_segment_by_segment_however_many_at_a_time(monkeypatch, held, cached):
    """A plain loop adds the same numbers in the same order, so the last bit is the same."""
    monkeypatch.setattr(sampling, "HELD", held)
    monkeypatch.setattr(sampling, "CACHED", cached)
    monkeypatch.setattr(sampling, "_remembered", Remembered(2**22))
    found = hybrid_supersample(HUMAN, {"m": METRIC, "other": METRIC}, n_hybrids=1_200, rng=4)
    draws = [stream(4, n).integers(0, 4, size=(rows, 50)) for n, rows in enumerate([1_000, 200])]
    for scores, sampled in ((HUMAN, found.human_scores), (METRIC, found.metric_scores[1])):
        expected = np.zeros(1_200)
        for column, chosen in zip(scores.values.T, np.concatenate(draws).T, strict=True):
            expected += column[chosen]
        np.testing.assert_array_equal(sampled, expected / 50)


def test_bad_arguments_are_refused():
    with refused("argument.no-metric", kind=DataError):
        hybrid_supersample(HUMAN, {}, rng=1)
    stranger = ScoreMatrix([[1.0]], ["other"], ["0"])
    with refused("data.nothing-in-common", kind=DataError, name="m"):
        hybrid_supersample(HUMAN, {"m": stranger}, rng=1)


@pytest.mark.parametrize("bounds", [[2], [3, 2, 11], [5] * 700, [3, 2**31 + 1, 7]])
@pytest.mark.parametrize("rows", [1, 130, 1000])
def test_draws_below_bounds_are_numpys(bounds, rows):
    """Of the last bounds numpy refuses every other number."""
    expected = stream(3, 1).integers(0, bounds, size=(rows, len(bounds)))
    found = np.concatenate(list(draws_below(3, (1,), rows, np.array(bounds))))
    np.testing.assert_array_equal(found, expected)
