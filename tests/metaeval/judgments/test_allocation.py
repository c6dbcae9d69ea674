"""Shares of the next judgments: by hand where that is easy, against scipy where it is not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.annotation.active import simulate
from metaeval.judgments.planning import allocate
from metaeval.judgments.planning.allocation import PRIOR_VARIANCE
from metaeval.messages import DataError
from tests.refusals import refused


def scores_of(*means: float, n: int = 40, sd: float = 10, seed: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).normal(np.array(means)[:, None], sd, (len(means), n))


def test_clear_pairs_are_decided_and_close_ones_are_not() -> None:
    result = allocate(scores_of(50, 51, 90))
    assert result.undecided.tolist() == [
        [False, True, False],
        [True, False, False],
        [False, False, False],
    ]
    assert result.n_undecided == 1
    assert result.shares[0] > 0.3
    assert result.shares[1] > 0.3
    assert result.shares[2] == pytest.approx(0.2 / 3)


def test_a_system_counts_with_its_variance_of_the_mean() -> None:
    """Two systems, one pair: shares are as s² / n, and a fifth goes evenly."""
    scores = np.full((2, 60), np.nan)
    scores[0, :60] = np.tile([40.0, 60.0], 30)
    scores[1, :40] = np.tile([45.0, 55.0], 20)
    result = allocate(scores, minimum=61)
    first, second = np.var(scores[0], ddof=1) / 60, np.var(scores[1, :40], ddof=1) / 40
    assert result.shares[0] == pytest.approx(0.8 * first / (first + second) + 0.1)
    assert result.shares.sum() == pytest.approx(1)


def test_all_is_even_once_everything_is_decided() -> None:
    result = allocate(scores_of(10, 50, 90))
    assert (result.n_undecided, result.shares.tolist()) == (0, [1 / 3] * 3)


def test_nothing_is_decided_on_few_judgments() -> None:
    assert allocate(scores_of(10, 90, n=29)).n_undecided == 1
    assert allocate(scores_of(10, 90, n=30)).n_undecided == 0


@pytest.mark.parametrize("difference", [4, 5, 6, 7, 8, 9])
@pytest.mark.parametrize("systems", [2, 5])
def test_shared_segments_are_compared_in_pairs(difference: float, systems: int) -> None:
    rng = np.random.default_rng(int(difference))
    hardness = rng.normal(0, 15, 50)
    scores = hardness + rng.normal(50, 10, (systems, 50))
    scores[1] += difference
    p = stats.ttest_rel(scores[0], scores[1]).pvalue
    pairs = systems * (systems - 1) / 2
    assert allocate(scores).undecided[0, 1] == (p * pairs >= 0.05)


@pytest.mark.parametrize("difference", [4, 6, 8, 10, 12, 14])
def test_other_segments_are_compared_by_their_means(difference: float) -> None:
    """Against SE and critical value as written down in the docstring."""
    rng = np.random.default_rng(int(difference))
    scores = np.full((2, 90), np.nan)
    scores[0, :40], scores[1, 40:] = rng.normal(50, 15, 40), rng.normal(50 + difference, 20, 50)
    first, second = scores[0, :40], scores[1, 40:]
    error = np.sqrt(first.var(ddof=1) / 40 + second.var(ddof=1) / 50)
    is_decided = abs(first.mean() - second.mean()) / error > stats.t.ppf(0.975, 39)
    assert allocate(scores).undecided[0, 1] == (not is_decided)


def test_no_judgments_at_all() -> None:
    result = allocate(np.full((3, 4), np.nan))
    assert result.shares.tolist() == [1 / 3] * 3
    assert (result.n, result.n_undecided) == (0, 3)
    assert np.isnan(result.means).all()
    assert set(result.variances) == {PRIOR_VARIANCE}
    assert allocate(np.empty((2, 0))).shares.tolist() == [0.5, 0.5]


def test_equal_scores_everywhere_stay_undecided() -> None:
    result = allocate(np.full((2, 40), 50.0))
    assert (result.n_undecided, result.shares.tolist()) == (1, [0.5, 0.5])


@given(seed=st.integers(0, 10**6), systems=st.integers(1, 6), n=st.integers(0, 80))
def test_shares_are_shares(seed: int, systems: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(rng.uniform(0, 100, systems)[:, None], rng.uniform(0, 30), (systems, n))
    scores[rng.random(scores.shape) < rng.random()] = np.nan
    result = allocate(scores)
    assert result.shares.sum() == pytest.approx(1)
    assert (result.shares >= 0.2 / systems - 1e-12).all()
    assert (result.undecided == result.undecided.T).all()
    order = rng.permutation(systems)
    assert allocate(scores[order]).shares == pytest.approx(result.shares[order])


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [({"alpha": 0}, "fraction"), ({"alpha": 1}, "fraction"), ({"uniform": 1.1}, "range"),
     ({"minimum": 1}, "least")],
)  # fmt: skip
def test_wrong_arguments_are_named(wrong: dict[str, float], kind: str) -> None:
    ((name, value),) = wrong.items()
    with refused(f"argument.{kind}", kind=DataError, name=name, value=value):
        allocate(np.zeros((2, 2)), **wrong)  # type: ignore[arg-type]
    with refused("argument.axes", kind=DataError, name="scores", axes=2, got=1):
        allocate(np.zeros(2))


def test_fewer_judgments_decide_the_same_pairs() -> None:
    """Known qualities; the larger run in benchmarks/annotation/active.py finds about half."""
    active = [simulate(seed, is_active=True) for seed in range(8)]
    uniform = [simulate(seed, is_active=False, is_paired=False) for seed in range(8)]
    assert all(run.n_undecided == 0 for run in active + uniform)
    assert sum(run.n_wrong for run in active) == 0
    needed = sum(run.n_judgments for run in active), sum(run.n_judgments for run in uniform)
    assert needed[0] < 0.8 * needed[1]
