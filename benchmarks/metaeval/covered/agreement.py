"""Agreement between annotators: alpha and one-vs-rest r, with judgments of three kinds."""

from __future__ import annotations

import warnings
from functools import cache, partial

import numpy as np

import metaeval as me
from benchmarks.metaeval.covered.case import Case, Size, count_of, holds, seed_of
from metaeval import StatisticsWarning
from metaeval.arrays import FloatArray
from metaeval.judgments.agreement import agreement_interval, judgment_agreement

RATERS = 3
NORMAL, DA, ZEROS = "normal, ρ = .5", "0–100 in steps of 5", "half zeros, skewed (MQM)"
SPARSE = "each item by 2 of 8 annotators"


def ratings(rng: np.random.Generator, kind: str, annotators: int, units: int) -> FloatArray:
    """Return annotators x units; annotators differ by chance only."""
    latent = np.sqrt(0.5) * rng.normal(size=units) + np.sqrt(0.5) * rng.normal(
        size=(annotators, units)
    )
    if kind == DA:
        return np.clip(np.round((65.0 + 25.0 * latent) / 5.0) * 5.0, 0.0, 100.0)
    if kind == ZEROS:
        return np.where(latent < 0.0, 0.0, -np.round(np.expm1(1.2 * latent)))
    return np.asarray(latent)


def long(values: FloatArray) -> tuple[list[float], list[int], list[int]]:
    """Return ratings, annotators and units, one entry for each rating."""
    who, what = np.nonzero(~np.isnan(values))
    return values[who, what].tolist(), who.tolist(), what.tolist()


@cache
def truth(kind: str) -> tuple[float, float]:
    """Return one-vs-rest r and alpha of very many items."""
    if kind == NORMAL:
        return 0.5 * np.sqrt(2.0 / 1.5), 0.5
    values = ratings(np.random.default_rng(1), kind, RATERS, 200_000)
    found = agreement_interval(*long(values), n_resamples=0)
    return found.one_vs_rest, found.alpha


def sparse(rng: np.random.Generator, kind: str, units: int) -> FloatArray:
    """Two of eight annotators rate each item."""
    values = ratings(rng, kind, 8, units)
    order = rng.permuted(np.tile(np.arange(8), (units, 1)), axis=1)[:, :2]
    keep = np.zeros((8, units), dtype=bool)
    keep[order.T, np.arange(units)] = True
    return np.where(keep, values, np.nan)


def alpha(kind: str, is_sparse: bool, rng: np.random.Generator, size: Size) -> float:
    units = count_of(size)
    values = sparse(rng, kind, units) if is_sparse else ratings(rng, kind, RATERS, units)
    found = agreement_interval(*long(values), n_resamples=500, rng=seed_of(rng))
    ends = found.alpha_interval or (np.nan, np.nan)
    return holds(ends[0], ends[1], truth(kind)[1])


def one_vs_rest(kind: str, rng: np.random.Generator, size: Size) -> float:
    values = ratings(rng, kind, RATERS, count_of(size))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        found = agreement_interval(*long(values), n_resamples=2, rng=1)
    ends = found.one_vs_rest_interval or (np.nan, np.nan)
    return holds(ends[0], ends[1], truth(kind)[0])


def alpha_of_z(rng: np.random.Generator, size: Size) -> float:
    """Annotators with scales of their own, standardised over the items."""
    scales = np.array([[5.0], [10.0], [20.0]])
    values = ratings(rng, NORMAL, RATERS, count_of(size)) * scales + 3.0 * scales
    found = judgment_agreement(*long(values), n_resamples=500, rng=seed_of(rng)).alpha_z
    ends = found.interval or (np.nan, np.nan)
    return holds(ends[0], ends[1], 0.5)


def icc(form: str, rng: np.random.Generator, size: Size) -> float:
    values = ratings(rng, NORMAL, RATERS, count_of(size))
    ends = me.judgments.agreement.icc(values, form=form).interval
    return holds(ends[0], ends[1], 0.5) if ends else np.nan


SKEWED = "no method is reliable here: a warning is shown"
CASES = (
    Case("α", NORMAL, partial(alpha, NORMAL, False), (3, 5, 8, 10, 20, 50, 100)),
    Case("α", DA, partial(alpha, DA, False), (3, 5, 8, 10, 20, 50, 100)),
    Case("α", ZEROS, partial(alpha, ZEROS, False), (10, 20, 50, 100, 400), note=SKEWED),
    Case("α", f"{NORMAL}; {SPARSE}", partial(alpha, NORMAL, True), (8, 20, 50, 100)),
    Case("α", f"{DA}; {SPARSE}", partial(alpha, DA, True), (8, 20, 50, 100)),
    Case("α of z-scores", f"{NORMAL}; scales 5, 10, 20", alpha_of_z, (10, 20, 50, 100)),
    Case("one-vs-rest r", NORMAL, partial(one_vs_rest, NORMAL), (5, 10, 20, 50, 100)),
    Case("one-vs-rest r", DA, partial(one_vs_rest, DA), (5, 10, 20, 50, 100)),
    Case("one-vs-rest r", ZEROS, partial(one_vs_rest, ZEROS), (10, 20, 50, 100), note=SKEWED),
    Case("ICC(C,1)", NORMAL, partial(icc, "C1"), (5, 10, 50)),
)
