"""The result of a comparison of metrics, and functions shared by all kinds of comparisons."""

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
from metaeval.messages import Message, message, plural
from metaeval.replication.questions.scored import Scored
from metaeval.replication.questions.statistics import Question
from metaeval.results import StatisticsWarning, TooFewWarning
from metaeval.significance.corrections import adjust_table

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Comparison:
    """One statistic of m metrics; nan if undefined.

    `values` with the interval `lows` to `highs` are (m,). `differences`, their intervals and the
    one-sided `pvalues` are (m, m): row minus column, small p if the row is better. `interval` says
    how intervals are computed; it is None if no metric has one, and then `no_interval` says why.
    `about` is the part of the data that intervals take to be new. Of `n_segments` segments with
    scores, `n_informative` contribute to the statistic; both are None if it is not over segments.
    `unit` is the unit that intervals treat as independent (``documents``, ``segments``,
    ``systems``, or drawn ``hybrids``), `n_units` their number and `n_effective` their effective
    number, which is smaller if documents differ in size. `chance` is the expected value of a metric
    without information. `zero_pvalues` (m,) are two-sided against 0, None without such a test.
    `sides` are the errors behind intervals over documents.
    """

    values: FloatArray
    lows: FloatArray
    highs: FloatArray
    differences: FloatArray
    difference_lows: FloatArray
    difference_highs: FloatArray
    pvalues: FloatArray
    n: int
    interval: Message | None
    test: Message
    n_systems: int
    unit: str
    n_units: int
    n_effective: float
    no_interval: Message | None = None
    about: Message | None = None
    n_segments: int | None = None
    n_informative: int | None = None
    n_permutations: int | None = None
    chance: float = 0.0
    zero_pvalues: FloatArray | None = None
    sides: Sequence[Side] = ()
    warnings: Sequence[Message] = ()

    @property
    def interval_or_cause(self) -> Message | None:
        """How intervals are computed, or that there are none, and why."""
        if self.interval or not self.no_interval:
            return self.interval
        return message("comparison.no-interval", "none, because {cause}", cause=self.no_interval)


# Why there is no interval.
UNDEFINED = message("no-interval.undefined", "the statistic is undefined for every metric")
NO_ERROR = message(
    "no-interval.no-error",
    "the value of every metric is the same whatever part of the data is used",
)
INTERVALS = ("lows", "highs", "difference_lows", "difference_highs")


def interval_fields(found: CorrelationIntervals) -> dict[str, Any]:
    """Return the fields of a Comparison that intervals fill."""
    is_there = bool(np.isfinite(found.lows).any())
    return {name: getattr(found, name) for name in INTERVALS} | {
        "interval": described(found.method, found.question) if is_there else None,
        "no_interval": None if is_there else _why(found),
        "about": found.question,
        "zero_pvalues": found.pvalues,
        "sides": found.sides,
        "n_systems": found.n_systems,
        "unit": found.unit,
        "n_units": found.n_units,
        "n_effective": found.n_effective,
    }


def described(method: Message, question: Message) -> Message:
    """Return how an interval is computed and what it takes to be new."""
    return message("interval.described", "{method} ({question})", method=method, question=question)


def few_systems(n: int) -> Message:
    """Return the message that there are too few systems for an interval."""
    return plural(
        "no-interval.few-systems", "{n} system is too few", "{n} systems are too few", n=n
    )


def _why(found: CorrelationIntervals) -> Message:
    if any(each.code == TooFewWarning.code for each in found.warnings):
        if not found.n_segments:
            return few_systems(found.n_systems)
        return message(
            "no-interval.few-segments-or-systems",
            "there are too few segments or systems (segments: {segments}, systems: {systems})",
            segments=found.n_segments,
            systems=found.n_systems,
        )
    return NO_ERROR if np.isfinite(found.values).any() else UNDEFINED


def no_intervals(values: FloatArray) -> dict[str, Any]:
    """Return the fields of `INTERVALS` without any interval, all nan."""
    empty: Mapping[str, FloatArray] = without_intervals(values)
    return {name: empty[name] for name in INTERVALS}


def notes_of(warnings: Sequence[StatisticsWarning]) -> dict[Message, None]:
    """Return the messages of warnings, each once, except those of missing data.

    Pages show missing cells elsewhere, once for all questions.
    """
    return dict.fromkeys(w.message for w in warnings if w.code != "missing_data")


def answerable(scored: Scored, question: Question) -> tuple[Scored, dict[Message, None]]:
    """Return the metrics that have scores on the level of a question, and why others have none."""
    is_of_systems = question.statistic.is_of_systems
    part = scored.system_part if is_of_systems else scored.segment_part
    named = zip(scored.metrics, scored.names, strict=True)
    lost = [(key, name) for key, name in named if key not in part.metrics]
    return part, {
        _excluded(scored, key, name, is_of_systems=is_of_systems): None for key, name in lost
    }


def _excluded(scored: Scored, key: str, name: str, *, is_of_systems: bool) -> Message:
    """Return why a metric is excluded from a question."""
    if n := scored.n_scored(key):
        return message(
            "metric.sparse",
            "{metric}: excluded here, because only {n} of {all} judged outputs have a score. All "
            "metrics are compared on the same outputs.",
            metric=name,
            n=n,
            all=int(scored.human.mask.sum()),
        )
    if is_of_systems:
        return message(
            "metric.no-system-scores",
            "{metric}: no value here, because no system that annotators judged has a score.",
            metric=name,
        )
    return message(
        "metric.no-segment-scores",
        "{metric}: no value here, because no judged segment has a score.",
        metric=name,
    )


def can_answer(scored: Scored, question: Question) -> bool:
    """Return whether a system, or a judged segment, has all scores."""
    part, _ = answerable(scored, question)
    return bool(part.metrics) and (question.statistic.is_of_systems or part.n > 0)


def widened(
    found: Comparison, scored: Scored, part: Scored, notes: dict[Message, None]
) -> Comparison:
    """Return the answer for some metrics with a place for every metric, nan for the others."""
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
CORRECTIONS: dict[str, Message | str] = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini–Hochberg",
    "none": message("correction.none", "none"),
}
SCOPES = {
    "table": message("scope.all-pairs", "all pairs"),
    "row": message("scope.each-row", "each row"),
}


def order_of(values: FloatArray) -> list[int]:
    """Return the metrics' places, best first; those without a value last."""
    lowest = np.where(np.isnan(values), -np.inf, values)
    return sorted(range(len(values)), key=lambda place: -lowest[place])


def adjusted(
    pvalues: FloatArray, correction: str, scope: str, n_resamples: int | None
) -> tuple[FloatArray, list[Message]]:
    """Return corrected one-sided p-values, metrics x metrics (`adjust_table`), and warnings."""
    found = adjust_table(
        pvalues, method=correction, scope=scope, alpha=ALPHA, n_resamples=n_resamples
    )
    return found.pvalues, [warning.message for warning in found.warnings]
