"""WMT26's comparison of systems: against normal theory, and how often it errs."""

import numpy as np
import pytest
from scipy.stats import norm

from metaeval import ScoreMatrix
from metaeval.results import ApproximationWarning
from metaeval.systems import rank_systems
from metaeval.systems.ranking import either_bootstrap


def test_shares_are_those_of_normal_theory() -> None:
    """The paired share where pairing helps, the unpaired one where the segments differ."""
    rng = np.random.default_rng(4)
    hard = 3 * rng.normal(size=400)
    paired = np.stack([hard + rng.normal(size=400), hard + rng.normal(size=400) - 0.1])
    gaps = paired[0] - paired[1]
    (_, better), (worse, _) = either_bootstrap(paired, n_resamples=20_000, seed=1)
    z = gaps.mean() / (gaps.std() / 20)
    assert better == pytest.approx(norm.sf(z), abs=0.01)
    u = (paired[0].mean() - paired[1].mean()) / np.sqrt(paired.var(axis=1).sum() / 400)
    assert abs(u) < abs(z)
    # The other direction takes the smaller share too, which is the unpaired one.
    assert worse == pytest.approx(norm.cdf(u), abs=0.01)
    disjoint = np.full((2, 400), np.nan)
    disjoint[0, :200], disjoint[1, 200:] = hard[:200], hard[200:]
    means, spreads = np.nanmean(disjoint, axis=1), np.nanvar(disjoint, axis=1) / 200
    (_, only), _ = either_bootstrap(disjoint, n_resamples=20_000, seed=1)
    assert only == pytest.approx(norm.sf((means[0] - means[1]) / np.sqrt(spreads.sum())), abs=0.01)


def test_it_rejects_too_often_where_few_segments_are_shared() -> None:
    """Two equal systems, each judged on 30% of 200 segments: 5% is stated, more come out."""
    rng, found = np.random.default_rng(5), {"wmt26": 0, "permutation": 0}
    for number in range(400):
        values = rng.normal(size=200) + rng.normal(size=(2, 200))
        values[rng.random(values.shape) > 0.3] = np.nan
        matrix = ScoreMatrix(values, "AB", map(str, range(200)))
        for test in found:
            ranked = rank_systems(matrix, test=test, n_resamples=199, rng=number)
            first = ranked.systems.index("A")
            found[test] += int(ranked.pvalues[first, 1 - first] < 0.05)
    assert found["wmt26"] / 400 > 0.08
    assert 0.02 < found["permutation"] / 400 < 0.08


def test_it_is_said() -> None:
    matrix = ScoreMatrix(np.random.default_rng(6).normal(size=(2, 30)), "AB", map(str, range(30)))
    with pytest.warns(ApproximationWarning):
        rank_systems(matrix, test="wmt26", rng=1)


def test_a_system_without_scores_has_no_share() -> None:
    scores = np.array([[1.0, 2.0], [np.nan, np.nan]])
    assert np.isnan(either_bootstrap(scores)).all()
