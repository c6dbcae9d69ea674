"""What a reader wants to see of a document: which metrics, and which correction for many tests.

Pure functions of a document, cheap enough for the web process.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from django.http.request import QueryDict

from annotation.filters import FilterError
from dashboards.panel.human import Floats
from dashboards.significance.document import plain
from metaeval.replication import questions
from metaeval.replication.questions import ALPHA, CORRECTIONS, SCOPES
from metaeval.significance import rank_clusters

__all__ = [
    "ALPHA",
    "CORRECTIONS",
    "MATRICES",
    "SCOPES",
    "adjusted",
    "array",
    "by_value",
    "one_of",
    "ranks",
    "subset",
]

Document = dict[str, Any]
MATRICES = ("differences", "difference_lows", "difference_highs", "pvalues")


def subset(document: Document, query: QueryDict) -> Document:
    """Keep the metrics that the address names (`metric=`, repeated); all where it names none.

    Raises FilterError for a name that no metric has.
    """
    metrics = document["metrics"]
    known = [metric["key"] for metric in metrics]
    wanted = set(query.getlist("metric"))
    strangers = wanted - set(known)
    if strangers and known:
        raise FilterError(f"metric: {min(strangers)!r} has no scores here")
    kept = [index for index, key in enumerate(known) if not wanted or key in wanted]
    cut = {
        name: [[document[name][i][j] for j in kept] for i in kept]
        for name in MATRICES
        if name in document
    }
    return document | cut | {"metrics": [metrics[i] for i in kept], "all_metrics": metrics}


def ranks(document: Document) -> dict[str, int]:
    """Return the rank of each shown metric by key, as in the WMT metrics task."""
    metrics = document["metrics"]
    if not metrics:
        return {}
    found = rank_clusters(
        array([metric["value"] for metric in metrics]),
        array(document["pvalues"]),
        names=[metric["label"] for metric in metrics],
        alpha=ALPHA,
    )
    return {
        metric["key"]: int(rank)
        for metric, rank in zip(metrics, found.ranks, strict=True)
        if metric["value"] is not None
    }


def by_value(document: Document) -> Document:
    """Sort metrics by their value, best first; those without a value last."""
    metrics = document["metrics"]
    order = questions.order_of(array([metric["value"] for metric in metrics]))
    cut = {name: [[document[name][i][j] for j in order] for i in order] for name in MATRICES}
    return document | cut | {"metrics": [metrics[i] for i in order]}


def adjusted(
    document: Document, correction: str, scope: str
) -> tuple[list[list[float | None]], list[str]]:
    """Return adjusted one-sided p-values, metrics x metrics, and warnings."""
    table = array(document["pvalues"])
    if not table.size:
        return [], []
    found, notes = questions.adjusted(table, correction, scope, document["n_permutations"])
    return plain(found), notes


def one_of(query: QueryDict, name: str, allowed: Sequence[str]) -> str:
    """Return a parameter, by default the first of those allowed; FilterError for another."""
    value = query.get(name) or allowed[0]
    if value not in allowed:
        raise FilterError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
    return value


def array(values: Any) -> Floats:
    """The inverse of `plain`: nan for None."""
    return np.array(values, dtype=np.float64)
