"""Precision, recall and F of detected spans, with intervals and tests over units of texts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import FloatArray, IntArray, of_shape, one_length, one_of, positive_int
from metaeval.documents import (
    DOCUMENTS,
    SEGMENTS,
    clusters_from,
    effective_units,
    has_enough_documents,
    sizes_of,
)
from metaeval.messages import Message, message, plural
from metaeval.resampling import (
    ALTERNATIVES,
    Rng,
    block_counts,
    blocks,
    percentile_interval,
    random_bits,
    resampled_pvalue,
    resolve_seed,
    stream,
)
from metaeval.results import (
    IdenticalInputWarning,
    Interval,
    Notes,
    Result,
    StatisticResult,
    TooFewWarning,
)
from metaeval.spans.measures import MPP, Components, SpanMeasure, compare_spans
from metaeval.spans.span_table import SpanTable

AVERAGES = ("micro", "macro")
AVERAGE = {
    "micro": message("method.micro-average", "micro average"),
    "macro": message("method.macro-average", "macro average"),
}
# Fewer units than this give percentile intervals that are too narrow.
FEW = 20
SLACK = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Detection(Result):
    """Precision, recall and F1 with percentile intervals; ``n`` counts items.

    ``n_units`` counts the resampled units: documents, or segments (the given units), as ``unit``
    says.
    """

    precision: float
    recall: float
    f1: float
    averaging: str
    method: Message | str
    unit: str
    n_units: int
    precision_interval: Interval | None = None
    recall_interval: Interval | None = None
    f1_interval: Interval | None = None
    n_resamples: int | None = None
    seed: int | None = None


def scores_of(sums: FloatArray) -> FloatArray:
    """Return precision, recall and F1, (…, 3), of summed components, (…, 4).

    Without predicted spans precision is 1, without gold spans recall is 1, and F1 is 0 if both are
    0 (WMT25). So two empty sides agree perfectly, and macro averages reward marking nothing.
    """
    precision = _ratio(sums[..., 0], sums[..., 1])
    recall = _ratio(sums[..., 2], sums[..., 3])
    both = precision + recall
    f1 = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    return np.stack([precision, recall, f1], axis=-1)


def detect(
    components: Components | FloatArray,
    *,
    averaging: str = "micro",
    units: ArrayLike | None = None,
    documents: Iterable[Hashable] | None = None,
    n_resamples: int = 0,
    confidence: float = 0.95,
    rng: Rng = None,
    method: str = "",
) -> Detection:
    """Return precision, recall and F1 over all items, with bootstrap intervals on request.

    Parameters
    ----------
    components
        Of `compare_spans`, or its values (n_items, 4).
    averaging
        ``micro``: one ratio of sums; ``macro``: the mean over items, in which a detector that
        never marks anything scores the share of clean items.
    units
        (n_items,) the segment of each item; items of a segment are drawn together. Default: items.
    documents
        (n_items,) the document of each item. If one has several units, documents are drawn, and
        the intervals are expanded for their number (`metaeval.resampling.expanded_tail`).

    Warns
    -----
    TooFewWarning
        No item, or few units for an interval; below six documents there is none.
    """
    one_of("averaging", averaging, AVERAGES)
    notes = Notes()
    if isinstance(components, Components):
        notes.absorb(components)
        for reason, count in components.reasons.items():
            notes.exclude(reason, count)
        components = components.values
    of = _documents(documents, units, len(components))
    columns, n_units = _by_unit(_additive(components, averaging), units if of is None else of)
    if not len(components):
        notes.warn(
            TooFewWarning(
                message("spans.no-items", "There are no outputs whose spans can be compared.")
            )
        )
    found = _averaged(columns.sum(axis=0), averaging)
    fields: dict[str, Any] = {}
    if n_resamples and (of is None or has_enough_documents(of, notes)):
        seed, expanded = resolve_seed(rng), None if of is None else effective_units(of)
        samples = _resampled(columns, averaging, positive_int("n_resamples", n_resamples), seed)
        if of is None and n_units < FEW:
            notes.warn(
                TooFewWarning(
                    plural(
                        "spans.few-segments",
                        "There is only {n} segment. Intervals from fewer than {few} segments are "
                        "too narrow.",
                        "There are only {n} segments. Intervals from fewer than {few} segments are "
                        "too narrow.",
                        n=n_units,
                        few=FEW,
                    )
                )
            )
        ends = [
            percentile_interval(column, confidence=confidence, expanded=expanded)
            for column in samples.T
        ]
        names = ("precision_interval", "recall_interval", "f1_interval")
        fields = dict(zip(names, ends, strict=True))
        fields |= {"n_resamples": n_resamples, "seed": seed}
    precision, recall, f1 = (float(value) for value in found)
    return Detection(
        n=len(components), unit=SEGMENTS if of is None else DOCUMENTS, n_units=n_units,
        precision=precision, recall=recall, f1=f1,
        averaging=averaging, method=method or AVERAGE[averaging], **fields, **notes.fields,
    )  # fmt: skip


def compare_detectors(
    first: Components | FloatArray,
    second: Components | FloatArray,
    *,
    averaging: str = "micro",
    units: ArrayLike | None = None,
    documents: Iterable[Hashable] | None = None,
    alternative: str = "two-sided",
    n_resamples: int = 1000,
    rng: Rng = None,
) -> StatisticResult:
    """Permutation test of the difference in F1 of two detectors against the same gold.

    All items of a unit (document, or segment; default: item) exchange their spans at once, as for
    `detect`;
    p = (#{difference* reaches difference} + 1) / (n_resamples + 1).

    Warns
    -----
    IdenticalInputWarning
        Both mark the same; p is 1.
    """
    one_of("averaging", averaging, AVERAGES)
    one_of("alternative", alternative, ALTERNATIVES)
    positive_int("n_resamples", n_resamples)
    notes, seed = Notes(), resolve_seed(rng)
    values = [each.values if isinstance(each, Components) else each for each in (first, second)]
    of_shape("second", values[1], values[0].shape)
    of = _documents(documents, units, len(values[0]))
    if of is not None:
        has_enough_documents(of, notes)
    drawn = units if of is None else of
    (one, n_units), (two, _) = (_by_unit(_additive(each, averaging), drawn) for each in values)
    observed = _difference(one.sum(axis=0), two.sum(axis=0), averaging)
    null = np.empty(n_resamples)
    change = two - one
    for number, start, stop in blocks(n_resamples):
        moved = random_bits(stream(seed, number), stop - start, n_units).astype(float) @ change
        null[start:stop] = _difference(one.sum(axis=0) + moved, two.sum(axis=0) - moved, averaging)
    if np.array_equal(values[0], values[1]):
        notes.warn(
            IdenticalInputWarning(
                message("spans.identical", "Both detectors have the same scores on every output.")
            )
        )
    return StatisticResult(
        n=len(values[0]), **notes.fields, statistic=float(observed),
        method=_permutation(averaging, n_units, has_documents=of is not None),
        pvalue=float(resampled_pvalue(null, observed, alternative, SLACK)),
        alternative=alternative, n_resamples=n_resamples, seed=seed,
    )  # fmt: skip


def _permutation(averaging: str, n_units: int, *, has_documents: bool) -> Message:
    if has_documents:
        return message(
            "method.permutation-f1-documents",
            "permutation of F1 ({averaging}) over {documents} documents",
            averaging=AVERAGE[averaging],
            documents=n_units,
        )
    return message(
        "method.permutation-f1-units",
        "permutation of F1 ({averaging}) over {units} units",
        averaging=AVERAGE[averaging],
        units=n_units,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Ceiling(Result):
    """Human ceiling: how well annotators find each other's spans, averaged over ordered pairs.

    ``pairs`` are (detector, gold, items of both, F1); ``lowest`` and ``highest`` their range.
    ``n`` counts the pairs.
    """

    precision: float
    recall: float
    f1: float
    lowest: float
    highest: float
    pairs: tuple[tuple[str, str, int, float], ...]


def ceiling(
    annotators: Mapping[str, tuple[ArrayLike, SpanTable]],
    measure: SpanMeasure = MPP,
    *,
    averaging: str = "micro",
    fewest: int = 1,
) -> Ceiling:
    """Score each annotator against each other one on the items of both, and average.

    ``annotators`` gives, by name, the distinct items that one judged and the spans in them: row k
    of the table's items is ``items[k]``. Pairs with fewer than ``fewest`` common items are excluded
    and counted. Warns TooFewWarning if no pair remains; all numbers are nan then.
    """
    notes, rows, found = Notes(), [], []
    sets = {name: (np.asarray(items), table) for name, (items, table) in annotators.items()}
    for first, (own, predicted) in sets.items():
        for second, (other, gold) in sets.items():
            if first == second:
                continue
            shared, at_own, at_other = np.intersect1d(own, other, return_indices=True)
            if len(shared) < max(fewest, 1):
                notes.exclude("too-few-common-items", 1)
                continue
            compared = compare_spans(gold.taken(at_other), predicted.taken(at_own), measure)
            result = detect(compared.values, averaging=averaging)
            rows.append((first, second, len(shared), result.f1))
            found.append((result.precision, result.recall, result.f1))
    if not rows:
        notes.warn(
            TooFewWarning(
                message(
                    "spans.no-human-ceiling",
                    "No two annotators marked the same outputs, so there is no human ceiling.",
                )
            )
        )
    mean = np.mean(found, axis=0) if found else np.full(3, np.nan)
    f1s = [row[3] for row in rows] or [float("nan")]
    return Ceiling(
        n=len(rows), precision=float(mean[0]), recall=float(mean[1]), f1=float(mean[2]),
        lowest=min(f1s), highest=max(f1s), pairs=tuple(rows), **notes.fields,
    )  # fmt: skip


def nothing(gold: SpanTable) -> SpanTable:
    """Return the spans of a detector that marks nothing, a baseline for macro averages."""
    return gold.where(np.zeros(len(gold), dtype=np.bool_))


def everything(lengths: Sequence[int], severity: str = "major") -> SpanTable:
    """Return the spans of a detector that marks every text, of these lengths, as one error."""
    n = len(lengths)
    return SpanTable.of(n, np.arange(n), np.zeros(n, dtype=np.int64), lengths, [severity] * n)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.ones_like(whole, dtype=np.float64), where=whole > 0)


def _additive(values: FloatArray, averaging: str) -> FloatArray:
    """Return values that can be summed over items: components, or scores and a count of one."""
    if averaging == "micro":
        return values
    return np.column_stack([scores_of(values), np.ones(len(values))])


def _averaged(sums: FloatArray, averaging: str) -> FloatArray:
    if averaging == "micro":
        return scores_of(sums)
    count = sums[..., 3:]
    empty = np.full_like(sums[..., :3], np.nan)
    return np.divide(sums[..., :3], count, out=empty, where=count > 0)


def _difference(first: FloatArray, second: FloatArray, averaging: str) -> FloatArray:
    return np.asarray(_averaged(first, averaging)[..., 2] - _averaged(second, averaging)[..., 2])


def _documents(
    documents: Iterable[Hashable] | None, units: ArrayLike | None, n_items: int
) -> IntArray | None:
    """Return the document of each item, (n_items,); None if each unit is a document."""
    if documents is None:
        return None
    of = clusters_from(documents, n_items)
    n_units = n_items if units is None else len(np.unique(np.asarray(units)))
    return of if len(sizes_of(of)) < n_units else None


def _by_unit(columns: FloatArray, units: ArrayLike | None) -> tuple[FloatArray, int]:
    if units is None:
        return columns, len(columns)
    names, place = np.unique(np.asarray(units), return_inverse=True)
    one_length(units=place, items=columns)
    sums = [np.bincount(place, weights=column, minlength=len(names)) for column in columns.T]
    return np.column_stack(sums), len(names)


def _resampled(columns: FloatArray, averaging: str, n_resamples: int, seed: int) -> FloatArray:
    """Return (n_resamples, 3)."""
    samples = np.empty((n_resamples, 3))
    if not len(columns):
        return np.full((n_resamples, 3), np.nan)
    for number, start, stop in blocks(n_resamples):
        counts = block_counts(seed, (number,), stop - start, len(columns))
        samples[start:stop] = _averaged(counts @ columns, averaging)
    return samples
