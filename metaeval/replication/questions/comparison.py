"""What a comparison of metrics returns, and what all ways to compare share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.correlation.intervals.clustered import (
    CorrelationIntervals,
    Side,
    without_intervals,
)
from metaeval.replication.questions.scored import Scored
from metaeval.replication.questions.statistics import Question
from metaeval.results import StatisticsWarning, TooFewWarning
from metaeval.significance.corrections import adjust_table

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Comparison:
    """One statistic of m metrics; nan where undefined.

    `values` with the interval `lows` to `highs` are (m,). `differences`, their intervals and the
    one-sided `pvalues` are (m, m): row minus column, small p where the row is better. `about` says
    of what the intervals are: which part of the data would be new. Of `n_segments` segments with
    scores `n_informative` tell anything of the statistic; None where it is not over segments.
    `unit` names what the intervals take to be independent (``documents``, ``segments``,
    ``systems``, or ``hybrids`` that were drawn), `n_units` counts them, and `n_effective` is their
    effective number, smaller where documents differ in size. `chance` is the value
    of a metric that knows nothing; `zero_pvalues` (m,) are two-sided against 0, where the
    intervals have such a test. `sides` are the errors behind intervals over documents.
    """

    values: FloatArray
    lows: FloatArray
    highs: FloatArray
    differences: FloatArray
    difference_lows: FloatArray
    difference_highs: FloatArray
    pvalues: FloatArray
    n: int
    interval: str
    test: str
    n_systems: int
    unit: str
    n_units: int
    n_effective: float
    about: str = ""
    n_segments: int | None = None
    n_informative: int | None = None
    n_permutations: int | None = None
    chance: float = 0.0
    zero_pvalues: FloatArray | None = None
    sides: Sequence[Side] = ()
    warnings: Sequence[str] = ()


# Why there is no interval, in place of how one is made.
UNDEFINED = "the statistic is undefined for every metric"
NO_ERROR = "every metric agrees alike whatever is left out"
INTERVALS = ("lows", "highs", "difference_lows", "difference_highs")


def interval_fields(found: CorrelationIntervals) -> dict[str, Any]:
    """Return the fields of a Comparison that intervals fill."""
    is_there = bool(np.isfinite(found.lows).any())
    return {name: getattr(found, name) for name in INTERVALS} | {
        "interval": f"{found.method} ({found.question})" if is_there else no_interval(_why(found)),
        "about": found.question,
        "zero_pvalues": found.pvalues,
        "sides": found.sides,
        "n_systems": found.n_systems,
        "unit": found.unit,
        "n_units": found.n_units,
        "n_effective": found.n_effective,
    }


def few_systems(n: int) -> str:
    """Say that systems are too few for an interval."""
    return f"{n} systems are too few"


def no_interval(cause: str) -> str:
    """Say that there is no interval, and why, in place of how one is made."""
    return f"none: {cause}"


def _why(found: CorrelationIntervals) -> str:
    if any(each.code == TooFewWarning.code for each in found.warnings):
        n, n_systems = found.n_segments, found.n_systems
        return f"{n} segments and {n_systems} systems are too few" if n else few_systems(n_systems)
    return NO_ERROR if np.isfinite(found.values).any() else UNDEFINED


def no_intervals(values: FloatArray, why: str) -> dict[str, Any]:
    """Return the same fields where no interval covers what it says."""
    empty: Mapping[str, FloatArray] = without_intervals(values)
    return {name: empty[name] for name in INTERVALS} | {"interval": why}


def notes_of(warnings: Sequence[StatisticsWarning]) -> dict[str, None]:
    """Sentences for the page; missing cells are told once for all, elsewhere."""
    return dict.fromkeys(w.message for w in warnings if w.code != "missing_data")


NO_SEGMENTS = "no score of a judged segment, so it has no value here"
SPARSE = (
    "{name}: scores of {n:,} of {all:,} judged outputs; compared with the others it would leave "
    "them no more than these, so it has no value here."
)
NO_SYSTEMS = "no score of a system that the humans scored, so it has no value here"


def answerable(scored: Scored, question: Question) -> tuple[Scored, dict[str, None]]:
    """Return the metrics that have scores on the level of a question, and what to say of others."""
    is_of_systems = question.statistic.is_of_systems
    part = scored.system_part if is_of_systems else scored.segment_part
    why = NO_SYSTEMS if is_of_systems else NO_SEGMENTS
    named = zip(scored.metrics, scored.names, strict=True)
    lost = [(key, name) for key, name in named if key not in part.metrics]
    return part, {_sparse(scored, key, name) or f"{name}: {why}.": None for key, name in lost}


def _sparse(scored: Scored, key: str, name: str) -> str:
    """Why a metric is left out that has some scores; empty of another."""
    n, judged = scored.n_scored(key), int(scored.human.mask.sum())
    return SPARSE.format(name=name, n=n, all=judged) if n else ""


def can_answer(scored: Scored, question: Question) -> bool:
    """Whether there is anything to compare: a system, or a judged segment, with all scores."""
    part, _ = answerable(scored, question)
    return bool(part.metrics) and (question.statistic.is_of_systems or part.n > 0)


def widened(found: Comparison, scored: Scored, part: Scored, notes: dict[str, None]) -> Comparison:
    """Return the answer of some metrics with a place for every metric, nan for the others."""
    if part is scored:
        return found
    places = [place for place, key in enumerate(scored.metrics) if key in part.metrics]
    size = len(scored.metrics)
    rows: dict[str, Any] = {
        name: wide(getattr(found, name), places, size) for name in ("values", "lows", "highs")
    }
    if found.zero_pvalues is not None:
        rows["zero_pvalues"] = wide(found.zero_pvalues, places, size)
    for name in ("differences", "difference_lows", "difference_highs", "pvalues"):
        table = np.full((size, size), np.nan)
        table[np.ix_(places, places)] = getattr(found, name)
        rows[name] = table
    sides = [side.widened(places, size) for side in found.sides]
    return replace(found, **rows, sides=sides, warnings=[*found.warnings, *notes])


def wide(values: FloatArray, places: list[int], size: int) -> FloatArray:
    """Return values at some places of a longer array, nan elsewhere."""
    row = np.full(size, np.nan)
    row[places] = values
    return row


ALPHA = 0.05
CORRECTIONS = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini–Hochberg",
    "none": "none",
}
SCOPES = {"table": "all pairs", "row": "each row"}


def order_of(values: FloatArray) -> list[int]:
    """Return the metrics' places, best first; those without a value last."""
    lowest = np.where(np.isnan(values), -np.inf, values)
    return sorted(range(len(values)), key=lambda place: -lowest[place])


def adjusted(
    pvalues: FloatArray, correction: str, scope: str, n_resamples: int | None
) -> tuple[FloatArray, list[str]]:
    """Return corrected one-sided p-values, metrics x metrics (`adjust_table`), and warnings."""
    found = adjust_table(
        pvalues, method=correction, scope=scope, alpha=ALPHA, n_resamples=n_resamples
    )
    return found.pvalues, [warning.message for warning in found.warnings]
