"""Documents as the unit of intervals and tests: segments of one document depend on each other.

``clusters`` is the number of each segment's document, (segments,). Where no document has two
segments the unit is the segment, and every function here leaves numbers as they are, to the bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metaeval.arrays import IntArray
from metaeval.results import Notes, TooFewWarning

DOCUMENTS, SEGMENTS = "documents", "segments"
# Below so many documents there is no interval.
FEWEST_DOCUMENTS = 6
# Below so many of them, intervals and p-values are approximate.
FEW_DOCUMENTS = 20


def sizes_of(clusters: IntArray) -> IntArray:
    """Return the number of segments of each document that has any, in order of appearance.

    >>> sizes_of(np.array([4, 4, 0, 2])).tolist()
    [2, 1, 1]
    """
    return np.bincount(recoded(clusters)) if len(clusters) else np.zeros(0, dtype=np.int64)


def recoded(clusters: IntArray) -> IntArray:
    """Return the clusters of a part of the segments as 0, 1, … in order of appearance.

    >>> recoded(np.array([4, 4, 0, 2])).tolist()
    [0, 0, 1, 2]
    """
    _, first, codes = np.unique(clusters, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[codes.reshape(-1)], dtype=np.int64)


def unit_of(clusters: IntArray) -> str:
    """Return ``documents`` where a document has two segments or more, else ``segments``."""
    return DOCUMENTS if len(clusters) > len(np.unique(clusters)) else SEGMENTS


def sum_by(values: ArrayLike, clusters: IntArray) -> NDArray[np.float64]:
    """Sum values of segments (..., segments) by document: (..., documents), by first appearance.

    Where every segment is a document of its own the values return unchanged.

    Examples
    --------
    >>> sum_by([[1.0, 2.0, 4.0]], np.array([0, 1, 0])).tolist()
    [[5.0, 2.0]]
    """
    numbers = np.asarray(values, dtype=np.float64)
    if unit_of(clusters) == SEGMENTS:
        return numbers
    codes = recoded(clusters)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    return np.asarray(np.add.reduceat(numbers[..., order], starts, axis=-1))


def effective_clusters(sizes: ArrayLike) -> float:
    """Return the effective number of clusters of these sizes, (sum n)^2 / sum n^2; 0 for none.

    >>> round(effective_clusters([10, 1, 1]), 2)
    1.41
    """
    n = np.asarray(sizes, dtype=np.float64)
    return float(n.sum() ** 2 / (n * n).sum()) if n.any() else 0.0


def counted(clusters: IntArray) -> str:
    """Return the number of units with their name, and the effective number of unequal documents.

    >>> counted(np.array([0, 0, 1, 1])), counted(np.array([0, 0, 1])), counted(np.arange(1200))
    ('2 documents', '2 documents (effective number 1.8)', '1,200 segments')
    """
    sizes = sizes_of(clusters)
    text = f"{len(sizes):,} {unit_of(clusters)}"
    effective = effective_clusters(sizes)
    is_equal = len(sizes) == 0 or sizes.min() == sizes.max()
    return text if is_equal else f"{text} (effective number {effective:.1f})"


def few_documents(clusters: IntArray) -> TooFewWarning | None:
    """Return the warning that so few or so unequal documents call for; None where units suffice.

    Where segments are the unit it is None: each statistic has its own fewest segments.
    """
    n, effective = len(sizes_of(clusters)), effective_clusters(sizes_of(clusters))
    if unit_of(clusters) == SEGMENTS or effective >= FEW_DOCUMENTS:
        return None
    if n < FEWEST_DOCUMENTS:
        return TooFewWarning(
            f"The segments belong to {counted(clusters)}: an interval needs {FEWEST_DOCUMENTS}."
        )
    return TooFewWarning(
        f"The segments belong to {counted(clusters)}: intervals and p-values from fewer than "
        f"{FEW_DOCUMENTS} are approximate."
    )


def has_enough_documents(clusters: IntArray, notes: Notes) -> bool:
    """Warn of few documents; return False where they are too few for an interval."""
    warning = few_documents(clusters)
    if warning is not None:
        notes.warn(warning)
    return unit_of(clusters) == SEGMENTS or len(sizes_of(clusters)) >= FEWEST_DOCUMENTS
