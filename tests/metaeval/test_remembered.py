"""Remembered arrays: the same content gives the same numbers, and only so much is kept."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

from metaeval import ScoreMatrix
from metaeval.arrays import FloatArray, IntArray, Remembered, content
from metaeval.correlation import rows
from metaeval.correlation.hybrids import HybridCorrelations, hybrid_supersample, sampling
from metaeval.results import MissingDataWarning


def test_content_tells_apart() -> None:
    one = np.arange(6.0)
    keys = [content(one), content(one.reshape(2, 3)), content(one, 1), content(one.astype(int))]
    assert len(set(keys)) == 4
    assert content(one.reshape(2, 3)) == content(np.asfortranarray(one.reshape(2, 3)))


def test_the_oldest_goes_first_and_nothing_is_written_to() -> None:
    memory = Remembered(2 * 8 * 10)
    for key in (b"a", b"b"):
        memory.put(key, np.zeros(10))
    assert memory.get(b"a") is not None
    memory.put(b"c", np.ones(10))
    assert memory.get(b"b") is None
    found = memory.of(b"a", lambda: np.ones(10))
    assert not found.any()
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1.0


def test_the_newest_are_kept_whatever_their_size() -> None:
    memory = Remembered(8 * 10, 2)
    for key in (b"a", b"b", b"c"):
        memory.put(key, np.zeros(10))
    assert [memory.get(key) is not None for key in (b"a", b"b", b"c")] == [False, True, True]


def test_hybrids_beside_others_are_the_same() -> None:
    """Whatever was drawn before, and with which metrics beside."""
    rng = np.random.default_rng(7)
    human = ScoreMatrix(rng.normal(size=(3, 30)), "ABC", map(str, range(30)))
    metrics = {name: human.with_values(rng.normal(size=(3, 30))) for name in "xyz"}
    alone = {
        name: hybrid_supersample(human, {name: each}, n_hybrids=50, rng=3).r[0]
        for name, each in metrics.items()
    }
    again = hybrid_supersample(human, metrics, n_hybrids=50, rng=3)
    assert again.by_metric() == pytest.approx(alone, abs=1e-14)
    assert again.by_metric() == hybrid_supersample(human, metrics, n_hybrids=50, rng=3).by_metric()
    other = hybrid_supersample(human, metrics, n_hybrids=50, rng=4)
    assert other.by_metric() != again.by_metric()


def test_hybrids_after_few_judgments_are_those_of_all_cells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Changed cells, of segments with one system and with several, and back; then most cells."""
    rng = np.random.default_rng(8)
    values = np.where(rng.random((4, 60)) < 0.6, rng.normal(size=(4, 60)), np.nan)
    drawn: list[int | None] = []
    summed = sampling._drawn_sums

    def watched(*args: Any, segments: IntArray | None = None) -> FloatArray:
        drawn.append(None if segments is None else len(segments))
        return summed(*args, segments=segments)

    monkeypatch.setattr(sampling, "_drawn_sums", watched)
    segments = [str(place) for place in range(60)]
    metric = ScoreMatrix(rng.normal(size=(4, 60)), "ABCD", segments)
    changes = [values]
    for n in (1, 2, 9, 60):
        changed = changes[-1].copy()
        changed[:, rng.choice(60, n, replace=False)] *= 1.5
        changes.append(changed)
    changes.append(changes[1])

    def hybrids(human: np.ndarray) -> HybridCorrelations:
        own = ScoreMatrix(human, "ABCD", segments)
        with pytest.warns(MissingDataWarning):
            return hybrid_supersample(own, {"m": metric}, n_hybrids=300, rng=5)

    found = [hybrids(each) for each in changes]
    assert [each is None for each in drawn] == [True, False, False, False, True]
    for human, one in zip(changes, found, strict=True):
        monkeypatch.setattr(sampling, "_remembered", Remembered(2**22))
        monkeypatch.setattr(sampling, "_summed", Remembered(2**22))
        plain = hybrids(human)
        assert one.human_scores == pytest.approx(plain.human_scores, rel=0, abs=1e-12)
        assert one.r == pytest.approx(plain.r, rel=0, abs=1e-12)


@pytest.mark.parametrize("digits", [1, 9])
def test_tau_of_many_pairs_is_that_of_scipy_each_time(digits: int) -> None:
    rng = np.random.default_rng(digits)
    x, y = rng.normal(size=(2, rows.MANY + 7)).round(digits)
    x[3] = y[5] = np.nan
    for _ in range(2):
        expected = kendalltau(x, y, nan_policy="omit")
        found = rows.kendall_test(x, y)
        assert found == pytest.approx((expected.statistic, expected.pvalue), abs=1e-12)
        assert rows.kendall_test(x, y) == found
        x[0] += 1.0
