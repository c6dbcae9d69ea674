"""Describe how many segments the numbers of the MT systems use."""

from collections.abc import Sequence

import numpy as np

from metaeval.messages import Message, message, plural
from metaeval.results import MissingDataWarning
from metaeval.systems import SystemTable

AS_IMPORTED = message("basis.as-imported", "as imported")
IMPORTED = message(
    "basis.imported",
    "Imported scores of systems are shown unchanged, even if they differ from the mean of the "
    "output scores.",
)
PUBLISHED = message(
    "basis.published",
    "τ-b and accuracy compare metrics with human scores published for whole systems.",
)


def basis(table: SystemTable, n_segments: int, has_published: bool) -> list[Message]:
    """Return a description for all numbers.

    `has_published`: agreement is with human scores published for whole systems.
    """
    human = _judged(table)
    own = [column for column in table.columns if not column.is_given]
    scored = [count for column in own for count in column.counts.tolist()]
    is_imported = len(own) < len(table.columns)
    if set(human) | set(scored) == {n_segments} and not (has_published or is_imported):
        return [
            plural(
                "basis.all-segments",
                "All numbers use the only segment of the test set.",
                "All numbers use all {n} segments of the test set.",
                n=n_segments,
            )
        ]
    missing = [w.message for w in table.warnings if w.code == MissingDataWarning.code]
    found = [
        plural(
            "basis.test-set",
            "The test set has {n} segment.",
            "The test set has {n} segments.",
            n=n_segments,
        )
    ]
    if human:
        found.append(_of_humans(table, human))
    if scored:
        found += missing or [
            message(
                "basis.metrics",
                "Metric scores use {segments} segments per system.",
                segments=span(scored),
            )
        ]
    found += [IMPORTED] if is_imported else []
    found += _of_agreement(table, has_published) if scored or is_imported else []
    return found


def _judged(table: SystemTable) -> list[int]:
    found: list[int] = table.ranking.shared.diagonal().tolist() if table.ranking else []
    return found


def _of_humans(table: SystemTable, human: Sequence[int]) -> Message:
    if table.ranking is None or len(human) < 2:
        return message(
            "basis.humans",
            "Human scores use {segments} judged segments per system.",
            segments=span(human),
        )
    shared = table.ranking.shared[np.triu_indices(len(human), k=1)].tolist()
    return message(
        "basis.humans-shared",
        "Human scores use {segments} judged segments per system. Two systems share {shared} of "
        "them.",
        segments=span(human),
        shared=span(shared),
    )


def _of_agreement(table: SystemTable, has_published: bool) -> list[Message]:
    if has_published:
        return [PUBLISHED]
    judged = [n for column in table.columns for n in column.judged.tolist() if n]
    if not judged:
        return []
    return [
        message(
            "basis.agreement",
            "τ-b and accuracy use the {segments} segments per system that are judged and scored.",
            segments=span(judged),
        )
    ]


def span(counts: Sequence[int]) -> Message:
    """Return a range of counts as `690 to 732`, or the count that all share."""
    low, high = min(counts), max(counts)
    if low == high:
        return message("basis.count", "{n}", n=low)
    return message("basis.counts", "{low} to {high}", low=low, high=high)
