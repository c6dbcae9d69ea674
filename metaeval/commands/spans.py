"""``python -m metaeval spans``: error spans of detectors against those of people."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from metaeval.commands.bundle import add_common, choose
from metaeval.files.text import FormatError, Table
from metaeval.spans.detection import (
    AVERAGES,
    Detection,
    ceiling,
    compare_detectors,
    detect,
    nothing,
)
from metaeval.spans.measures import MATCHINGS, MEASURES, SpanMeasure, compare_spans
from metaeval.spans.span_table import SIDES, SpanTable

Row = dict[str, Any]
CLEAN = ("", "no-error", "none")


@dataclass
class Marks:
    """What one annotator or detector looked at, and the spans there."""

    cells: dict[tuple[str, str], int] = field(default_factory=dict)
    spans: list[tuple[int, int, int, str, str]] = field(default_factory=list)

    def table(self) -> SpanTable:
        """Its spans, items in the order of `cells`."""
        columns = zip(*self.spans, strict=True) if self.spans else [()] * 5
        return SpanTable.of(len(self.cells), *columns)


def spans(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Compare error spans of detectors with gold: precision, recall, F1, intervals, tests."""
    held, documents = _read(options)
    if options.gold not in held:
        raise ValueError(f"{options.path}: no set {options.gold!r}; there are {', '.join(held)}")
    measure = SpanMeasure(
        options.measure, options.matching, partial_credit=options.partial_credit,
        severity_penalty=options.severity_penalty, sides=tuple(options.side or SIDES[:1]),
    )  # fmt: skip
    gold = held.pop(options.gold)
    found = {name: _compared(gold, marks, measure, documents) for name, marks in held.items()}
    items = np.arange(len(gold.cells))
    empty = compare_spans(gold.table(), nothing(gold.table()), measure).values
    found["(nothing)"] = (items, empty, np.array([documents[cell] for cell in gold.cells]))
    rows, first = [], None
    for name, (items, values, units) in found.items():
        result = detect(values, averaging=options.average, units=units, rng=options.seed,
                        n_resamples=options.resamples, method=measure.label)  # fmt: skip
        row = {"detector": name, **_row(result)}
        if options.resamples:
            first = first or (name, items, values)
            row |= _against(first, items, values, units, options)
        rows.append(row)
    people = {name: (list(range(len(each.cells))), each.table())
              for name, each in _common({options.gold: gold} | held).items()}  # fmt: skip
    document: Row = {"gold": options.gold, "measure": measure.label, "detectors": rows}
    if len(people) > 1:
        document["sets against each other"] = ceiling(people, measure, averaging=options.average)
    return document, rows


def _compared(
    gold: Marks, marks: Marks, measure: SpanMeasure, documents: dict[tuple[str, str], str]
) -> tuple[Any, Any, Any]:
    """Return the items of gold that were looked at, their components and their units."""
    cells = [cell for cell in gold.cells if cell in marks.cells]
    if not cells:
        raise ValueError("a set has no output in common with gold")
    at_gold = np.array([gold.cells[cell] for cell in cells])
    own = marks.table().taken([marks.cells[cell] for cell in cells])
    values = compare_spans(gold.table().taken(at_gold), own, measure).values
    return at_gold, values, np.array([documents[cell] for cell in cells])


def _against(first: Any, items: Any, values: Any, units: Any, options: Any) -> Row:
    """Test against the first detector on the items of both."""
    name, own, theirs = first
    _, at_first, at_here = np.intersect1d(own, items, return_indices=True)
    if name == "(nothing)" or (len(own) == len(items) and values is theirs) or not len(at_here):
        return {"other": "", "p": float("nan")}
    test = compare_detectors(
        theirs[at_first], values[at_here], averaging=options.average, units=units[at_here],
        n_resamples=options.resamples, rng=options.seed,
    )  # fmt: skip
    return {"other": name, "p": test.pvalue}


