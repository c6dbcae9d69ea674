"""Gold that several annotators agree on: the characters that at least k of them marked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metaeval.arrays import IntArray
from metaeval.spans.coverage import depths, edges_of, stride_of
from metaeval.spans.span_table import SEVERITIES, SIDES, SpanTable


def agreed_spans(annotators: Sequence[SpanTable], k: int) -> SpanTable:
    """Return the stretches that at least ``k`` annotators marked, of the same items.

    Its severity is the highest that k annotators reach on some character of it, each annotator by
    the most severe span over that character. Raises ValueError for k below 1 or above the number
    of annotators, and for tables of different items.
    """
    if not 1 <= k <= len(annotators):
        raise ValueError(f"k: expected 1 to {len(annotators)} annotators, got {k}")
    if len({table.n_items for table in annotators}) > 1:
        raise ValueError("annotators: the tables have different numbers of items")
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
