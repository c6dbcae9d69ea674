"""On how many segments the figures of the MT systems rest."""

from collections.abc import Sequence

import numpy as np

from core.text import pluralize
from metaeval.results import MissingDataWarning
from metaeval.systems import SystemTable

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
        return [f"All figures rest on all {pluralize(n_segments, 'segment')} of the test set."]
    told = [w.message for w in table.warnings if w.code == MissingDataWarning.code]
    sentences = [f"The test set has {pluralize(n_segments, 'segment')}."]
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
