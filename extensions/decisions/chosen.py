"""The choices that pages on the use of metrics share: a statistic over outputs, and metrics."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from django.http.request import QueryDict

from dashboards.comparisons.selection import EVERY, OfFamily, leading
from dashboards.comparisons.statistics import not_one_of
from metaeval.messages import Message, message, truncated
from metaeval.replication.questions import STATISTICS
from metaeval.results import StatisticsWarning

DEFAULT = "tau-b"
# Statistics over outputs that every function of `metaeval.sensitivity` takes.
OFFERED = {key: STATISTICS[key].label for key in ("tau-b", "pearson", "spearman", "acc-eq")}
F = TypeVar("F", bound=OfFamily)
# The name of a metric or bin, and a warning on its statistic.
Problem = tuple[Message | str, Message]


def ask(query: QueryDict) -> str:
    """Return the statistic of an address; FilterError for an unknown one."""
    key = query.get("statistic") or DEFAULT
    if key not in OFFERED:
        raise not_one_of("statistic", key, list(OFFERED))
    return key


def shown(metrics: Sequence[F], query: QueryDict) -> list[F]:
    """Return the metrics that an address names, by default the leading one of each family."""
    wanted = set(query.getlist("metric")) - {""}
    if EVERY in wanted:
        return list(metrics)
    keys = wanted or {each.key for each in leading(metrics)}
    return [each for each in metrics if each.key in keys]


@contextmanager
def collected(add: Callable[[Message], object]) -> Iterator[None]:
    """Pass the messages of statistics' warnings to a function."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", StatisticsWarning)
        yield
    for each in caught:
        if isinstance(each.message, StatisticsWarning):
            add(each.message.message)
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def by_problem(problems: Sequence[Problem], n: int) -> list[Message]:
    """Return each warning once, with the names that it concerns unless these are all `n`."""
    names: dict[Message, dict[Message | str, None]] = {}
    for name, problem in problems:
        names.setdefault(problem, {})[name] = None
    return [
        problem
        if len(found) == n
        else message(
            "decisions.of-some", "{names}: {problem}", names=truncated([*found]), problem=problem
        )
        for problem, found in names.items()
    ]
