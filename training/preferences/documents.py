"""Documents of stored preferences: of one test set, and over all test sets."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotation.access import readable
from annotation.models import TestSet
from dashboards.documents.reasons import Number
from metaeval.messages import Message
from metaeval.systems import pool_preferences, preference
from training.models import PreferenceFile, PreferenceResult
from training.perturbations.rules import EDITION, RULES
from training.preferences.altering import CONDITIONS, LABELS, coverage_warning

COLUMNS = (
    *("condition", "condition_label", "metric", "measure", "label", "n", "left_out", "coverage"),
    *("w2w", "low", "high", "mean", "median", "ties"),
    *("seed", "rules", "file", "sha256", "job", "signature"),
)
ACROSS_COLUMNS = (
    *("condition", "measure", "label", "metric", "direction", "n"),
    *("w2w", "low", "high", "mean", "ties", "rules", "test_sets"),
)


@dataclass(frozen=True, kw_only=True)
class Preferred:
    """W2W of one measure under a condition with its interval, over `n` segments.

    `rules` is the version of the rules that altered the texts, None if the condition uses none.
    """

    condition: str
    metric: str
    measure: str
    label: str
    n: int
    w2w: Number
    low: Number
    high: Number
    mean: Number
    ties: Number
    rules: int | None


@dataclass(frozen=True, kw_only=True)
class Row(Preferred):
    """The same on one test set, with the `histogram` of its d: empty without any.

    `file` is the file of the condition, empty without one. `coverage` is the mean share of source
    words in the dictionary, None without one. If it is too low, nothing else is defined.
    """

    condition_label: Message
    left_out: int
    coverage: Number
    median: Number
    seed: int
    file: str
    sha256: str
    job: int
    signature: str
    histogram: Mapping[str, Sequence[float]]


@dataclass(frozen=True, kw_only=True)
class RowInFull(Row):
    """The same with d of every segment, None for an excluded one."""

    differences: Sequence[Number]


@dataclass(frozen=True)
class Condition:
    """A condition that has rows."""

    key: str
    label: Message
    n_rows: int


@dataclass(frozen=True, kw_only=True)
class OfTestSet:
    """The newest result of every measure under every condition, in the order of W2W."""

    name: str
    title: str
    direction: str
    n_segments: int
    rules: int
    conditions: Sequence[Condition]
    rows: Sequence[Row]
    warnings: Sequence[Message]


@dataclass(frozen=True, kw_only=True)
class InFull(OfTestSet):
    """The same with the keys of segments, and d of every segment."""

    segments: Sequence[str]
    rows: Sequence[RowInFull]


@dataclass(frozen=True, kw_only=True)
class OfPair(Preferred):
    """One measure on all test sets of a language pair; `test_sets` are separated by spaces."""

    direction: str
    test_sets: str


@dataclass(frozen=True, kw_only=True)
class Across:
    """W2W of every measure by language pair."""

    condition: str
    condition_label: Message
    rules: int
    directions: Sequence[str]
    rows: Sequence[OfPair]


def of_test_set(test_set: TestSet) -> OfTestSet:
    """Return the document; rows are sorted by condition, then by W2W."""
    results = _newest(test_set)
    files = PreferenceFile.objects.filter(job__in={result.job_id for result in results})
    known = {(file.job_id, file.condition): file for file in files.defer("packed")}
    found = [_row(result, known.get((result.job_id, result.condition))) for result in results]
    rows = sorted(_with_distinct_labels(found), key=_order)
    present = Counter(row.condition for row in rows)
    warnings = (coverage_warning(row.coverage) for row in rows)
    return OfTestSet(
        name=test_set.slug,
        title=test_set.name,
        direction=test_set.direction,
        n_segments=test_set.segments.count(),
        rules=EDITION,
        conditions=[
            Condition(name, LABELS[name], present[name]) for name in CONDITIONS if present[name]
        ],
        rows=rows,
        warnings=[each for each in dict.fromkeys(warnings) if each],
    )


def _order(row: Row) -> tuple[int, float, str]:
    return CONDITIONS.index(row.condition), 2.0 if row.w2w is None else row.w2w, row.label


def _newest(test_set: TestSet) -> list[PreferenceResult]:
    rows = PreferenceResult.objects.filter(test_set=test_set).select_related("job")
    newest = {(row.condition, row.measure): row for row in rows.order_by("job_id", "pk")}
    return [_defined(row) for row in newest.values()]


def _defined(result: PreferenceResult) -> PreferenceResult:
    """Remove the numbers of a result whose dictionary has too few words."""
    if coverage_warning(result.coverage):
        result.n = 0
        result.statistic = result.low = result.high = None
        result.mean = result.median = result.ties = None
    return result


def _row(result: PreferenceResult, file: PreferenceFile | None) -> Row:
    differences = differences_of(result)
    return Row(
        condition=result.condition,
        condition_label=LABELS[result.condition],
        metric=result.metric,
        measure=result.measure,
        label=result.label,
        n=result.n,
        left_out=len(differences) - result.n,
        coverage=result.coverage,
        w2w=result.statistic,
        low=result.low,
        high=result.high,
        mean=result.mean,
        median=result.median,
        ties=result.ties,
        seed=result.job.options["seed"],
        rules=result.rules if result.condition in RULES else None,
        file=file.name if file else "",
        sha256=file.sha256 if file else "",
        job=result.job_id,
        signature=result.signature,
        histogram=_histogram(differences),
    )


def _with_distinct_labels(rows: Sequence[Row]) -> list[Row]:
    """Add the name of the metric to labels that several measures have."""
    shared = Counter(label for label, _ in {(row.label, row.measure) for row in rows})
    return [
        replace(row, label=f"{row.label} ({row.metric})") if shared[row.label] > 1 else row
        for row in rows
    ]


def differences_of(result: PreferenceResult) -> Any:
    """Return d of every segment of the test set, nan for an excluded or undefined one."""
    differences = np.frombuffer(bytes(result.differences), dtype="<f8")
    return np.full_like(differences, np.nan) if coverage_warning(result.coverage) else differences


def _histogram(differences: Any) -> dict[str, list[float]]:
    known = differences[~np.isnan(differences)]
    if not len(known):
        return {}
    counts, edges = preference(known, np.zeros_like(known)).histogram()
    names = ("lower", "equal", "higher")
    parts = {name: part.tolist() for name, part in zip(names, counts, strict=True)}
    return {"edges": edges.tolist(), **parts}


def in_full(test_set: TestSet, document: OfTestSet) -> InFull:
    """Return the document with d of every segment."""
    known = {(row.condition, row.measure): differences_of(row) for row in _newest(test_set)}
    rows = [
        RowInFull(**vars(row), differences=known[row.condition, row.measure].tolist())
        for row in document.rows
    ]
    segments = list(test_set.segments.order_by("position").values_list("key", flat=True))
    return InFull(**vars(document) | {"rows": rows}, segments=segments)


def across(condition: str, user: Any) -> Across:
    """Return W2W of every measure by language pair, over all test sets that a user may see.

    Uses the newest result of each test set. Segments of several test sets are pooled; those of one
    source are not independent of each other.
    """
    newest: dict[tuple[int, str], PreferenceResult] = {}
    rows = readable(PreferenceResult.objects.filter(condition=condition), user)
    for row in rows.select_related("test_set").order_by("job_id", "pk"):
        newest[row.test_set_id, row.measure] = _defined(row)
    groups: dict[tuple[str, str, str], list[PreferenceResult]] = {}
    for row in newest.values():
        if row.n:
            key = (row.label, row.measure, row.test_set.direction)
            groups.setdefault(key, []).append(row)
    sets = {row.test_set for group in groups.values() if len(group) > 1 for row in group}
    texts = {each.pk: _texts_of(each) for each in sets}
    pooled = [_pooled(groups[key], texts) for key in sorted(groups)]
    return Across(
        condition=condition,
        condition_label=LABELS[condition],
        rules=EDITION,
        directions=sorted({row.direction for row in pooled}),
        rows=pooled,
    )


Texts = tuple[tuple[str, ...], tuple[str, ...]]


def _texts_of(test_set: TestSet) -> Texts:
    """Return sources and documents of the segments of a test set."""
    rows = test_set.segments.order_by("position").values_list("source", "document")
    sources, documents = zip(*rows, strict=True)
    return sources, documents


def _pooled(results: Sequence[PreferenceResult], texts: Mapping[int, Texts]) -> OfPair:
    one = results[0]
    numbers: dict[str, Any] = {"n": one.n, "w2w": one.statistic, "low": one.low, "high": one.high}
    numbers |= {"mean": one.mean, "ties": one.ties}
    if len(results) > 1:
        sides = zip(*(texts[row.test_set_id] for row in results), strict=True)
        found = pool_preferences([differences_of(row) for row in results], *sides)
        low, high = found.interval[:2] if found.interval else (None, None)
        numbers = {"n": found.n, "w2w": found.statistic, "low": low, "high": high}
        numbers |= {"mean": found.mean, "ties": found.ties}
    return OfPair(
        condition=one.condition,
        measure=one.measure,
        label=one.label,
        metric=one.metric,
        direction=one.test_set.direction,
        **numbers,
        rules=min(row.rules for row in results) if one.condition in RULES else None,
        test_sets=" ".join(sorted(row.test_set.slug for row in results)),
    )
