"""Every metric against the humans and against every other metric, by one statistic.

A question names a statistic, a grouping and a test. Its answer has values, intervals, differences
and p-values of all metrics at once, on the cells that all of them have. Tables of metrics, their
ranks and the heat maps of pairs all use this computation.
"""

from __future__ import annotations

from metaeval.messages import MessageError, message
from metaeval.replication.questions.cells import compare_cells, compare_linear
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


class AnswerError(MessageError, ValueError):
    """A question cannot be answered from the scores."""


def answer(scored: Scored, question: Question) -> Comparison:
    """Answer a question with all metrics; raises AnswerError if no output has all their scores.

    Metrics without a score on the level of the question (systems, or judged segments) are nan, and
    do not change the values of others.
    """
    part, notes = answerable(scored, question)
    if not can_answer(part, question):
        raise AnswerError(
            message(
                "question.no-common-output",
                "No output has a human score and scores of all metrics.",
            )
        )
    return widened(_answer(part, question), scored, part, notes)


def _answer(scored: Scored, question: Question) -> Comparison:
    if question.statistic.key == "hybrids":
        return compare_hybrids(scored, question)
    if question.statistic.key == "limit":
        return compare_linear(scored, scored.limits)
    if question.statistic.key == "pdp":
        return compare_linear(scored, scored.differences)
    if question.statistic.is_of_systems:
        return compare_systems(scored, question)
    return compare_cells(scored, question)
