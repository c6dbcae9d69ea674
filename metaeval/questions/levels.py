"""Which metrics can answer a question: some have scores of systems alone, or of other segments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.questions.base import Comparison
from metaeval.questions.scored import Scored
from metaeval.questions.statistics import Question

NO_SEGMENTS = "no score of a judged segment, so it has no value here"
NO_SYSTEMS = "no score of a system that the humans scored, so it has no value here"


def answerable(scored: Scored, question: Question) -> tuple[Scored, dict[str, None]]:
    """Return the metrics that have scores on the level of a question, and what to say of others."""
    is_of_systems = question.statistic.is_of_systems
    part = scored.system_part if is_of_systems else scored.segment_part
    why = NO_SYSTEMS if is_of_systems else NO_SEGMENTS
    named = zip(scored.metrics, scored.names, strict=True)
    return part, {f"{name}: {why}.": None for key, name in named if key not in part.metrics}


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
    for name in ("differences", "difference_lows", "difference_highs", "pvalues"):
        table = np.full((size, size), np.nan)
        table[np.ix_(places, places)] = getattr(found, name)
        rows[name] = table
    return replace(found, **rows, warnings=[*found.warnings, *notes])


def wide(values: FloatArray, places: list[int], size: int) -> FloatArray:
    """Return values at some places of a longer array, nan elsewhere."""
    row = np.full(size, np.nan)
    row[places] = values
    return row
