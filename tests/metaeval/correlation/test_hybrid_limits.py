"""The limit of hybrid super-sampling under weights: equal to draws, to copies and to subsets."""

import numpy as np
import pytest

from metaeval import ScoreMatrix
from metaeval.correlation.hybrids import hybrid_limits, hybrid_supersample
from metaeval.messages import DataError
from tests.refusals import refused


@pytest.fixture
def scores() -> tuple[ScoreMatrix, dict[str, ScoreMatrix]]:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(4, 30))
    values[1, 5] = np.nan
    human = ScoreMatrix(values, "ABCD", map(str, range(30)))
    noisy = {f"m{k}": human.with_values(values + k * rng.normal(size=(4, 30))) for k in (1, 3)}
    return human, noisy


def test_equal_to_the_closed_form_of_the_draws(
    scores: tuple[ScoreMatrix, dict[str, ScoreMatrix]],
) -> None:
    human, metrics = scores
    drawn = hybrid_supersample(human, metrics, n_hybrids=20_000, rng=1)
    found = hybrid_limits(human, metrics)[0]
    assert found == pytest.approx(drawn.limit, abs=1e-12)
    assert found == pytest.approx(drawn.r, abs=0.02)


def test_weights_are_copies_and_zeros_leave_out(
    scores: tuple[ScoreMatrix, dict[str, ScoreMatrix]],
) -> None:
    human, metrics = scores
    weights = np.random.default_rng(4).integers(0, 4, size=(3, 30)).astype(float)
    found = hybrid_limits(human, metrics, weights)
    for row, counts in zip(found, weights.astype(int), strict=True):
        copies = np.repeat(np.arange(30), counts)
        names = [str(k) for k in range(len(copies))]
        drawn = hybrid_supersample(
            ScoreMatrix(human.values[:, copies], "ABCD", names),
            {n: ScoreMatrix(m.values[:, copies], "ABCD", names) for n, m in metrics.items()},
            n_hybrids=2,
            rng=1,
        )
        assert row == pytest.approx(drawn.limit, abs=1e-12)


def test_undefined_where_nothing_differs() -> None:
    human = ScoreMatrix([[1, 2], [1, 2]], "AB", "st")
    assert np.isnan(hybrid_limits(human, {"m": human.with_values([[1, 2], [3, 4]])})).all()


def test_refusals(scores: tuple[ScoreMatrix, dict[str, ScoreMatrix]]) -> None:
    human, metrics = scores
    with refused(
        "argument.lengths", kind=DataError, names=["weights", "segments"], lengths=[7, 30]
    ):
        hybrid_limits(human, metrics, np.ones((1, 7)))
    assert hybrid_limits(human, metrics, np.ones((0, 30))).shape[0] == 0
    with refused("argument.no-metric", kind=DataError):
        hybrid_limits(human, {})
