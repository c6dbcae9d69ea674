"""The question that an address asks: which statistic, over which groups, tested how."""

from django.http.request import QueryDict

from annotation.filters import FilterError
from metaeval.replication.questions import GROUPINGS, STATISTICS, TESTS, Question, Statistic
from metaeval.replication.questions import parse as parse_question
from metaeval.replication.questions.statistics import CLUSTERED, PERMUTATION, WILLIAMS, ZOU

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
    "parse",
]


def parse(key: str) -> Question:
    """Return the question of a key, as `kinds.compute` takes it after the colon; FilterError."""
    try:
        return parse_question(key)
    except ValueError as error:
        raise FilterError(str(error)) from error


def from_query(query: QueryDict, default: str) -> Question:
    """Return what an address asks. A grouping or test that a statistic lacks becomes its default:
    a form sends all of its fields, also those that no longer go with the statistic.
    """
    key = query.get("statistic", "") or default
    if key not in STATISTICS:
        return parse(key)
    statistic = STATISTICS[key]
    grouping, test = query.get("grouping", ""), query.get("test", "")
    if grouping and grouping not in GROUPINGS:
        raise FilterError(f"grouping must be one of {', '.join(GROUPINGS)}, not {grouping!r}")
    if test and test not in TESTS:
        raise FilterError(f"test must be one of {', '.join(TESTS)}, not {test!r}")
    return Question(
        statistic,
        grouping if grouping in statistic.groupings else statistic.groupings[0],
        test if test in statistic.tests else statistic.tests[0],
    )
