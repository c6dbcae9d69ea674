"""Documents as the unit of intervals and tests: segments of one document depend on each other.

``clusters`` has the number of each segment's document, shape (segments,). If no document has two
segments, the unit is the segment, and no function here changes a number, not even its last bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metaeval.arrays import IntArray, one_length
from metaeval.messages import DataError, Message, data_error, message, plural
from metaeval.results import Notes, TooFewWarning

DOCUMENTS, SEGMENTS = "documents", "segments"
# The fewest documents for an interval.
FEWEST_DOCUMENTS = 6
# With fewer documents than this, intervals and p-values are approximate.
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


def clusters_from(labels: Iterable[Hashable] | None, n: int) -> IntArray:
    """Return the number of each entry's document, (n,), in order of appearance.

    An entry whose label is empty or None is a document of its own; without labels, every entry is.

    Raises
    ------
    DataError
        If there are not n labels.

    Examples
    --------
    >>> clusters_from(["a", "b", "a", None, None], 5).tolist()
    [0, 1, 0, 2, 3]
    """
    if labels is None:
        return np.arange(n)
    if isinstance(labels, tuple):
        return _same_numbers(labels, n)
    return _numbers(labels.tolist() if isinstance(labels, np.ndarray) else list(labels), n)


def _numbers(names: Sequence[Hashable], n: int) -> IntArray:
    one_length(documents=names, entries=range(n))
    distinct = dict.fromkeys(names)
    if None not in distinct and "" not in distinct:
        of = dict(zip(distinct, range(len(distinct)), strict=True))
        return np.fromiter(map(of.__getitem__, names), dtype=np.int64, count=n)
    numbers: dict[Hashable, int] = {}
    keys = (object() if name is None or name == "" else name for name in names)
    found = [numbers.setdefault(key, len(numbers)) for key in keys]
    return np.array(found, dtype=np.int64)


@lru_cache(maxsize=4)
def _same_numbers(names: tuple[Hashable, ...], n: int) -> IntArray:
    """Return the same, read-only: all matrices of a panel have one tuple of documents."""
    found = _numbers(names, n)
    found.flags.writeable = False
    return found


def documents_of(
    labels: Iterable[Hashable] | None, items: IntArray, names: Sequence[Hashable]
) -> IntArray:
    """Return the number of each item's document, (len(names),), from labels of its judgments.

    ``items`` (judgments,) numbers the item of each judgment. An item without a label is a document
    of its own; in an array of whole numbers, those below 0 are no labels.

    Raises
    ------
    DataError
        If the number of labels differs from that of the items, or one item has two documents.

    Examples
    --------
    >>> documents_of(["a", "a", "b", "", ""], np.array([0, 1, 2, 3, 3]), "stuv").tolist()
    [0, 0, 1, 2]
    """
    if labels is None:
        return np.arange(len(names))
    if isinstance(labels, np.ndarray) and labels.dtype.kind == "i":
        return _numbered(labels, items, names)
    given = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    one_length(documents=given, entries=items)
    own: dict[int, Hashable] = {}
    for item, label in zip(items.tolist(), given, strict=True):
        if own.setdefault(item, label) != label:
            raise _two_documents(names[item], own[item], label)
    return clusters_from([own.get(item) for item in range(len(names))], len(names))


def _numbered(labels: IntArray, items: IntArray, names: Sequence[Hashable]) -> IntArray:
    """Return the same without an object for each judgment."""
    one_length(documents=labels, entries=items)
    own = np.full(len(names), -1, dtype=np.int64)
    own[items[::-1]] = labels[::-1]  # of several judgments the first one's
    if len(others := np.flatnonzero(own[items] != labels)):
        item = items[others[0]]
        raise _two_documents(names[item], own[item], labels[others[0]])
    alone = own < 0
    return np.arange(len(names)) if alone.all() else recoded(
        np.where(alone, own.max() + 1 + np.arange(len(names)), own)
    )  # fmt: skip


def _two_documents(item: Hashable, one: Hashable, other: Hashable) -> DataError:
    return data_error(
        "data.two-documents",
        "{name} has two documents, “{one}” and “{other}”.",
        name=str(item),
        one=str(one),
        other=str(other),
    )


def of_several_segments(
    labels: Iterable[Hashable], segments: Iterable[Hashable]
) -> list[Hashable | None]:
    """Return the document of each judgment, None without a label or where it has one segment.

    Judgments of several systems, or by several annotators, would otherwise make a document of one
    segment look like one of several.

    >>> of_several_segments(["a", "a", "b", "b", "", ""], [1, 2, 3, 3, 4, 5])
    ['a', 'a', None, None, None, None]
    """
    pairs = list(zip(labels, segments, strict=True))
    sizes = Counter(label for label, _ in set(pairs))
    return [label if label and sizes[label] > 1 else None for label, _ in pairs]


def unit_of(clusters: IntArray) -> str:
    """Return ``documents`` where a document has two segments or more, else ``segments``."""
    return DOCUMENTS if len(clusters) > len(np.unique(clusters)) else SEGMENTS


def sum_by(values: ArrayLike, clusters: IntArray) -> NDArray[np.float64]:
    """Sum values of segments (..., segments) by document: (..., documents), by first appearance.

    If every segment is a document of its own, the values are returned unchanged.

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


