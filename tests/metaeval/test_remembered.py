"""Remembered arrays: the same content gives the same numbers, and only so much is kept."""

import numpy as np
import pytest

from metaeval import ScoreMatrix
from metaeval.arrays import Remembered, content
from metaeval.correlation.hybrids import hybrid_supersample


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
