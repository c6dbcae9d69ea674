"""Every metric against the humans and against every other metric, by one statistic.

A question says which statistic, over which groups, tested how; its answer has values, intervals,
differences and p-values of all metrics at once, on the cells that all of them have. One
computation behind tables of metrics, their ranks and the heat maps of pairs.
"""

from __future__ import annotations

from metaeval.replication.questions.cells import compare_cells, compare_limits
from metaeval.replication.questions.comparison import (
    ALPHA,
    CORRECTIONS,
    SCOPES,
    Comparison,
    adjusted,
    answerable,
    can_answer,
    order_of,
    widened,
)
from metaeval.replication.questions.dependent import compare_hybrids, compare_systems
from metaeval.replication.questions.scored import N_HYBRIDS, Scored
from metaeval.replication.questions.statistics import (
    GROUPINGS,
    STATISTICS,
    TESTS,
    Question,
    Statistic,
    parse,
)
from metaeval.replication.questions.values import values_of

__all__ = [
    "ALPHA",
    "CORRECTIONS",
    "GROUPINGS",
    "N_HYBRIDS",
    "SCOPES",
    "STATISTICS",
    "TESTS",
    "Comparison",
    "Question",
    "Scored",
    "Statistic",
    "adjusted",
    "answer",
    "can_answer",
    "order_of",
    "parse",
    "values_of",
]
__dir__ = __all__.copy


def answer(scored: Scored, question: Question) -> Comparison:
    """Answer a question with all metrics; ValueError where nothing has all their scores.

    Metrics without a score on the level of the question (systems, or judged segments) are nan, and
    leave the others as they are.
    """
    part, notes = answerable(scored, question)
    if not can_answer(part, question):
        raise ValueError("no output has the scores of the humans and of all metrics")
    return widened(_answer(part, question), scored, part, notes)


def _answer(scored: Scored, question: Question) -> Comparison:
    if question.statistic.key == "hybrids":
        return compare_hybrids(scored, question)
    if question.statistic.key == "limit":
        return compare_limits(scored)
    if question.statistic.is_of_systems:
        return compare_systems(scored, question)
    return compare_cells(scored, question)
