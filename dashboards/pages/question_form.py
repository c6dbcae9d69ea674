"""The form with which a reader chooses a statistic, how it is tested, and metrics."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from django.http.request import QueryDict

from dashboards.pages import selection, statistics

# What the form itself sends; the rest of an address travels along hidden.
FIELDS = ("statistic", "grouping", "test", "correction", "scope", "metric", "row")


def question_form(query: QueryDict, default: str, metrics: Mapping[str, str]) -> dict[str, Any]:
    """Return what templates/dashboards/_question.html shows; `metrics` are labels by key."""
    question = statistics.from_query(query, default)
    wanted = set(query.getlist("metric"))
    return {
        "question": question,
        "levels": [
            (level, list(same))
            for level, same in groupby(statistics.STATISTICS.values(), key=lambda s: s.level)
        ],
        "groupings": [
            (key, label)
            for key, label in statistics.GROUPINGS.items()
            if key in question.statistic.groupings
        ],
        "tests": [(key, statistics.TESTS[key]) for key in question.statistic.tests],
        "corrections": list(selection.CORRECTIONS.items()),
        "scopes": list(selection.SCOPES.items()),
        "metrics": [
            {"key": key, "label": label, "is_shown": not wanted or key in wanted}
            for key, label in metrics.items()
        ],
        "is_subset": bool(wanted),
        "kept": [
            (name, value)
            for name, values in query.lists()
            if name not in FIELDS
            for value in values
        ],
    }
