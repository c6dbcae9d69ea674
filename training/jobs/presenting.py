"""Show the result of a job of any kind: warnings, the verdict, values, tables and curves."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from core.messages import as_json
from metaeval.messages import Message, from_json, message
from metrics.runs.starting import PATIENCE_SECONDS
from metrics.workers.idle import Idle, explain
from training.contract import KINDS
from training.jobs.names import name_of
from training.models import WARNINGS, TrainingJob

WIDTH, HEIGHT = 320.0, 120.0
# An axis spans at least this share of its largest value, so that noise looks like noise.
LEAST_SPAN, TICKS = 0.1, 5
# Candidates for the horizontal axis of a curve, in order of preference.
ACROSS = ("step", "pairs")
# An estimate with the ends of its 95% interval, if it has one.
ESTIMATE = {"value", "low", "high"}
ORDER = ("pearson", "kendall", "head", "unsupervised", "sentinel", "source_length", "gain")
Keys = tuple[str, ...]
Rows = list[dict[str, Any]]
Point = tuple[float, float]


@dataclass(frozen=True)
class Value:
    """A single value, with the keys that lead to it."""

    keys: Keys
    value: Any

    @property
    def code(self) -> str:
        """Return what programs ask for."""
        return ".".join(self.keys)

    @property
    def label(self) -> Message:
        """Return its name."""
        return name_of(self.keys)


@dataclass(frozen=True)
class Chart:
    """One series over steps or pairs: its points, the ends of both axes, first and last value."""

    title: Message
    across: Message
    dots: list[Point]
    bottom: float
    top: float
    left: float
    right: float
    first: float
    last: float

    @property
    def line(self) -> str:
        """Return the points of an SVG polyline."""
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in self.dots)


@dataclass(frozen=True)
class Table:
    """Rows of one document as a table; with `has_heads`, the first cell names the row."""

    title: Message
    columns: list[Message]
    rows: list[list[Any]]
    has_heads: bool = False


@dataclass(frozen=True)
class Shown:
    """A document of a job: single values, tables and charts."""

    facts: list[Value]
    tables: list[Table]
    charts: list[Chart]


def show(document: Mapping[str, Any]) -> Shown:
    """Split a document of plain JSON values into facts, tables and charts."""
    document = {key: _with_messages(value) for key, value in document.items()}
    shown = Shown([], [], [])
    for keys, value in flatten(document):
        if are_estimates(value):
            shown.tables.append(_estimates(keys, value))
        elif is_table(value):
            shown.tables.append(_table(keys, value))
            shown.charts.extend(draw(keys, value))
        else:
            shown.facts.append(Value(keys, value))
    return shown


def _with_messages(value: Any) -> Any:
    """Return a JSON value with its messages as such."""
    if isinstance(value, Mapping):
        if {"code", "pattern", "parameters"} <= value.keys():
            return from_json(value)
        return {key: _with_messages(each) for key, each in value.items()}
    return [_with_messages(each) for each in value] if isinstance(value, list) else value


def findings(job: TrainingJob) -> dict[str, Any]:
    """Return the result of a job, measures on held-out texts first.

    Excludes what the page shows elsewhere: warnings, the recipe, the rows of a figure. Databases
    do not keep the order of JSON.
    """
    left_out = {"recipe", "correlations", WARNINGS}
    found = {k: _with_messages(value) for k, value in job.result.items() if k not in left_out}
    return {key: found[key] for key in sorted(found, key=lambda key: key != "held_out")}


def described(job: TrainingJob) -> dict[str, Any]:
    """Return what programs read of a result: warnings, the verdict, and values with names."""
    verdict, values = job.verdict, show(findings(job)).facts
    return {
        "warnings": [as_json(each) for each in job.warnings],
        "use": verdict.use if verdict else None,
        "summary": [as_json(each) for each in verdict.sentences] if verdict else [],
        "values": [
            {"code": each.code, "label": as_json(each.label), "value": _plain(each.value)}
            for each in values
        ],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return as_json(value) if isinstance(value, Message) else value


def flatten(document: Mapping[str, Any], before: Keys = ()) -> list[tuple[Keys, Any]]:
    """Return all estimates, and all other values that are not mappings, with their keys."""
    found: list[tuple[Keys, Any]] = []
    for key, value in document.items():
        keys = (*before, key)
        if isinstance(value, Mapping) and not are_estimates(value):
            found += flatten(value, keys)
        else:
            found.append((keys, value))
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


def _estimates(keys: Keys, found: Mapping[str, Mapping[str, Any]]) -> Table:
    columns = _ordered(column for row in found.values() for column in row)
    rows: list[list[Any]] = [
        [name_of([name]), *(_estimate(found[name].get(column, {})) for column in columns)]
        for name in _ordered(found)
    ]
    heads = [message("estimate.measure", "measure"), *(name_of([each]) for each in columns)]
    title = message("estimate.title", "{title}, with 95% intervals", title=name_of(keys))
    return Table(title, heads, rows, has_heads=True)


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


def _table(keys: Keys, rows: Rows) -> Table:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    columns.sort(key=lambda column: column not in ACROSS)  # PostgreSQL sorts the keys of a row
    cells = [[row.get(column) for column in columns] for row in rows]
    return Table(name_of(keys), [name_of([column]) for column in columns], cells)


def draw(keys: Keys, rows: Rows) -> list[Chart]:
    """Draw every numeric column over steps or numbers of pairs; empty without those."""
    across = next((key for key in ACROSS if all(is_number(row.get(key)) for row in rows)), None)
    if across is None or len(rows) < 2:
        return []
    columns = dict.fromkeys(key for row in rows for key in row if key not in ACROSS)
    charts = [_chart((*keys[:-1], column), across, rows) for column in columns]
    return [chart for chart in charts if chart]


def is_number(value: Any) -> bool:
    """Return True if a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _chart(keys: Keys, across: str, rows: Rows) -> Chart | None:
    found = [(row[across], row[keys[-1]]) for row in rows if is_number(row.get(keys[-1]))]
    xs, ys = [x for x, _ in found], [y for _, y in found]
    if len(ys) < 2 or (len(set(ys)) == 1 and isinstance(ys[0], int)):  # a count is no curve
        return None
    bottom, top = axis_of(ys)
    left, right = min(xs), max(xs)
    dots = [
        (_place(x, left, right, WIDTH), HEIGHT - _place(y, bottom, top, HEIGHT)) for x, y in found
    ]
    return Chart(name_of(keys), name_of([across]), dots, bottom, top, left, right, ys[0], ys[-1])


def axis_of(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis: round numbers, with the values in its middle."""
    low, high = min(values), max(values)
    span = max(high - low, LEAST_SPAN * max(abs(low), abs(high))) or 1.0
    middle = (low + high) / 2
    power = 10.0 ** math.floor(math.log10(span / TICKS))
    step = next(each * power for each in (1, 2, 5, 10) if each * power * TICKS >= span * 0.999)
    bottom = math.floor(min(low, middle - span / 2) / step + 1e-9) * step
    top = math.ceil(max(high, middle + span / 2) / step - 1e-9) * step
    return (max(0.0, bottom) if low >= 0 else bottom), top


def _place(value: float, low: float, high: float, size: float) -> float:
    return size * (value - low) / (high - low) if high > low else size / 2


def settings_of(job: TrainingJob) -> list[tuple[str | Message, Any]]:
    """Return the settings with the labels and in the order of the form."""
    labels = labels_of(job.kind)
    return [(labels.get(name, name), value) for name, value in job.settings.items()]


def labels_of(kind: str) -> dict[str, str | Message]:
    """Return the labels of settings by their names."""
    return {each.name: each.label for each in KINDS[kind].options} if kind in KINDS else {}


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
