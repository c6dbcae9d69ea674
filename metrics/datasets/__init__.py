"""Import published sets with their human and metric scores.

`drafts` says what one language pair consists of, `store` writes it, `mtme` reads folders in the
layout of mt-metrics-eval, and each other module turns one published set into drafts. `DATASETS` is
the list that command, page and API offer.
"""

from pathlib import Path

from django.utils.module_loading import import_string

from annotation.imports import DATASETS as JUDGED
from annotation.imports import DataSet, Pair
from core.messages import invalid
from metaeval.messages import message
from metrics.datasets.store import EvaluationDraft, MetricDraft, Stored, examine, store

# Readers take a `Pair` and return an `EvaluationDraft`, or a test set and a campaign.
DATASETS: dict[str, DataSet] = {
    **JUDGED,
    "wmt15": DataSet(
        message(
            "dataset.wmt15",
            "WMT15: human and metric scores of systems, without texts",
        ),
        "metrics.datasets.published.wmt15",
        "wmt15",
        index=("scores.tsv", "lp"),
    ),
    "wmt23-meta": DataSet(
        message(
            "dataset.wmt23-meta",
            "WMT23: four human scores and 13 metrics of the same outputs, without texts",
        ),
        "metrics.datasets.published.wmt23_meta",
        "wmt23-meta/*",
    ),
    "spans": DataSet(
        message(
            "dataset.spans",
            "WMT23: error spans in the same outputs by six groups of annotators",
        ),
        "metrics.datasets.published.spans",
        "spans/*",
    ),
    "length-control": DataSet(
        message(
            "dataset.length-control",
            "IWSLT 2022, isometric: outputs of systems built for length control, without human "
            "scores",
        ),
        "metrics.datasets.published.length_control",
        "length-control/*",
    ),
}

__all__ = [
    "DATASETS",
    "EvaluationDraft",
    "MetricDraft",
    "Stored",
    "examine",
    "find",
    "pairs",
    "read",
    "store",
]


def find(name: str) -> tuple[str, str]:
    """Return the data set and the language pair that a name means, `wmt17` or `wmt17-zh-en`.

    The pair is empty where the name has none. Raises ValidationError for an unknown name.
    """
    if name in DATASETS:
        return name, ""
    for known in sorted(DATASETS, key=len, reverse=True):
        if name.startswith(f"{known}-"):
            return known, name.removeprefix(f"{known}-")
    raise invalid(
        "datasets.unknown",
        "There is no data set {name}. Use {known}.",
        name=name,
        known=list(DATASETS),
    )


def read(name: str, pair: Pair) -> list[EvaluationDraft]:
    """Read one language pair of a data set. Raises ValidationError naming file and row."""
    found = import_string(DATASETS[name].reader)(pair)
    if isinstance(found, EvaluationDraft):
        return [found]
    return [EvaluationDraft(found[0], [found[1]])]


def pairs(name: str, data: Path, wanted: str = "") -> list[Pair]:
    """Return the language pairs of a data set that are there; `wanted` alone where it is given."""
    return DATASETS[name].pairs(data, [wanted] if wanted else [])