def effective_units(clusters: IntArray) -> float:
    """Return the effective number of units of a part of the segments, at least 2.

    Degrees of freedom and corrections for few clusters use it instead of the number of clusters if
    these differ in size (Carter, Schnepel and Steigerwald 2017). If all have one size, it is their
    number.

    >>> effective_units(np.array([0, 0, 1, 1, 2, 2])), effective_units(np.array([0, 0, 0, 0, 1]))
    (3.0, 2.0)
    """
    return max(effective_clusters(sizes_of(clusters)), 2.0)


def units_message(clusters: IntArray) -> Message:
    """Return the number of units, and the effective number if documents differ in size.

    >>> units_message(np.array([0, 0, 1, 1])).text, units_message(np.array([0, 0, 1])).text
    ('2 documents', '2 documents (effective number: 1.8)')
    >>> nearly_equal = np.repeat(np.arange(11), [14] * 10 + [13])
    >>> units_message(nearly_equal).text, units_message(np.arange(1200)).text
    ('11 documents', '1,200 segments')
    """
    sizes = sizes_of(clusters)
    n = len(sizes)
    if unit_of(clusters) == SEGMENTS:
        return plural("units.segments", "{n} segment", "{n} segments", n=n)
    effective = round(effective_clusters(sizes), 1)
    if effective == n:
        return plural("units.documents", "{n} document", "{n} documents", n=n)
    return message(
        "units.unequal-documents",
        "{n} documents (effective number: {effective:.1f})",
        n=n,
        effective=effective,
    )


def few_documents(clusters: IntArray) -> TooFewWarning | None:
    """Return a warning if there are few documents, or few of equal weight; else None.

    Returns None if segments are the unit: each statistic has its own minimum of segments.
    """
    n, effective = len(sizes_of(clusters)), effective_clusters(sizes_of(clusters))
    if unit_of(clusters) == SEGMENTS or effective >= FEW_DOCUMENTS:
        return None
    if n < FEWEST_DOCUMENTS:
        return TooFewWarning(
            message(
                "documents.no-interval",
                "The segments belong to {units}. An interval needs at least {fewest} documents, "
                "and p-values are approximate.",
                units=units_message(clusters),
                fewest=FEWEST_DOCUMENTS,
            )
        )
    return TooFewWarning(
        message(
            "documents.approximate",
            "The segments belong to {units}. Intervals and p-values from fewer than {few} "
            "documents are approximate.",
            units=units_message(clusters),
            few=FEW_DOCUMENTS,
        )
    )


def has_enough_documents(clusters: IntArray, notes: Notes) -> bool:
    """Warn if there are few documents; return False if they are too few for an interval."""
    warning = few_documents(clusters)
    if warning is not None:
        notes.warn(warning)
    return unit_of(clusters) == SEGMENTS or len(sizes_of(clusters)) >= FEWEST_DOCUMENTS
