"""Judgments of documents: agreement, controls, drift, power, trials and error spans.

An annotator sees a document as a whole: segments of one share its quality, and what the annotator
thinks of it. Sizes are documents × segments of one.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np
from scipy.optimize import brentq

from benchmarks.metaeval.covered import documents
from benchmarks.metaeval.covered.case import REJECTS, Case, Size, holds, pair_of, rejects, seed_of
from benchmarks.metaeval.covered.documents import (
    HIGH,
    LARGE,
    LOW,
    SHARES,
    SIZES,
    UNEVEN,
    documents_of,
    shared,
)
from metaeval.arrays import FloatArray, IntArray
from metaeval.judgments import drift
from metaeval.judgments.agreement import agreement_interval, icc
from metaeval.judgments.controls import control_test
from metaeval.judgments.planning import VarianceComponents, power_table
from metaeval.judgments.trial import mean_effect, rate_effect
from metaeval.spans import compare_detectors, detect

RATERS = 3
ALPHA = 0.5
ONE_VS_REST = ALPHA * np.sqrt(2.0 / 1.5)


def ratings(rng: np.random.Generator, data: str, size: Size) -> tuple[FloatArray, IntArray]:
    """Return annotators x items, α = .5, and the document of each item.

    A document shares its part of the items' variance and of the annotators'.
    """
    of = documents_of(rng, data, size)
    item = shared(rng, data, of, lambda k: rng.normal(size=k))
    own = shared(rng, data, of, lambda k: rng.normal(size=(RATERS, k)))
    return np.sqrt(0.5) * item + np.sqrt(0.5) * own, of


def agreement(statistic: str, data: str, rng: np.random.Generator, size: Size) -> float:
    values, of = ratings(rng, data, size)
    who, what = (each.ravel() for each in np.indices(values.shape))
    found = agreement_interval(
        values.ravel(),
        who,
        what,
        documents=documents.labels(of[what]),
        n_resamples=500,
        rng=seed_of(rng),
    )
    is_alpha = statistic == "α"
    ends = found.alpha_interval if is_alpha else found.one_vs_rest_interval
    return holds(ends[0], ends[1], ALPHA if is_alpha else ONE_VS_REST) if ends else np.nan


def reliability(data: str, rng: np.random.Generator, size: Size) -> float:
    values, of = ratings(rng, data, size)
    ends = icc(values, documents=documents.labels(of), form="C1").interval
    return holds(ends[0], ends[1], ALPHA) if ends else np.nan


def controls(method: str, data: str, rng: np.random.Generator, size: Size) -> float:
    """Scores of items and their partners by an annotator who cannot distinguish them."""
    of = documents_of(rng, data, size)
    both = shared(rng, data, of, lambda k: rng.normal(size=(2, k)))
    test = control_test(
        *np.round(65.0 + 20.0 * both), documents=documents.labels(of), method=method
    )
    return rejects(test.pvalue)


def drifting(data: str, rng: np.random.Generator, size: Size) -> float:
    """Three annotators who do not drift, after Holm's correction."""
    parts = [documents_of(rng, data, size) for _ in range(3)]
    values = [shared(rng, data, of, lambda k: rng.normal(size=k)) for of in parts]
    who = np.repeat(np.arange(3), [len(of) for of in parts])
    of = np.concatenate(parts)
    return float(
        drift(np.concatenate(values), who, documents=documents.labels(of)).is_drifting.any()
    )


def powered(rng: np.random.Generator, size: Size) -> float:
    """Does a study find the difference that its power says 95 in 100 do?"""
    n, m = pair_of(size)
    of = np.repeat(np.arange(n), m)
    gaps = found_by_95(n, m) + np.sqrt(2.0 * PARTS.system_document) * rng.normal(size=n)[of]
    gaps = gaps + np.sqrt(2.0 * (PARTS.output + PARTS.residual)) * rng.normal(size=n * m)
    test = control_test(
        gaps, np.zeros(n * m), documents=documents.labels(of), alternative="two-sided"
    )
    return rejects(test.pvalue)


PARTS = VarianceComponents.stated(
    segment=0.3, output=0.2, annotator=0.0, residual=0.3, document=0.2, system_document=0.15
)


@cache
def found_by_95(n: int, m: int) -> float:
    """Return the difference that has a power of .95 with n documents of m segments."""

    def power(difference: float) -> float:
        table = power_table(
            PARTS, difference=difference, n_segments=[n * m], annotators_per_item=[1],
            document_size=m, targets=(), n_simulations=1, rng=1,
        )  # fmt: skip
        return float(table.exact[0, 0])

    return float(brentq(lambda difference: power(difference) - 0.95, 1e-3, 3.0))


