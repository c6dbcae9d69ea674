"""The question that an address asks: which statistic, over which groups, tested how."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
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
    "statistic_choices",
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


def statistic_choices(request: HttpRequest, of: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """Return a statistic, and links to the same page for each one, for _statistics.html."""
    links = []
    for name, label in labels.items():
        query = request.GET.copy()
        query["of"] = name
        links.append({"label": label, "query": query.urlencode(), "is_chosen": name == of})
    return {"statistics": links, "statistic": labels[of]}
