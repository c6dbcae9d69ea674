"""Show the result of a job of any kind as facts, tables and curves."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from metaeval.messages import Message, from_json, message
from metrics.runs.starting import PATIENCE_SECONDS
from metrics.workers.idle import Idle, explain
from training.contract import KINDS
from training.models import TrainingJob

WIDTH, HEIGHT = 320.0, 120.0
# The method of the interval of a gain, under the name that `flatten` gives it.
INTERVAL = "held out interval"
# Candidates for the horizontal axis of a curve, in order of preference.
ACROSS = ("step", "pairs")
# An estimate with the ends of its 95% interval, if it has one.
ESTIMATE = {"value", "low", "high"}
WORDS = {
    "held_out": message("estimate.held-out", "held-out texts"),
    "pearson": message("estimate.pearson", "Pearson’s r"),
    "kendall": message("estimate.kendall", "Kendall’s τ-b"),
    "unsupervised": message("estimate.unsupervised", "F1 only, unsupervised"),
    "source_length": message("estimate.source-length", "length of the source only"),
}
ORDER = ("pearson", "kendall", "head", "unsupervised", "sentinel", "source_length", "gain")
Rows = list[dict[str, Any]]
Point = tuple[float, float]


@dataclass(frozen=True)
class Chart:
    """One series over steps or pairs; `lines` are the points of SVG polylines."""

    title: str
    across: str
    lines: list[str]
    dots: list[Point]
    lowest: float
    highest: float
    first: float
    last: float


@dataclass(frozen=True)
class Table:
    """Rows of one document as a table; with `has_heads`, the first cell names the row."""

    title: str | Message
    columns: list[str | Message]
    rows: list[list[Any]]
    has_heads: bool = False


@dataclass(frozen=True)
class Shown:
    """A document of a job: single values, tables and charts."""

    facts: list[tuple[str, Any]]
    tables: list[Table]
    charts: list[Chart]


def show(document: Mapping[str, Any]) -> Shown:
    """Split a document of plain JSON values into facts, tables and charts."""
    document = {key: _with_messages(value) for key, value in document.items()}
    facts: list[tuple[str, Any]] = []
    estimated = {key: value for key, value in document.items() if are_estimates(value)}
    tables = [_estimates(_named(key), value) for key, value in estimated.items()]
    charts: list[Chart] = []
    rest = {key: value for key, value in document.items() if key not in estimated}
    for name, value in flatten(rest):
        if is_table(value):
            tables.append(_table(name, value))
            charts += draw(name, value)
        else:
            facts.append((name, value))
    return Shown(facts, tables, charts)


def _with_messages(value: Any) -> Any:
    """Return a JSON value with its messages as such."""
    if isinstance(value, Mapping):
        if {"code", "pattern", "parameters"} <= value.keys():
            return from_json(value)
        return {key: _with_messages(each) for key, each in value.items()}
    return [_with_messages(each) for each in value] if isinstance(value, list) else value


def findings(job: TrainingJob) -> dict[str, Any]:
    """Return the result of a job, measures on held-out texts first.

    Excludes the recipe, which the page shows as settings. Databases do not keep the order of JSON.
    """
    found = {key: _with_messages(value) for key, value in job.result.items() if key != "recipe"}
    return {key: found[key] for key in sorted(found, key=lambda key: key != "held_out")}


def flatten(document: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """Return every value that is not a mapping, with the keys that lead to it as its name."""
    found = []
    for key, value in document.items():
        name = f"{before} {key}".strip().replace("_", " ")
        if isinstance(value, Mapping):
            found += flatten(value, name)
        else:
            found.append((name, value))
    return found


def is_table(value: Any) -> bool:
    """Return True if a value is a list of rows."""
    return (
        bool(value) and isinstance(value, list) and all(isinstance(row, Mapping) for row in value)
    )


def are_estimates(value: Any) -> bool:
    """Return True if a value holds estimates, by measure and by what was measured."""
    rows = list(value.values()) if isinstance(value, Mapping) else []
    cells = [cell for row in rows if isinstance(row, Mapping) for cell in row.values()]
    return (
        bool(cells)
        and all(isinstance(row, Mapping) for row in rows)
        and all(
            isinstance(cell, Mapping) and "value" in cell and cell.keys() <= ESTIMATE
            for cell in cells
        )
    )


def _named(key: str) -> Message | str:
    """Return what pages call a key of a result; the key itself if it has no name."""
    return WORDS.get(key, key.replace("_", " "))


def _estimates(title: Message | str, found: Mapping[str, Mapping[str, Any]]) -> Table:
    columns = _ordered(column for row in found.values() for column in row)
    rows: list[list[Any]] = [
        [WORDS.get(name, name), *(_estimate(found[name].get(column, {})) for column in columns)]
        for name in _ordered(found)
    ]
    heads: list[str | Message] = [message("estimate.measure", "measure")]
    heads += map(_named, columns)
    title_with = message("estimate.title", "{title}, with 95% intervals", title=title)
    return Table(title_with, heads, rows, has_heads=True)


def _ordered(names: Iterable[str]) -> list[str]:
    """Put known names first, in their order: PostgreSQL sorts the keys of a document."""
    distinct = list(dict.fromkeys(names))
    return sorted(distinct, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


def _estimate(cell: Mapping[str, Any]) -> Message | None:
    value, low, high = (cell.get(key) for key in ("value", "low", "high"))
    if not is_number(value):
        return None
    if not is_number(low) or not is_number(high):
        return message("estimate.value", "{value:.3f}", value=value)
    return message(
        "estimate.interval",
        "{value:.3f} ({low:.3f} to {high:.3f})",
        value=value,
        low=low,
        high=high,
    )


def _table(title: str, rows: Rows) -> Table:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    columns.sort(key=lambda column: column not in ACROSS)  # PostgreSQL sorts the keys of a row
    cells = [[row.get(column) for column in columns] for row in rows]
    heads: list[str | Message] = [column.replace("_", " ") for column in columns]
    return Table(title, heads, cells)


def draw(title: str, rows: Rows) -> list[Chart]:
    """Draw every numeric column over steps or numbers of pairs; empty without those."""
    across = next((key for key in ACROSS if all(is_number(row.get(key)) for row in rows)), None)
    if across is None or len(rows) < 2:
        return []
    columns = dict.fromkeys(key for row in rows for key in row if key not in ACROSS)
    charts = [_chart(column, across, rows) for column in columns]
    return [chart for chart in charts if chart]


def is_number(value: Any) -> bool:
    """Return True if a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _chart(column: str, across: str, rows: Rows) -> Chart | None:
    found = [(row[across], row[column]) for row in rows if is_number(row.get(column))]
    xs, ys = [x for x, _ in found], [y for _, y in found]
    if len(set(ys)) < 2:  # nothing to see; the table has it
        return None
    dots = [(_place(x, xs, WIDTH), HEIGHT - _place(y, ys, HEIGHT)) for x, y in found]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
    title = column.replace("_", " ")
    return Chart(title, across, [line], dots, min(ys), max(ys), min(xs), max(xs))


def _place(value: float, among: Sequence[float], size: float) -> float:
    low, high = min(among), max(among)
    return size * (value - low) / (high - low) if high > low else size / 2


def settings_of(job: TrainingJob) -> list[tuple[str | Message, Any]]:
    """Return the settings with the labels and in the order of the form."""
    known = KINDS[job.kind].options if job.kind in KINDS else ()
    labels = {option.name: option.label for option in known}
    return [(labels.get(name, name), value) for name, value in job.settings.items()]


def idle(jobs: Iterable[TrainingJob]) -> list[Idle]:
    """Explain for each queue with jobs that have waited long why no worker takes them."""
    now = timezone.now()
    waiting = [
        job
        for job in jobs
        if job.status == TrainingJob.Status.QUEUED
        and not job.is_here
        and (now - max(job.created_at, job.not_before)).total_seconds() > PATIENCE_SECONDS
    ]
    return explain(
        {queue: [job.lacking for job in waiting if job.queue == queue]
         for queue in {job.queue for job in waiting}}
    )  # fmt: skip
