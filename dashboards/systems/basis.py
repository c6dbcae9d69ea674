"""On how many segments the figures of the MT systems rest, and what agreement compares."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from annotation.counted import counted
from metaeval.results import MissingDataWarning
from metaeval.systems import SystemTable

Row = dict[str, Any]
BROUGHT = "Imported scores of systems are shown as they came, whatever the scores of outputs make."


def basis(table: SystemTable, n_segments: int, has_published: bool) -> list[str]:
    """Say it once for all figures, in a few sentences.

    `has_published`: agreement is with human scores published for whole systems.
    """
    human = _judged(table)
    own = [column for column in table.columns if not column.is_given]
    scored = [count for column in own for count in column.counts.tolist()]
    is_brought = len(own) < len(table.columns)
    if set(human) | set(scored) == {n_segments} and not (has_published or is_brought):
        return [f"All figures rest on all {counted(n_segments, 'segment')} of the test set."]
    told = [w.message for w in table.warnings if w.code == MissingDataWarning.code]
    sentences = [f"The test set has {counted(n_segments, 'segment')}."]
    if human:
        sentences.append(_of_humans(table, human))
    if scored:
        sentences += told or [f"Metric scores rest on {span(scored)} segments a system."]
    sentences += [BROUGHT] if is_brought else []
    sentences += _of_agreement(table, has_published) if scored or is_brought else []
    return sentences


def _judged(table: SystemTable) -> list[int]:
    found: list[int] = table.ranking.shared.diagonal().tolist() if table.ranking else []
    return found


def _of_humans(table: SystemTable, human: Sequence[int]) -> str:
    sentence = f"Human scores rest on {span(human)} judged segments a system"
    if table.ranking is None or len(human) < 2:
        return f"{sentence}."
    shared = table.ranking.shared[np.triu_indices(len(human), k=1)].tolist()
    return f"{sentence}, of which two systems share {span(shared)}."


def _of_agreement(table: SystemTable, has_published: bool) -> list[str]:
    if has_published:
        return ["τ-b and accuracy compare with human scores published for whole systems."]
    judged = [n for column in table.columns for n in column.judged.tolist() if n]
    if not judged:
        return []
    return [
        f"τ-b and accuracy rest on {span(judged)} segments a system: those that are judged and "
        "scored."
    ]


def span(counts: Sequence[int]) -> str:
    """Return numbers as `690 to 732`, or the one that all are."""
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def agreement_groups(human: Sequence[Row], columns: Sequence[Row]) -> list[Row]:
    """Return what τ-b and accuracy compare, measures with the same human scores together.

    A group has a line for each system: the human score over the segments that the measures
    have too, their number, and the measures' scores over the same. `is_shown` says that these
    are the scores of the table itself.
    """
    shown = {row["system"]: row["score"] for row in human}
    groups = []
    for _, alike in groupby(sorted(columns, key=_human_key), key=_human_key):
        own = list(alike)
        cells = [{row["system"]: row["score"] for row in each["compared"]} for each in own]
        lines = [
            {
                "system": row["system"],
                "human": row["human"],
                "n": row["n"],
                "scores": [scores[row["system"]] for scores in cells],
            }
            for row in sorted(own[0]["compared"], key=_best_first)
        ]
        groups.append(
            {
                "keys": [each["key"] for each in own],
                "labels": [each["label"] for each in own],
                "is_shown": all(_is_shown(each, shown) for each in own),
                "lines": lines,
            }
        )
    return groups


def _human_key(column: Row) -> list[tuple[str, bool, float, int]]:
    rows = column["compared"]
    return sorted((r["system"], r["human"] is None, r["human"] or 0.0, r["n"]) for r in rows)


def _best_first(row: Row) -> tuple[float, str]:
    return (float("inf") if row["human"] is None else -row["human"], row["system"])


def _is_shown(column: Row, shown: dict[str, float]) -> bool:
    """Whether both sides are those of the table, which shows every system's own segments."""
    scores = {row["system"]: row["score"] for row in column["rows"]}
    return all(
        row["human"] == shown.get(row["system"]) and row["score"] == scores[row["system"]]
        for row in column["compared"]
        if row["human"] is not None
    )
