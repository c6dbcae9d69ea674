"""Count the spans over each character, for all texts in one sweep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metaeval.arrays import FloatArray, IntArray, between, one_length
from metaeval.spans.span_table import SEVERITIES, SIDES, SpanTable


def stride_of(tables: Sequence[SpanTable]) -> int:
    """Return the distance between texts on one line: more than the length of the longest."""
    return 1 + max((int(table.end.max()) for table in tables if len(table)), default=0)


def edges_of(table: SpanTable, stride: int) -> tuple[IntArray, IntArray]:
    """Return where spans begin and end when all sides of all texts lie on one line."""
    base = (table.item * len(SIDES) + table.side) * stride
    return base + table.start, base + table.end


def depths(
    tables: Sequence[SpanTable], stride: int
) -> tuple[IntArray, IntArray, tuple[IntArray, ...]]:
    """Return stretches of the line between edges: item, width, and spans over it of each table."""
    starts_ends = [edges_of(table, stride) for table in tables]
    edges = np.concatenate([edge for pair in starts_ends for edge in pair])
    sizes = [len(table) for table in tables]
    steps = np.concatenate([np.repeat((1, -1), n) for n in sizes])
    channels = np.repeat(np.arange(len(tables)), [2 * n for n in sizes])
    order = np.argsort(edges, kind="stable")
    edges, steps, channels = edges[order], steps[order], channels[order]
    over = tuple(
        np.cumsum(np.where(channels == channel, steps, 0))[:-1] for channel in range(len(tables))
    )
    return edges[:-1] // (len(SIDES) * stride), np.diff(edges), over


def covered(table: SpanTable, by: SpanTable) -> IntArray:
    """Return (n,) how many characters of each span of ``table`` lie under any span of ``by``."""
    if not len(table) or not len(by):
        return np.zeros(len(table), dtype=np.int64)
    stride = stride_of([table, by])
    first, last = edges_of(by, stride)
    order = np.argsort(first, kind="stable")
    first, last = first[order], np.maximum.accumulate(last[order])
    # Each span adds only the part that extends beyond earlier spans.
    before = np.concatenate([first[:1], last[:-1]])
    first = np.maximum(first, before)
    points = np.column_stack([first, last]).ravel()
    total = np.repeat(np.cumsum(last - first), 2)
    total[::2] -= last - first
    start, end = (np.interp(edge, points, total) for edge in edges_of(table, stride))
    return np.asarray(np.rint(end - start), dtype=np.int64)


def character_credit(
    gold: SpanTable, predicted: SpanTable, partial_credit: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return, by item, the true positives, the predicted and the gold characters of WMT25.

    Per character and severity (critical counts as major) g and p spans lie over it:
    sum of min(g, p) at full, min(sum of max(0, g - p), sum of max(0, p - g)) at partial credit
    (WMT25 shared task on automated translation evaluation, subtask 2).
    """
    kinds = [table.where((table.severity > 0) == m) for table in (gold, predicted) for m in (0, 1)]
    if not len(gold) + len(predicted):
        nothing = np.zeros(gold.n_items)
        return nothing, nothing, nothing
    item, width, (g0, g1, p0, p1) = depths(kinds, stride_of(kinds))
    exact = np.minimum(g0, p0) + np.minimum(g1, p1)
    missed = np.maximum(0, g0 - p0) + np.maximum(0, g1 - p1)
    surplus = np.maximum(0, p0 - g0) + np.maximum(0, p1 - g1)
    credit = exact + partial_credit * np.minimum(missed, surplus)
    return (
        _by_item(item, width * credit, gold.n_items),
        _by_item(item, width * (p0 + p1), gold.n_items),
        _by_item(item, width * (g0 + g1), gold.n_items),
    )


def _by_item(item: IntArray, values: FloatArray | IntArray, n_items: int) -> FloatArray:
    return np.bincount(item, weights=values, minlength=n_items).astype(np.float64)


# Gold that several annotators agree on: the characters that at least k of them marked.


def agreed_spans(annotators: Sequence[SpanTable], k: int) -> SpanTable:
    """Return the stretches that at least ``k`` annotators marked, of the same items.

    Its severity is the highest that k annotators reach on some character of it, each annotator by
    the most severe span over that character. Raises DataError for k below 1 or above the number
    of annotators, and for tables of different items.
    """
    between("k", k, 1, len(annotators))
    one_length(**{f"annotators[{at}]": range(t.n_items) for at, t in enumerate(annotators)})
    tables = [table.where(table.usable()) for table in annotators]
    levels = [t.where(t.severity >= level) for level in range(len(SEVERITIES)) for t in tables]
    first = annotators[0]
    if not any(len(table) for table in tables):
        return first.where(np.zeros(len(first), dtype=np.bool_))
    stride = stride_of(levels)
    _, width, over = depths(levels, stride)
    votes = np.array([depth > 0 for depth in over]).reshape(len(SEVERITIES), len(tables), -1)
    reached = (votes.sum(axis=1) >= k).sum(axis=0) - 1
    starts = np.sort(np.concatenate([edge for t in levels for edge in edges_of(t, stride)]))[:-1]
    keep = (width > 0) & (reached >= 0)
    return _merged(first.n_items, starts[keep], width[keep], reached[keep], stride)


def _merged(
    n_items: int, start: IntArray, width: IntArray, severity: IntArray, stride: int
) -> SpanTable:
    """Join stretches that touch; texts never do, because one is shorter than the stride."""
    end = start + width
    begins = np.concatenate([[True], start[1:] > end[:-1]])
    first = np.flatnonzero(begins)
    if not len(start):
        first = first[:0]
    last = np.append(first[1:], len(start)) - 1
    worst = np.maximum.reduceat(severity, first) if len(first) else severity
    text = start[first] // stride
    return SpanTable(
        n_items, text // len(SIDES), start[first] - text * stride, end[last] - text * stride,
        text % len(SIDES), worst,
    )  # fmt: skip
