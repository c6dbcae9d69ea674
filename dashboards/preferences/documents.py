"""Stored preferences as documents: of one test set, and over all of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from annotation.models import TestSet
from metaeval.judgments.controls import pass_rate
from metaeval.systems import preference
from training.models import PreferenceFile, PreferenceResult
from training.perturbations.rules import EDITION, RULES
from training.preferences.altering import CONDITIONS, LABELS

Document = dict[str, Any]
COLUMNS = (
    *("condition", "condition_label", "metric", "measure", "label", "n", "left_out"),
    *("w2w", "low", "high", "mean", "median", "ties"),
    *("seed", "rules", "file", "sha256", "job", "signature"),
)
ACROSS_COLUMNS = (
    *("condition", "measure", "label", "metric", "direction", "n"),
    *("w2w", "low", "high", "mean", "ties", "rules", "test_sets"),
)


def of_test_set(test_set: TestSet) -> Document:
    """Return the newest result of every measure under every condition.

    ``rows`` are in the order of the conditions and then of the measures' W2W; each has the
    histogram of its d. ``conditions`` are those that have rows.
    """
    found = [_row(result) for result in _newest(test_set)]
    _name_files(found)
    _tell_apart(found)
    found.sort(key=lambda row: (CONDITIONS.index(row["condition"]), _rank(row), row["label"]))
    present = {row["condition"] for row in found}
    return {
        "name": test_set.slug,
        "title": test_set.name,
        "direction": test_set.direction,
        "n_segments": test_set.segments.count(),
        "rules": EDITION,
        "conditions": [
            {"key": name, "label": LABELS[name], "n_rows": _count(found, name)}
            for name in CONDITIONS
            if name in present
        ],
        "rows": found,
    }


def _newest(test_set: TestSet) -> list[PreferenceResult]:
    rows = PreferenceResult.objects.filter(test_set=test_set).select_related("job")
    newest = {(row.condition, row.measure): row for row in rows.order_by("job_id", "pk")}
    return list(newest.values())


def _row(result: PreferenceResult) -> dict[str, Any]:
    differences = differences_of(result)
    return {
        "condition": result.condition,
        "condition_label": LABELS[result.condition],
        "metric": result.metric,
        "measure": result.measure,
        "label": result.label,
        "n": result.n,
        "left_out": len(differences) - result.n,
        "w2w": result.statistic,
        "low": result.low,
        "high": result.high,
        "mean": result.mean,
        "median": result.median,
        "ties": result.ties,
        "seed": result.job.options["seed"],
        "rules": result.rules if result.condition in RULES else None,
        "file": "",
        "sha256": "",
        "job": result.job_id,
        "signature": result.signature,
        "histogram": _histogram(differences),
    }


def _name_files(rows: Iterable[dict[str, Any]]) -> None:
    """Say which file each row's condition read; a condition by another rule has none."""
    listed = list(rows)
    files = PreferenceFile.objects.filter(job__in={row["job"] for row in listed})
    known = {(file.job_id, file.condition): file for file in files.defer("packed")}
    for row in listed:
        if file := known.get((row["job"], row["condition"])):
            row |= {"file": file.name, "sha256": file.sha256}


def _tell_apart(rows: Sequence[dict[str, Any]]) -> None:
    """Add the metric's name to labels that several measures have."""
    of = {(row["label"], row["measure"]) for row in rows}
    shared = Counter(label for label, _ in of)
    for row in rows:
        if shared[row["label"]] > 1:
            row["label"] = f"{row['label']} ({row['metric']})"


def differences_of(result: PreferenceResult) -> Any:
    """Return d of every segment of the test set, nan where one was left out."""
    return np.frombuffer(bytes(result.differences), dtype="<f8")


def _histogram(differences: Any) -> dict[str, list[float]]:
    known = differences[~np.isnan(differences)]
    if not len(known):
        return {}
    counts, edges = preference(known, np.zeros_like(known)).histogram()
    names = ("lower", "equal", "higher")
    parts = {name: part.tolist() for name, part in zip(names, counts, strict=True)}
    return {"edges": edges.tolist(), **parts}


def _rank(row: dict[str, Any]) -> float:
    return 2.0 if row["w2w"] is None else float(row["w2w"])


def _count(rows: Sequence[dict[str, Any]], condition: str) -> int:
    return sum(row["condition"] == condition for row in rows)


def with_differences(test_set: TestSet, document: Document) -> Document:
    """Return the document with d of every segment, and the segments' keys."""
    known = {(row.condition, row.measure): differences_of(row) for row in _newest(test_set)}
    rows = [
        row | {"differences": _listed(known[row["condition"], row["measure"]])}
        for row in document["rows"]
    ]
    segments = list(test_set.segments.order_by("position").values_list("key", flat=True))
    return document | {"segments": segments, "rows": rows}


def _listed(values: Any) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def across(condition: str) -> Document:
    """Return W2W of every measure by language pair, over all test sets of the pair.

    The newest result of each test set counts; segments of several test sets are pooled.
    """
    newest: dict[tuple[int, str], PreferenceResult] = {}
    rows = PreferenceResult.objects.filter(condition=condition).select_related("test_set")
    for row in rows.order_by("job_id", "pk").defer("differences"):
        newest[row.test_set_id, row.measure] = row
    groups: dict[tuple[str, str, str], list[PreferenceResult]] = {}
    for row in newest.values():
        if row.n:
            key = (row.label, row.measure, row.test_set.direction)
            groups.setdefault(key, []).append(row)
    pooled = [_pooled(groups[key]) for key in sorted(groups)]
    return {
        "condition": condition,
        "condition_label": LABELS[condition],
        "rules": EDITION,
        "directions": sorted({row["direction"] for row in pooled}),
        "rows": pooled,
    }


def _pooled(results: Sequence[PreferenceResult]) -> dict[str, Any]:
    one, n = results[0], sum(row.n for row in results)
    rate = pass_rate(sum(round((row.statistic or 0.0) * row.n) for row in results), n)
    return {
        "condition": one.condition,
        "measure": one.measure,
        "label": one.label,
        "metric": one.metric,
        "direction": one.test_set.direction,
        "n": n,
        "w2w": rate.statistic,
        "low": rate.interval.low if rate.interval else None,
        "high": rate.interval.high if rate.interval else None,
        "mean": sum((row.mean or 0.0) * row.n for row in results) / n,
        "ties": sum((row.ties or 0.0) * row.n for row in results) / n,
        "rules": min(row.rules for row in results) if one.condition in RULES else None,
        "test_sets": " ".join(sorted(row.test_set.slug for row in results)),
    }