def effect_of_a_condition(data: str, rng: np.random.Generator, size: Size) -> float:
    """Ten annotators, half of whose documents have suggestions; documents differ in what these do.

    One document shares what its segments do in the treated condition, for all annotators.
    """
    of, n_people = documents_of(rng, data, size), 10
    n = int(of.max()) + 1
    shown = rng.random((n_people, n)) < 0.5
    what = np.tile(np.arange(len(of)), n_people)
    who = np.repeat(np.arange(n_people), len(of))
    treated = shown[who, of[what]]
    change = np.sqrt(SHARES[data]) * rng.normal(size=n)
    noise = shared(rng, data, of, lambda k: rng.normal(size=(n_people, k))).ravel()
    values = noise + rng.normal(size=len(of))[what] + treated * change[of[what]]
    ends = mean_effect(values, treated, who, what, documents=documents.labels(of[what])).interval
    return holds(ends[0], ends[1], 0.0) if ends else np.nan


def effect_on_a_rate(data: str, rng: np.random.Generator, size: Size) -> float:
    """Return the same for a rate of regions, which is 30% in both conditions."""
    of, n_people = documents_of(rng, data, size), 10
    latent = shared(rng, data, of, lambda k: rng.normal(size=(2, k)))
    what = np.tile(np.arange(len(of)), n_people)
    who = np.repeat(np.arange(n_people), len(of))
    treated = rng.random(len(what)) < 0.5
    share = 0.5
    values = np.sqrt(share) * latent[treated.astype(int), what]
    values = values + np.sqrt(1.0 - share) * rng.normal(size=len(what))
    events = values < -0.5244005127080407
    ends = rate_effect(events, treated, who, documents=documents.labels(of[what])).interval
    return holds(ends[0], ends[1], 0.0) if ends else np.nan


def spans_of(rng: np.random.Generator, data: str, of: IntArray, skill: float) -> FloatArray:
    """Return the components of items: 0 to 5 gold spans, of which a share is found."""
    latent = shared(rng, data, of, lambda k: rng.normal(size=k))
    gold = np.minimum(np.floor(np.exp(0.8 * latent)), 5.0)
    rate = np.clip(skill + 0.2 * shared(rng, data, of, lambda k: rng.normal(size=k)), 0.0, 1.0)
    hits = rng.binomial(gold.astype(int), rate)
    extra = rng.poisson(0.5, size=len(of))
    return np.column_stack([hits, hits + extra, hits, gold]).astype(float)


def detected(data: str, rng: np.random.Generator, size: Size) -> float:
    """F1 against that of very many documents."""
    of = documents_of(rng, data, size)
    found = detect(spans_of(rng, data, of, 0.5), documents=documents.labels(of), n_resamples=400,
                   rng=seed_of(rng))  # fmt: skip
    ends = found.f1_interval
    return holds(ends[0], ends[1], _f1(data)) if ends else np.nan


@cache
def _f1(data: str) -> float:
    rng = np.random.default_rng(3)
    return detect(spans_of(rng, data, documents_of(rng, data, (40_000, 10)), 0.5)).f1


def detectors(data: str, rng: np.random.Generator, size: Size) -> float:
    """Two equally good detectors against one gold."""
    of = documents_of(rng, data, size)
    first, second = (spans_of(rng, data, of, 0.5) for _ in range(2))
    gold = np.maximum(first[:, 3], second[:, 3])
    for one in (first, second):
        one[:, 3] = gold
    test = compare_detectors(first, second, documents=documents.labels(of), n_resamples=400,
                             rng=seed_of(rng))  # fmt: skip
    return rejects(test.pvalue)


CASES = (
    *(Case(name, f"α = .5; {data}", partial(agreement, name, data), SIZES, share=0.5)
      for name in ("α", "one-vs-rest r") for data in (LOW, HIGH, UNEVEN)),
    Case("ICC(C,1)", HIGH, partial(reliability, HIGH), SIZES, share=0.3),
    *(Case(f"control test, {name}", data, partial(controls, method, data), SIZES, REJECTS)
      for name, method in (("t", "t"), ("signed rank", "wilcoxon")) for data in (HIGH, UNEVEN)),
    Case("power .95, documents", "system × document .15 of .65", powered, SIZES),
    Case("drift, any of 3 annotators", HIGH, partial(drifting, HIGH), LARGE, REJECTS, 0.5),
    *(Case("effect of a condition on scores", data, partial(effect_of_a_condition, data), SIZES,
           share=0.3) for data in (HIGH,)),
    Case("effect of a condition on a rate", HIGH, partial(effect_on_a_rate, HIGH), SIZES,
         share=0.5),
    *(Case("F1 of spans", data, partial(detected, data), SIZES, share=0.5)
      for data in (LOW, HIGH, UNEVEN)),
    Case("test of F1, permutation", HIGH, partial(detectors, HIGH), SIZES, REJECTS, 0.5),
)  # fmt: skip
