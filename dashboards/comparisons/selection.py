"""Select the metrics of a document that a reader chose, and correct p-values for many tests.

The functions are pure and cheap enough for the web process.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import numpy as np
from django.http.request import QueryDict

from annotation.filters import FilterError
from dashboards.comparisons.document import Comparison, Matrix, OfMetrics
from dashboards.comparisons.statistics import not_one_of
from dashboards.panel.human import Floats
from metaeval.messages import Message, message
from metaeval.replication import questions
from metaeval.replication.questions import ALPHA, CORRECTIONS, SCOPES
from metaeval.significance import rank_clusters
from metrics.scores import MeasureScores

__all__ = ["ALPHA", "BOUNDS", "CORRECTIONS", "EVERY", "SCOPES", "adjusted", "array", "by_value",
           "folded", "leading", "leading_keys", "level", "listed", "one_of", "only",
           "shows_bounds", "standing", "subset"]  # fmt: skip

BOUNDS = {
    "hidden": message("bounds.hidden", "not shown"),
    "shown": message("bounds.shown", "as rows of every table"),
}
M = TypeVar("M", bound=OfMetrics)
# The value of `metric=` that names all measures.
EVERY = "*"
# Enough for three digits of the level that a thousand tests leave.
HALVINGS = 24
MATRICES = ("differences", "difference_lows", "difference_highs", "pvalues")


class OfFamily(Protocol):
    """A metric that a table shows in the row of its family."""

    @property
    def key(self) -> str: ...
    @property
    def family(self) -> str: ...
    @property
    def is_leading(self) -> bool: ...


F = TypeVar("F", bound=OfFamily)


def leading(metrics: Iterable[F]) -> list[F]:
    """Return one metric of each family: the first that leads, else the first.

    Which one is declared with the metric and does not depend on its agreement.
    """
    found: dict[str, F] = {}
    for metric in metrics:
        family = metric.family or metric.key
        first = found.setdefault(family, metric)
        if metric.is_leading and not first.is_leading:
            found[family] = metric
    return list(found.values())


@dataclass(frozen=True)
class _OfFamily:
    key: str
    family: str
    is_leading: bool


def leading_keys(
    measures: Mapping[str, MeasureScores], *, is_over_segments: bool = False
) -> list[str]:
    """Return the keys of the leading measures of all families."""
    found = (
        _OfFamily(key, each.family_of(is_over_segments=is_over_segments), each.is_leading)
        for key, each in measures.items()
    )
    return [each.key for each in leading(found)]


def folded(metrics: Sequence[F], shown: Iterable[F]) -> dict[str, list[F]]:
    """Return the metrics that are not shown, by the key of the first shown one of their family."""
    chosen = list(shown)
    keys = {metric.key for metric in chosen}
    first = {metric.family: metric.key for metric in reversed(chosen)}
    found: dict[str, list[F]] = {}
    for metric in metrics:
        if metric.key not in keys and metric.family in first:
            found.setdefault(first[metric.family], []).append(metric)
    return found


def subset(document: M, query: QueryDict) -> M:
    """Select the metrics that the address names (`metric=`, repeated; `EVERY` names all).

    Where it names none, these are the leading ones of all families. Raises FilterError for an
    unknown metric.
    """
    known = {metric.key for metric in document.metrics}
    wanted = set(query.getlist("metric"))
    unknown = wanted - known - {EVERY}
    if unknown and known:
        raise FilterError(no_scores("metric", min(unknown)))
    if not wanted:
        wanted = {metric.key for metric in leading(document.metrics)}
    keys = known if EVERY in wanted else wanted
    return replace(only(document, keys), all_metrics=document.metrics)


def only(document: M, keys: Container[str]) -> M:
    """Return a document of the metrics with these keys."""
    places = [place for place, metric in enumerate(document.metrics) if metric.key in keys]
    return _cut(document, places)


def no_scores(parameter: str, value: str) -> Message:
    """Return the message that a parameter of an address names a metric without scores."""
    return message(
        "choice.no-scores",
        "{parameter}: “{value}” has no scores here.",
        parameter=parameter,
        value=value,
    )


def by_value(document: Comparison) -> Comparison:
    """Sort metrics by their value, best first; those without a value last."""
    values = array([metric.value for metric in document.metrics])
    return _cut(document, questions.order_of(values))


def _cut(document: M, order: Sequence[int]) -> M:
    """Return the metrics at these positions in this order, in all matrices too."""
    matrices: dict[str, Matrix] = {
        name: [[matrix[i][j] for j in order] for i in order]
        for name in MATRICES
        if (matrix := getattr(document, name, None)) is not None
    }
    metrics = [document.metrics[i] for i in order]
    return replace(document, metrics=metrics, **matrices)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Standing:
    """Ranks of the metrics shown, by key, and the metrics that do not differ from the best.

    The best, which has the largest value, is in `alike`.
    """

    ranks: Mapping[str, int] = field(default_factory=dict)
    alike: frozenset[str] = frozenset()


def standing(document: Comparison, correction: str = "none", scope: str = "table") -> Standing:
    """Rank the metrics shown by corrected p, as the WMT metrics task does."""
    metrics = document.metrics
    if not metrics:
        return Standing()
    pvalues, _ = adjusted(document, correction, scope)
    found = rank_clusters(
        array([metric.value for metric in metrics]),
        array(pvalues),
        names=[metric.label for metric in metrics],
        alpha=ALPHA,
    )
    known = [place for place, metric in enumerate(metrics) if metric.value is not None]
    ranks = {metrics[place].key: int(found.ranks[place]) for place in known}
    return Standing(ranks, frozenset(_alike(document, pvalues, known)))


def _alike(document: Comparison, pvalues: Matrix, known: Sequence[int]) -> Iterator[str]:
    """Yield the metrics that the best is not better than at `ALPHA`, itself first."""
    if not known:
        return
    values = [metric.value or 0.0 for metric in document.metrics]
    best = max(known, key=lambda place: values[place])
    for place in known:
        p = pvalues[best][place]
        if values[place] == values[best] or p is None or p > ALPHA:
            yield document.metrics[place].key


def adjusted(document: Comparison, correction: str, scope: str) -> tuple[Matrix, list[Message]]:
    """Return adjusted one-sided p-values, (metrics, metrics), and warnings."""
    table = array(document.pvalues)
    if not table.size:
        return [], []
    found, notes = questions.adjusted(table, correction, scope, document.n_permutations)
    return listed(found), notes


def level(document: Comparison, at: tuple[int, int], correction: str, scope: str) -> float:
    """Return the largest p of a pair that stays significant after correction, given the others."""
    table = array(document.pvalues)
    low, high = 0.0, ALPHA
    for _ in range(HALVINGS):
        table[at] = middle = (low + high) / 2
        table[at[::-1]] = 1 - middle
        found, _notes = questions.adjusted(table, correction, scope, None)
        low, high = (middle, high) if found[at] <= ALPHA else (low, middle)
    return high


def one_of(query: QueryDict, name: str, allowed: Sequence[str]) -> str:
    """Return a parameter, by default the first allowed value; FilterError for another."""
    value = query.get(name) or allowed[0]
    if value not in allowed:
        raise not_one_of(name, value, allowed)
    return value


def shows_bounds(query: QueryDict) -> bool:
    """Return whether an address asks for rows of baselines and human ceiling (`bounds=shown`)."""
    return one_of(query, "bounds", list(BOUNDS)) == "shown"


def array(values: Any) -> Floats:
    """Return the numbers of a document as an array, with nan for None."""
    return np.array(values, dtype=np.float64)


def listed(values: Floats) -> Any:
    """Return an array as lists, with None for what is not finite; the inverse of `array`."""
    found = values.astype(object)
    found[~np.isfinite(values)] = None
    return found.tolist()
