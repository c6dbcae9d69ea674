"""What a job found, as pages show it: facts, tables and curves, whatever its kind."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from metrics.runs.starting import PATIENCE_SECONDS
from metrics.workers.idle import Idle, explain
from training.contract import KINDS
from training.models import TrainingJob

WIDTH, HEIGHT = 320.0, 120.0
# How the interval of a gain was computed, under the words that `flatten` gives it.
INTERVAL = "held out interval"
# What stands on the horizontal axis of a curve, in this order of preference.
ACROSS = ("step", "pairs")
# An estimate with the ends of its 95 % interval, where it has one.
ESTIMATE = {"value", "low", "high"}
WORDS = {
    "pearson": "Pearson’s r",
    "kendall": "Kendall’s τ-b",
    "unsupervised": "F1 alone, unsupervised",
    "source_length": "length of the source alone",
}
ORDER = ("pearson", "kendall", "head", "unsupervised", "sentinel", "source_length", "gain")
Rows = list[dict[str, Any]]
Point = tuple[float, float]


@dataclass(frozen=True)
class Chart:
    """One series over steps or pairs; `points` are those of an SVG polyline, a line a stretch."""

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
    """Rows of one document as a table of texts; the first cell may say what a row is."""

    title: str
    columns: list[str]
    rows: list[list[Any]]
    has_heads: bool = False


@dataclass(frozen=True)
class Shown:
    """A document of a job: single values, tables and charts."""

    facts: list[tuple[str, Any]]
    tables: list[Table]
    charts: list[Chart]


def show(document: Mapping[str, Any]) -> Shown:
    """Take a document of plain JSON values apart."""
    facts: list[tuple[str, Any]] = []
    estimated = {key: value for key, value in document.items() if are_estimates(value)}
    tables = [_estimates(key.replace("_", " "), value) for key, value in estimated.items()]
    charts: list[Chart] = []
    rest = {key: value for key, value in document.items() if key not in estimated}
    for name, value in flatten(rest):
        if is_table(value):
            tables.append(_table(name, value))
            charts += draw(name, value)
        else:
            facts.append((name, _plain(value)))
    return Shown(facts, tables, charts)


def findings(job: TrainingJob) -> dict[str, Any]:
    """Return what a job found, what was measured on held-out texts first.

    Its recipe is left out: the settings stand beside it. Databases keep no order in JSON.
    """
    found = {key: value for key, value in job.result.items() if key != "recipe"}
    return {key: found[key] for key in sorted(found, key=lambda key: key != "held_out")}


def flatten(document: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """Return every value that is no mapping, with the words that lead to it."""
    found = []
    for key, value in document.items():
        name = f"{before} {key}".strip().replace("_", " ")
        if isinstance(value, Mapping):
            found += flatten(value, name)
        else:
            found.append((name, value))
    return found


def is_table(value: Any) -> bool:
    """Whether a value is a list of rows."""
    return (
        bool(value) and isinstance(value, list) and all(isinstance(row, Mapping) for row in value)
    )


def are_estimates(value: Any) -> bool:
    """Whether a value holds estimates by what is estimated and of what."""
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


def _estimates(title: str, found: Mapping[str, Mapping[str, Any]]) -> Table:
    columns = _ordered(column for row in found.values() for column in row)
    rows = [
        [WORDS.get(name, name), *(_estimate(found[name].get(column, {})) for column in columns)]
        for name in _ordered(found)
    ]
    heads = ["measure", *(WORDS.get(column, column.replace("_", " ")) for column in columns)]
    return Table(f"{title}, with 95 % intervals", heads, rows, has_heads=True)


def _ordered(names: Iterable[str]) -> list[str]:
    """Put known names first, in their order: PostgreSQL sorts the keys of a document."""
    distinct = list(dict.fromkeys(names))
    return sorted(distinct, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


def _estimate(cell: Mapping[str, Any]) -> str | None:
    if not is_number(cell.get("value")):
        return None
    value, low, high = (cell.get(key) for key in ("value", "low", "high"))
    ends = f" ({low:.3f} to {high:.3f})" if is_number(low) and is_number(high) else ""
    return f"{value:.3f}{ends}"


def _plain(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    are_sentences = all(isinstance(each, str) and each.endswith(".") for each in value)
    return (" " if are_sentences else ", ").join(map(str, value))


def _table(title: str, rows: Rows) -> Table:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    columns.sort(key=lambda column: column not in ACROSS)  # PostgreSQL sorts the keys of a row
    cells = [[row.get(column) for column in columns] for row in rows]
    return Table(title, [column.replace("_", " ") for column in columns], cells)


def draw(title: str, rows: Rows) -> list[Chart]:
    """Draw every numeric column over the steps or the numbers of pairs; none without those."""
    across = next((key for key in ACROSS if all(is_number(row.get(key)) for row in rows)), None)
    if across is None or len(rows) < 2:
        return []
    columns = dict.fromkeys(key for row in rows for key in row if key not in ACROSS)
    charts = [_chart(column, across, rows) for column in columns]
    return [chart for chart in charts if chart]


def is_number(value: Any) -> bool:
    """Whether a value is a finite number."""
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


def settings_of(job: TrainingJob) -> list[tuple[str, Any]]:
    """The settings by the labels and in the order of the form."""
    known = KINDS[job.kind].options if job.kind in KINDS else ()
    labels = {option.name: option.label for option in known}
    return [(labels.get(name, name), value) for name, value in job.settings.items()]


def idle(jobs: Iterable[TrainingJob]) -> list[Idle]:
    """Say of each queue in which jobs among these wait for long why no worker takes them."""
    now = timezone.now()
    waiting = [
        job
        for job in jobs
        if job.status == TrainingJob.Status.QUEUED
        and not job.is_here
        and (now - max(job.created_at, job.not_before)).total_seconds() > PATIENCE_SECONDS
    ]
    return explain(
        {queue: [job.lacks for job in waiting if job.queue == queue]
         for queue in {job.queue for job in waiting}}
    )  # fmt: skip
