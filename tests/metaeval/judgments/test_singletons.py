"""Documents of one segment each give the numbers of segments, to the last bit."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from metaeval import ScoreMatrix
from metaeval.correlation.intervals import mean_interval
from metaeval.judgments import drift
from metaeval.judgments.agreement import agreement_interval, icc, judgment_agreement
from metaeval.judgments.controls import control_test
from metaeval.judgments.planning import allocate, power_table, variance_components
from metaeval.judgments.trial import mean_effect, rate_effect
from metaeval.results import plain
from metaeval.scores import CorpusStatistics, bleu_score
from metaeval.spans import compare_detectors, detect
from metaeval.systems import (
    approximate_randomization,
    paired_bootstrap,
    preference,
    rank_systems,
    system_table,
)
from metaeval.systems.ranking import either_bootstrap
from metaeval.systems.shortness import own_forms, partial_on_length

N = 60
RNG = np.random.default_rng(3)
SCORES = RNG.normal(size=(4, N))
GAPS = np.where(RNG.random((4, N)) < 0.2, np.nan, SCORES)
COUNTS = np.sort(RNG.integers(1, 30, size=(3, N, 10)).astype(float), axis=2)
SPANS = RNG.integers(0, 4, size=(N, 4)).astype(float)
FLAGS = RNG.random(N) < 0.5
PEOPLE = np.repeat(np.arange(3), N // 3)
Labels = Sequence[Any] | None
WHO, WHAT = (each.ravel() for each in np.indices((3, N)))


def matrix(values: np.ndarray, documents: Labels) -> ScoreMatrix:
    return ScoreMatrix(values, "ABCD"[: len(values)], map(str, range(N)), documents)


def bleu(documents: Labels) -> CorpusStatistics:
    return CorpusStatistics(COUNTS, "ABC", map(str, range(N)), bleu_score, documents)


def of_ratings(documents: Labels) -> Labels:
    return None if documents is None else [documents[item] for item in WHAT]


def own(documents: Labels, items: np.ndarray) -> Labels:
    """Return a document for each of other items, or no label where there are none."""
    return None if documents is None else [item if documents[0] else "" for item in items]


def numbers(documents: Labels) -> Any:
    return None if documents is None else RNG.permutation(1000)[:N]


CALLS: dict[str, Callable[[Labels], Any]] = {
    "paired_bootstrap": lambda d: paired_bootstrap(matrix(GAPS, d), "A", n_resamples=200, rng=1),
    "paired_bootstrap, BLEU": lambda d: paired_bootstrap(bleu(d), "A", n_resamples=200, rng=1),
    "approximate_randomization": lambda d: approximate_randomization(
        matrix(GAPS, d), "A", n_resamples=200, rng=1
    ),
    "rank-sum": lambda d: rank_systems(matrix(GAPS, d)),
    "permutation": lambda d: rank_systems(
        matrix(GAPS, d), test="permutation", n_resamples=200, rng=1
    ),
    "wmt26": lambda d: rank_systems(matrix(GAPS, d), test="wmt26", rng=1),
    "either_bootstrap": lambda d: either_bootstrap(GAPS, clusters=numbers(d), seed=2),
    "system_table": lambda d: system_table(
        matrix(GAPS, d), {"m": matrix(SCORES, d), "b": bleu(d)}, n_resamples=200, rng=1
    ),
    "mean_interval": lambda d: mean_interval(GAPS[0], clusters=numbers(d)),
    "preference": lambda d: preference(GAPS[0], GAPS[1], documents=d),
    "partial_on_length": lambda d: partial_on_length(
        *GAPS[:3, None], documents=d, within_segments=False, n_resamples=200, rng=1
    ),
    "own_forms": lambda d: own_forms(*GAPS[:, None], documents=d, n_resamples=200, rng=1),
    "agreement_interval": lambda d: agreement_interval(
        GAPS[:3].ravel(), WHO, WHAT, documents=of_ratings(d), n_resamples=200, rng=1
    ),
    "agreement_interval, delta": lambda d: agreement_interval(
        np.tile(SCORES[:2], 40).ravel(), np.repeat([0, 1], 40 * N), np.tile(np.arange(40 * N), 2),
        documents=own(d, np.tile(np.arange(40 * N), 2)),
        n_resamples=200, rng=1,
    ),
    "judgment_agreement": lambda d: judgment_agreement(
        GAPS[:3].ravel(), WHO, WHAT, documents=of_ratings(d), n_resamples=200, rng=1
    ),
    "icc": lambda d: icc(GAPS, documents=d),
    "control_test, t": lambda d: control_test(GAPS[0], GAPS[1], documents=d),
    "control_test, wilcoxon": lambda d: control_test(
        GAPS[0], GAPS[1], documents=d, method="wilcoxon"
    ),
    "control_test, mannwhitney": lambda d: control_test(
        GAPS[0], GAPS[1], documents=d, method="mannwhitney"
    ),
    "drift": lambda d: drift(GAPS[0], PEOPLE, documents=d),
    "variance_components": lambda d: variance_components(
        SCORES[:3].ravel(), WHO, WHAT, np.arange(3 * N) % 4, documents=of_ratings(d)
    ),
    "power_table": lambda d: power_table(
        variance_components(
            SCORES[:3].ravel(), WHO, WHAT, np.arange(3 * N) % 4, documents=of_ratings(d)
        ),
        difference=0.4, n_segments=[20, 50], annotators_per_item=[1, 3], n_simulations=50, rng=1,
    ),
    "allocate": lambda d: allocate(GAPS, documents=d),
    "mean_effect": lambda d: mean_effect(
        GAPS[0], FLAGS, PEOPLE, np.arange(N) % 20,
        documents=own(d, np.arange(N) % 20),
    ),
    "rate_effect": lambda d: rate_effect(GAPS[0] > 0, FLAGS, PEOPLE, documents=d),
    "detect": lambda d: detect(SPANS, documents=d, n_resamples=200, rng=1),
    "detect, units": lambda d: detect(
        SPANS, units=np.arange(N) // 2, n_resamples=200, rng=1,
        documents=own(d, np.arange(N) // 2),
    ),
    "compare_detectors": lambda d: compare_detectors(
        SPANS, SPANS[::-1], documents=d, n_resamples=200, rng=1
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_documents_of_one_segment_change_no_bit(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [
            repr(plain(CALLS[name](documents)))
            for documents in (None, [f"document {n}" for n in range(N)], [""] * N)
        ]
    assert found[0] == found[1] == found[2]
