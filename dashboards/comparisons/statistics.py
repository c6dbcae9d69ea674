"""Read a question (statistic, grouping and test) from an address."""

from collections.abc import Sequence

from django.http.request import QueryDict

from annotation.filters import FilterError
from metaeval.messages import message
from metaeval.replication.questions import GROUPINGS, STATISTICS, TESTS, Question, Statistic
from metaeval.replication.questions import parse as parse_question
from metaeval.replication.questions.statistics import (
    CLUSTERED,
    PERMUTATION,
    WILLIAMS,
    ZOU,
    QuestionError,
)

__all__ = [
    "CLUSTERED",
    "GROUPINGS",
    "PERMUTATION",
    "STATISTICS",
    "TESTS",
    "WILLIAMS",
    "ZOU",
    "Question",
    "Statistic",
    "from_query",
    "not_one_of",
    "parse",
]


def not_one_of(parameter: str, value: str, allowed: Sequence[str]) -> FilterError:
    """Return the error of a parameter with an unknown value."""
    return FilterError(
        message(
            "choice.not-one-of",
            "{parameter} must be one of {allowed}, not “{value}”.",
            parameter=parameter,
            allowed=list(allowed),
            value=value,
        )
    )


def parse(key: str) -> Question:
    """Return the question of a key, as `kinds.compute` takes it after the colon.

    Raises FilterError.
    """
    try:
        return parse_question(key)
    except QuestionError as error:
        raise FilterError(error.message) from error


def from_query(query: QueryDict, default: str) -> Question:
    """Return the question of an address.

    A grouping or test that the statistic does not have becomes its default, because a form sends
    all of its fields, also those of another statistic. Raises FilterError.
    """
    key = query.get("statistic", "") or default
    if key not in STATISTICS:
        return parse(key)
    statistic = STATISTICS[key]
    grouping, test = query.get("grouping", ""), query.get("test", "")
    if grouping and grouping not in GROUPINGS:
        raise not_one_of("grouping", grouping, list(GROUPINGS))
    if test and test not in TESTS:
        raise not_one_of("test", test, list(TESTS))
    return Question(
        statistic,
        grouping if grouping in statistic.groupings else statistic.groupings[0],
        test if test in statistic.tests else statistic.tests[0],
    )
