"""Answers to questions from the files of a bundle: intervals, ranks, differences and p."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.files.text import Table
from metaeval.messages import message
from metaeval.replication.questions import AnswerError, answer
from metaeval.replication.questions.comparison import ALPHA, Comparison, adjusted, order_of
from metaeval.replication.questions.statistics import parse
from metaeval.replication.tables import ScoreFile
from metaeval.significance.comparison import rank_clusters

Row = dict[str, Any]


@dataclass(frozen=True)
class Shown:
    """What a page shows of an answer: the correction, the family of tests, and the metrics."""

    correction: str = "holm"
    scope: str = "table"
    metrics: Sequence[str] = ()


def read_labels(path: str | Path) -> dict[str, str]:
    """Read metrics.tsv: key and label of every metric."""
    table = Table(path, ["metric", "label"])
    return {table.text(n, row, "metric"): table.text(n, row, "label") for n, row in table.rows}


def question_document(
    scores: ScoreFile, key: str, *, seed: int, labels: dict[str, str], shown: Shown
) -> Row:
    """Return the answer to a question such as ``tau-b/none/perm``, best metric first.

    ``metrics`` holds values with intervals and ranks, ``pairs`` every difference of two metrics
    with its interval, one-sided p, and p corrected for the tests of all pairs shown. Raises
    AnswerError for an unknown metric, and if no output has all scores.
    """
    panel, question = scores.panel(seed, labels), parse(key)
    found = answer(panel, question)
    keys = list(scores.metrics)
    if unknown := [name for name in shown.metrics if name not in keys]:
        raise AnswerError(
            message(
                "question.unknown-metrics",
                "Unknown metrics: {metrics}. The file has: {known}.",
                metrics=unknown,
                known=keys,
            )
        )
    places = [n for n, name in enumerate(keys) if not shown.metrics or name in shown.metrics]
    order = [places[at] for at in order_of(found.values[places])]
    names = [keys[at] for at in order]
    return {
        "statistic": question.key,
        "n": found.n,
        "n_systems": found.n_systems,
        "n_segments": found.n_segments,
        "n_informative": found.n_informative,
        "unit": found.unit,
        "n_units": found.n_units,
        "n_effective": found.n_effective,
        "interval": found.interval_or_cause,
        "test": found.test,
        "n_permutations": found.n_permutations,
        "metrics": _metrics(found, order, [labels.get(name, name) for name in names], names, shown),
        "pairs": _pairs(found, order, names, shown),
    }


def _metrics(
    found: Comparison, order: list[int], labels: list[str], names: list[str], shown: Shown
) -> list[Row]:
    pvalues = _corrected(found, order, shown)
    ranks = rank_clusters(found.values[order], pvalues, names=labels, alpha=ALPHA).ranks
    return [
        {"metric": name, "value": float(found.values[at]), "low": float(found.lows[at]),
         "high": float(found.highs[at]), "rank": int(rank)}
        for name, at, rank in zip(names, order, ranks, strict=True)
    ]  # fmt: skip


def _pairs(found: Comparison, order: list[int], names: list[str], shown: Shown) -> list[Row]:
    """Every ordered pair, row by row as in the heat map."""
    grid = np.ix_(order, order)
    tables: dict[str, FloatArray] = {
        "difference": found.differences[grid], "low": found.difference_lows[grid],
        "high": found.difference_highs[grid], "p": found.pvalues[grid],
        "p_corrected": _corrected(found, order, shown),
    }  # fmt: skip
    return [
        {"metric": first, "other": second}
        | {name: float(table[i, j]) for name, table in tables.items()}
        for i, first in enumerate(names)
        for j, second in enumerate(names)
        if i != j
    ]


def _corrected(found: Comparison, order: list[int], shown: Shown) -> FloatArray:
    """One-sided p of the metrics shown, for the tests of all their pairs."""
    grid = np.ix_(order, order)
    return adjusted(found.pvalues[grid], shown.correction, shown.scope, found.n_permutations)[0]
