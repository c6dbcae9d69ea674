"""Baselines: their scores, and what these depend on."""

import numpy as np
import pytest
from scipy import stats

from metrics.base import SegmentInput
from metrics.families.floor import DESCRIPTIONS, FAMILY, Floor
from metrics.options import clean

INPUTS = [SegmentInput("源文。" * n, f"Sentence {n}", ()) for n in range(1, 200)]


def make(kind: str, seed: int = 1) -> Floor:
    info = FAMILY.describe("floor", "Floor", clean(FAMILY, {"kind": kind, "seed": seed}))
    return Floor(info, source_language="zh", target_language="en")


@pytest.mark.parametrize("kind", DESCRIPTIONS)
def test_each_text_has_its_own_number_whatever_the_order(kind: str) -> None:
    together = make(kind).score(INPUTS)
    assert together.shape == (199, 1)
    alone = np.concatenate([make(kind).score([each]) for each in reversed(INPUTS)])
    assert (alone[::-1] == together).all()
    assert make(kind).score([]).shape == (0, 1)


def test_random_numbers_are_uniform_and_hang_on_the_seed() -> None:
    first, second = (make("random", seed).score(INPUTS)[:, 0] for seed in (1, 2))
    assert stats.kstest(first, "uniform").pvalue > 0.01
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.25
    assert make("random", 1).signature() != make("random", 2).signature()


def test_lengths() -> None:
    one = [SegmentInput("源文", "abcd", ())]
    kinds = ("output-length", "source-length", "length-ratio")
    assert [make(kind).score(one)[0, 0] for kind in kinds] == [4, -2, 2]
    assert make("length-ratio").score([SegmentInput("", "ab", ())])[0, 0] == 2
