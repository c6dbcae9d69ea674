"""What is shown of single annotators, of planning, and of altered texts."""

from __future__ import annotations

from functools import partial

import numpy as np

import metaeval as me
from benchmarks.metaeval.covered.case import REJECTS, Case, Size, count_of, holds, rejects, seed_of
from metaeval.arrays import FloatArray
from metaeval.judgments.controls import control_test
from metaeval.judgments.planning import VarianceComponents, power_table

WILSON = "Wilson: counts are few and whole, so single rates lie on either side"
STATED = VarianceComponents.stated(segment=0.3, output=0.4, annotator=0.1, residual=0.5)


def pass_rate(known: float | None, rng: np.random.Generator, size: Size) -> float:
    """A rate, or rates of all sizes in turn."""
    n, rate = count_of(size), rng.random() if known is None else known
    found = me.judgments.controls.pass_rate(int(rng.binomial(n, rate)), n).interval
    return holds(found.low, found.high, rate) if found else np.nan


def preference(rng: np.random.Generator, size: Size) -> float:
    """A fifth of the segments prefer the altered text."""
    n = count_of(size)
    gaps = np.where(rng.random(n) < 0.2, 1.0, -1.0) * rng.random(n)
    found = me.systems.preference(gaps, np.zeros(n)).interval
    return holds(found.low, found.high, 0.2) if found else np.nan


def scores(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """Scores of items and of their partners, 0-100, by an annotator who cannot distinguish them."""
    item = rng.normal(size=n)
    both = 65.0 + 20.0 * (np.sqrt(0.4) * item + np.sqrt(0.6) * rng.normal(size=(2, n)))
    clipped = np.clip(np.round(both), 0.0, 100.0)
    return clipped[0], clipped[1]


def controls(method: str, rng: np.random.Generator, size: Size) -> float:
    return rejects(control_test(*scores(rng, count_of(size)), method=method).pvalue)


def drift(rng: np.random.Generator, size: Size) -> float:
    """Five annotators who do not drift, after Holm's correction."""
    n = count_of(size)
    values = np.round(rng.normal(65.0, 20.0, size=5 * n))
    return float(me.judgments.drift(values, np.repeat(np.arange(5), n)).is_drifting.any())


def power(rng: np.random.Generator, size: Size) -> float:
    """The Monte Carlo interval of power against its exact value."""
    n = count_of(size)
    table = power_table(
        STATED, difference=0.4, n_segments=[n], annotators_per_item=[2], n_simulations=400,
        rng=seed_of(rng),
    )  # fmt: skip
    return holds(float(table.low[0, 0]), float(table.high[0, 0]), float(table.exact[0, 0]))


CASES = (
    Case("pass rate", "90% pass", partial(pass_rate, 0.9), (5, 10, 30, 100), note=WILSON),
    Case("pass rate", "60% pass", partial(pass_rate, 0.6), (5, 10, 30, 100), note=WILSON),
    Case("pass rate", "any rate", partial(pass_rate, None), (5, 10, 30, 100)),
    Case("preference (W2W)", "20% prefer the altered text", preference, (20, 100, 500)),
    Case("control test, t", "0–100, no difference", partial(controls, "t"), (5, 10, 30), REJECTS),
    Case("control test, signed rank", "the same", partial(controls, "wilcoxon"), (10, 30),
         REJECTS),
    Case(
        "control test, U", "the same", partial(controls, "mannwhitney"), (10, 30), REJECTS,
        note="unpaired test of paired scores, for comparison only: too careful",
    ),
    Case("drift, any of 5 annotators", "no trend", drift, (10, 20, 100), REJECTS, 0.5),
    Case("power, Monte Carlo", "400 simulated studies", power, (10, 50, 100), share=0.5),
)  # fmt: skip
