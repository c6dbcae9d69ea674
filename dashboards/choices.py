"""What a reader wants to see of a document: which metrics, and which correction for many tests.

Pure functions of a document, cheap enough for the web process.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from django.http.request import QueryDict

import metaeval
from dashboards.analyses.significance import plain
from dashboards.filters import FilterError
from dashboards.selectors import Floats

Document = dict[str, Any]
ALPHA = 0.05
CORRECTIONS = {
    "bonferroni": "Bonferroni",
    "holm": "Holm",
    "bh": "Benjamini–Hochberg",
    "none": "none",
}
SCOPES = {"table": "all pairs", "row": "each row"}
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
    found = metaeval.rank_clusters(
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
    order = sorted(range(len(metrics)), key=lambda i: -_or_lowest(metrics[i]["value"]))
    cut = {name: [[document[name][i][j] for j in order] for i in order] for name in MATRICES}
    return document | cut | {"metrics": [metrics[i] for i in order]}


def adjusted(
    document: Document, correction: str, scope: str
) -> tuple[list[list[float | None]], list[str]]:
    """Return adjusted one-sided p-values, metrics x metrics, and warnings.

    `table`: one family of all pairs, each with the smaller of its two p-values, the other None;
    `row`: one family a row (Deutsch et al. 2021, who draw both).
    """
    table = array(document["pvalues"])
    if not table.size:
        return [], []
    if scope == "table":
        # Each pair enters the family once.
        below = np.tri(len(table), k=-1, dtype=bool)
        table[(table > table.T) | ((table == table.T) & below)] = np.nan
    if correction == "none":
        return plain(table), []
    families = [table] if scope == "table" else list(table)
    found = [
        metaeval.adjust_pvalues(
            family, method=correction, alpha=ALPHA, n_resamples=document["n_permutations"]
        )
        for family in families
    ]
    notes = dict.fromkeys(warning.message for one in found for warning in one.warnings)
    pvalues = found[0].pvalues if scope == "table" else np.array([one.pvalues for one in found])
    return plain(pvalues), list(notes)


def one_of(query: QueryDict, name: str, allowed: Sequence[str]) -> str:
    """Return a parameter, by default the first of those allowed; FilterError for another."""
    value = query.get(name) or allowed[0]
    if value not in allowed:
        raise FilterError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
    return value


def array(values: Any) -> Floats:
    """The inverse of `plain`: nan for None."""
    return np.array(values, dtype=np.float64)


def _or_lowest(value: float | None) -> float:
    return -np.inf if value is None else value