def _row(result: Detection) -> Row:
    row: Row = {}
    for name in ("precision", "recall", "f1"):
        row[name] = getattr(result, name)
        if interval := getattr(result, f"{name}_interval"):
            row |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
    return row | {"n": result.n, "n_units": result.n_units}


def _common(held: dict[str, Marks]) -> dict[str, Marks]:
    """Restrict all sets to the outputs that every one looked at."""
    shared = [cell for cell in next(iter(held.values())).cells
              if all(cell in each.cells for each in held.values())]  # fmt: skip
    places = {cell: n for n, cell in enumerate(shared)}
    found = {}
    for name, marks in held.items():
        cells = list(marks.cells)
        kept = [
            (places[cells[item]], *rest) for item, *rest in marks.spans if cells[item] in places
        ]
        found[name] = Marks(dict(places), kept)  # type: ignore[arg-type]
    return found if shared else {}


def _read(options: argparse.Namespace) -> tuple[dict[str, Marks], dict[tuple[str, str], str]]:
    """Read a row a span, or WMT25's lists of starts, ends and kinds; both hold clean outputs."""
    table = Table(
        options.path,
        ["set|annotator|detector", "system|system_id", "segment|seg|segment_id",
         "start|start_indices", "end|end_indices", "severity|error_types"],
        optional=["side", "document|doc|document_id"],
    )  # fmt: skip
    held: dict[str, Marks] = {}
    documents: dict[tuple[str, str], str] = {}
    for line, row in table.rows:
        texts = {name: row[column].strip() for name, column in table.columns.items()}
        cell = (texts["system"], texts["segment"])
        documents.setdefault(cell, texts.get("document") or texts["segment"])
        marks = held.setdefault(table.text(line, row, "set"), Marks())
        item = marks.cells.setdefault(cell, len(marks.cells))
        lists = [texts[name].split() for name in ("start", "end", "severity")]
        if lists[2] == [] or lists[2][0].lower() in CLEAN:
            continue
        if len({len(each) for each in lists}) != 1:
            raise FormatError(table.path, line, f"starts, ends and kinds of other numbers: {lists}")
        for start, end, severity in zip(*lists, strict=True):
            marks.spans.append(
                (item, *_ends(table, line, start, end, options), severity, texts.get("side") or
                 "target") if start != "missing" else (item, 0, 0, severity, "missing")
            )  # fmt: skip
    return held, documents


def _ends(table: Table, line: int, start: str, end: str, options: Any) -> tuple[int, int]:
    if not (start.isdecimal() and end.isdecimal()):
        raise FormatError(table.path, line, f"field start or end: not whole: {start!r}, {end!r}")
    found = int(start), int(end) + options.ends_included
    if found[1] < found[0]:
        raise FormatError(
            table.path, line, f"the span [{found[0]}, {found[1]}) ends before it starts"
        )
    return found


def add_spans(commands: Any) -> None:
    """Add the subcommand to a parser."""
    command = commands.add_parser("spans", help=spans.__doc__)
    command.set_defaults(run=spans)
    add = command.add_argument
    add("path", help="TSV: set, system, segment, start, end, severity, perhaps side and document; "
        "a row a span, one with severity no-error for a clean output")  # fmt: skip
    add("--gold", required=True, help="the set that the others are compared with")
    choose(add, "--measure", MEASURES, "MPP", "default: MPP")
    choose(add, "--matching", MATCHINGS, MATCHINGS[0], "default: one_to_one")
    add("--partial-credit", type=float, default=0.5, help="of characters of another severity")
    add("--severity-penalty", type=float, default=0.0, help="of matched spans; default: 0")
    choose(add, "--average", AVERAGES, "micro", "default: micro; macro rewards silence")
    add("--side", action="append", choices=SIDES[:2], help="repeat; default: target")
    add("--ends-included", action="store_true", help="an end names the last character (Appraise)")
    add("--resamples", type=int, default=0, help="of intervals and tests over documents "
        "(without them segments); tests are against the first set; default: none")  # fmt: skip
    add_common(command)
