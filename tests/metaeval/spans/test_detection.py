"""Intervals and tests of detectors, against scipy and against what must hold."""

import numpy as np
import pytest
from scipy import stats

from metaeval.resampling import expanded_tail
from metaeval.results import ConstantInputWarning, IdenticalInputWarning, TooFewWarning
from metaeval.spans import SpanTable, ceiling, compare_detectors, detect, error_free_detection
from metaeval.spans.detection import scores_of

RNG = np.random.default_rng(11)


def components(n=200, skill=0.5):
    gold, predicted = RNG.integers(0, 4, n), RNG.integers(0, 4, n)
    hits = skill * np.minimum(gold, predicted)
    return np.column_stack([hits, predicted, hits, gold]).astype(float)


def test_interval_as_from_scipy():
    values = components()
    found = detect(values, n_resamples=4000, rng=1)
    other = stats.bootstrap(
        tuple(values.T),
        lambda *sums, axis: scores_of(np.stack([s.sum(axis) for s in sums], -1))[..., 2],
        paired=True, vectorized=True, axis=-1, method="percentile", n_resamples=4000, rng=2,
    ).confidence_interval  # fmt: skip
    assert found.f1_interval[:2] == pytest.approx(tuple(other), abs=0.01)


def test_documents_are_drawn_whole():
    """Items that repeat each other are no more evidence than one."""
    values = components(60)
    repeated, units = np.repeat(values, 25, axis=0), np.repeat(np.arange(60), 25)
    alone = detect(values, n_resamples=500, rng=3)
    together = detect(repeated, units=units, n_resamples=500, rng=3)
    naive = detect(repeated, n_resamples=500, rng=3)
    assert together.f1_interval == pytest.approx(alone.f1_interval)
    assert together.n_units == 60
    width = [each.f1_interval.high - each.f1_interval.low for each in (naive, together)]
    assert width[0] < width[1] / 3


def test_documents_of_several_segments_are_units_with_an_expanded_interval():
    values, segments, documents = components(120), np.arange(120) // 2, np.arange(120) // 5
    found = detect(values, units=segments, documents=documents, n_resamples=500, rng=3)
    whole = detect(values, units=documents, n_resamples=500, rng=3)
    assert (found.unit, found.n_units, whole.unit) == ("documents", 24, "segments")
    tail = expanded_tail(0.025, 24)
    rest = detect(
        values, units=documents, n_resamples=500, rng=3, confidence=1 - 2 * tail
    ).f1_interval
    assert found.f1_interval[:2] == pytest.approx(rest[:2])
    with pytest.warns(TooFewWarning):
        few = detect(values, documents=np.arange(120) // 24, n_resamples=50, rng=3)
    assert few.f1_interval is None
    test = compare_detectors(values, values[::-1], documents=documents, n_resamples=99, rng=1)
    assert test.pvalue == compare_detectors(
        values, values[::-1], units=documents, n_resamples=99, rng=1
    ).pvalue  # fmt: skip


def test_permutation_as_from_scipy():
    first, second = components(80, 0.6), components(80, 0.4)

    def difference(one, two, axis):
        f1 = [scores_of(each.sum(axis=-2))[..., 2] for each in (one, two)]
        return f1[0] - f1[1]

    for averaging in ("micro", "macro"):
        found = compare_detectors(
            first, second, averaging=averaging, alternative="greater", n_resamples=4000, rng=1
        )
        if averaging == "micro":
            swaps = np.random.default_rng(2).integers(0, 2, (4000, 80, 1)).astype(bool)
            null = difference(
                np.where(swaps, second, first), np.where(swaps, first, second), axis=None
            )
            expected = (np.sum(null >= found.statistic - 1e-12) + 1) / 4001
        else:
            per_item = scores_of(first)[:, 2] - scores_of(second)[:, 2]
            expected = stats.permutation_test(
                (per_item,), np.mean, permutation_type="samples", alternative="greater",
                n_resamples=4000, rng=2,
            ).pvalue  # fmt: skip
        assert found.pvalue == pytest.approx(expected, abs=0.03)


def test_equal_detectors_do_not_differ():
    values = components()
    with pytest.warns(IdenticalInputWarning):
        assert compare_detectors(values, values, n_resamples=99, rng=1).pvalue == 1


def test_no_items():
    with pytest.warns(TooFewWarning):
        found = detect(np.empty((0, 4)), averaging="macro")
    assert np.isnan(found.f1)


def test_ceiling_is_the_mean_over_pairs_with_common_items():
    def marks(*spans):
        rows = [(n, *own) for n, own in enumerate(spans) if own]
        item, start, end = zip(*rows, strict=True)
        return SpanTable.of(len(spans), item, start, end, ["minor"] * len(rows))

    people = {
        "A": ([0, 1], marks((0, 4), (0, 4))),
        "B": ([1, 2], marks((0, 4), (0, 9))),  # as A in the item of both
        "C": ([1, 5], marks((2, 4), ())),  # half of A's and B's
        "D": ([9], marks((0, 4))),
    }
    found = ceiling(people)
    # A and B: 1 both ways; C against A, B: P 1, R .5; A, B against C: P .5, R 1: F 2/3.
    assert found.f1 == pytest.approx((2 * 1 + 4 * 2 / 3) / 6)
    assert (found.n, found.lowest, found.highest) == (6, pytest.approx(2 / 3), 1)
    assert found.n_excluded == 6
    with pytest.warns(TooFewWarning):
        assert np.isnan(ceiling(people, fewest=3).f1)


def test_error_free_as_matthews():
    gold, predicted = RNG.random(500) < 0.4, RNG.random(500) < 0.5
    found = error_free_detection(gold, predicted)
    assert found.mcc == pytest.approx(stats.pearsonr(gold, predicted).statistic)
    with pytest.warns(ConstantInputWarning):
        assert np.isnan(error_free_detection(gold, np.zeros(500, bool)).mcc)
