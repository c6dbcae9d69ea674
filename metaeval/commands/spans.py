"""``python -m metaeval spans``: error spans of detectors against those of annotators."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metaeval.arrays import IntArray
from metaeval.commands.bundle import add_common, choose
from metaeval.commands.systems import CommandError
from metaeval.files.text import FormatError, Table
from metaeval.messages import message
from metaeval.spans.detection import (
    AVERAGES,
    Detection,
    ceiling,
    compare_detectors,
    detect,
)
from metaeval.spans.measures import MATCHINGS, MEASURES, SpanMeasure, compare_spans
from metaeval.spans.span_table import SIDES, SpanTable

Row = dict[str, Any]
StrArray = NDArray[np.str_]
CLEAN = ("", "no-error", "none")
# Common outputs that a pair of annotators needs for the human ceiling.
FEWEST = 10


@dataclass
class Marks:
    """The outputs that an annotator or detector marked, and their spans."""

    cells: dict[tuple[str, str], int] = field(default_factory=dict)
    spans: list[tuple[int, int, int, str, str]] = field(default_factory=list)

    def table(self) -> SpanTable:
        """Return the spans, with items in the order of `cells`."""
        columns = zip(*self.spans, strict=True) if self.spans else [()] * 5
        return SpanTable.of(len(self.cells), *columns)


@dataclass(frozen=True, eq=False)
class Units:
    """The segment and the document of each item; a segment without a document is one."""

    segments: StrArray | IntArray
    documents: StrArray | IntArray

    def of(self, items: Any = slice(None)) -> dict[str, Any]:
        """Return the units and documents of items as keyword arguments."""
        return {"units": self.segments[items], "documents": self.documents[items].tolist()}


def spans(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Compare error spans of detectors with gold: precision, recall, F1, intervals, tests."""
    sets, documents = _read(options.path, options)
    people = _people(sets, documents, options)
    measure = SpanMeasure(
        options.measure, options.matching, partial_credit=options.partial_credit,
        severity_penalty=options.severity_penalty, sides=tuple(options.side or SIDES[:1]),
    )  # fmt: skip
    found = {name: _compared(people, marks, measure, documents) for name, marks in sets.items()}
    silent = Marks({cell: n for n, cell in enumerate(documents)})
    found["(nothing)"] = _compared(people, silent, measure, documents)
    rows, first = [], None
    for name, (items, values, units) in found.items():
        result = detect(values, averaging=options.average, **units.of(), rng=options.seed,
                        n_resamples=options.resamples, method=measure.label)  # fmt: skip
        row = {"detector": name, **_row(result)}
        if options.resamples:
            first = first or (name, items, values)
            row |= _against(first, items, values, units, options)
        rows.append(row)
    gold = ", ".join(people)
    document: Row = {"gold": gold, "measure": measure.label, "detectors": rows}
    return document | _ceilings(people, sets, measure, options), rows


def _people(
    sets: dict[str, Marks], documents: dict[tuple[str, str], str], options: argparse.Namespace
) -> dict[str, Marks]:
    """Return the gold sets: one, removed from `sets`, or all of a file."""
    if options.people:
        people, others = _read(options.people, options)
        for cell, document in others.items():
            documents.setdefault(cell, document)
        return people
    if options.gold not in sets:
        raise CommandError(
            message(
                "command.no-gold-set",
                "{path} has no set {gold}, which --gold names. It has: {sets}.",
                path=str(options.path),
                gold=options.gold,
                sets=list(sets),
            )
        )
    return {options.gold: sets.pop(options.gold)}


def _ceilings(
    people: dict[str, Marks], sets: dict[str, Marks], measure: SpanMeasure, options: Any
) -> Row:
    """Return the agreement of gold sets with each other; with one gold set, that of all sets."""
    fewest = FEWEST
    if len(people) == 1:
        people, fewest = _common(people | sets), 1
    if len(people) < 2:
        return {}
    place: dict[tuple[str, str], int] = {}
    marked = {
        name: ([place.setdefault(cell, len(place)) for cell in each.cells], each.table())
        for name, each in people.items()
    }
    found = ceiling(marked, measure, averaging=options.average, fewest=fewest)
    return {"sets against each other": found}


def _compared(
    people: dict[str, Marks], marks: Marks, measure: SpanMeasure,
    documents: dict[tuple[str, str], str],
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Return the marked gold items, their components and their `Units`.

    The items of all gold sets are concatenated: an output that two annotators judged counts twice.
    """
    predicted, parts, units, shift = marks.table(), [], [], 0
    for gold in people.values():
        cells = [cell for cell in gold.cells if cell in marks.cells]
        at_gold = np.array([gold.cells[cell] for cell in cells], dtype=np.int64)
        own = predicted.taken([marks.cells[cell] for cell in cells])
        values = compare_spans(gold.table().taken(at_gold), own, measure).values
        parts.append((at_gold + shift, values))
        units += [(segment, documents[system, segment]) for system, segment in cells]
        shift += len(gold.cells)
    if not units:
        raise CommandError(
            message("command.no-gold-outputs", "A set has no output in common with the gold set.")
        )
    items, components = (np.concatenate(each) for each in zip(*parts, strict=True))
    return items, components, Units(*map(_in_order, zip(*units, strict=True)))


def _in_order(names: Iterable[str]) -> StrArray | IntArray:
    """Return names as an array, of numbers if all are, so that resamples equal those of pages."""
    listed = list(names)
    is_number = all(name.isdecimal() for name in listed)
    return np.array([int(name) for name in listed] if is_number else listed)


def _against(first: Any, items: Any, values: Any, units: Any, options: Any) -> Row:
    """Test against the first detector on the items of both."""
    name, own, theirs = first
    _, at_first, at_here = np.intersect1d(own, items, return_indices=True)
    if name == "(nothing)" or (len(own) == len(items) and values is theirs) or not len(at_here):
        return {"other": "", "p": float("nan")}
    test = compare_detectors(
        theirs[at_first], values[at_here], averaging=options.average, **units.of(at_here),
        n_resamples=options.resamples, rng=options.seed,
    )  # fmt: skip
    return {"other": name, "p": test.pvalue}


def _row(result: Detection) -> Row:
    row: Row = {}
    for name in ("precision", "recall", "f1"):
        row[name] = getattr(result, name)
        if interval := getattr(result, f"{name}_interval"):
            row |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
    return row | {"n": result.n, "unit": result.unit, "n_units": result.n_units}


def _common(sets: dict[str, Marks]) -> dict[str, Marks]:
    """Restrict all sets to the outputs that are in every one."""
    shared = [cell for cell in next(iter(sets.values())).cells
              if all(cell in each.cells for each in sets.values())]  # fmt: skip
    places = {cell: n for n, cell in enumerate(shared)}
    found = {}
    for name, marks in sets.items():
        cells = list(marks.cells)
        own = [(places[cells[item]], *rest) for item, *rest in marks.spans if cells[item] in places]
        found[name] = Marks(dict(places), own)  # type: ignore[arg-type]
    return found if shared else {}


def _read(
    path: str, options: argparse.Namespace
) -> tuple[dict[str, Marks], dict[tuple[str, str], str]]:
    """Read one row per span, or WMT25's lists of starts, ends and severities.

    Both formats have rows for outputs without errors.
    """
    table = Table(
        path,
        ["set|annotator|detector", "system|system_id", "segment|seg|segment_id",
         "start|start_indices", "end|end_indices", "severity|error_types"],
        optional=["side", "document|doc|document_id"],
    )  # fmt: skip
    sets: dict[str, Marks] = {}
    documents: dict[tuple[str, str], str] = {}
    for line, row in table.rows:
        texts = {name: row[column].strip() for name, column in table.columns.items()}
        cell = (texts["system"], texts["segment"])
        documents.setdefault(cell, texts.get("document") or texts["segment"])
        marks = sets.setdefault(table.text(line, row, "set"), Marks())
        item = marks.cells.setdefault(cell, len(marks.cells))
        lists = [texts[name].split() for name in ("start", "end", "severity")]
        if lists[2] == [] or lists[2][0].lower() in CLEAN:
            continue
        if len({len(each) for each in lists}) != 1:
            raise FormatError(
                table.path,
                line,
                message(
                    "spans.unequal-lists",
                    "A row needs as many starts as ends and severities. This row has {starts} "
                    "starts, {ends} ends and {severities} severities.",
                    starts=len(lists[0]),
                    ends=len(lists[1]),
                    severities=len(lists[2]),
                ),
            )
        for start, end, severity in zip(*lists, strict=True):
            marks.spans.append(
                (item, *_ends(table, line, start, end, options), severity, texts.get("side") or
                 "target") if start != "missing" else (item, 0, 0, severity, "missing")
            )  # fmt: skip
    return sets, documents


def _ends(table: Table, line: int, start: str, end: str, options: Any) -> tuple[int, int]:
    if not all(each.isdecimal() and len(each) < 10 for each in (start, end)):
        raise FormatError(
            table.path,
            line,
            message(
                "spans.no-whole-numbers",
                "The fields start and end must be whole numbers, not “{start}” and “{end}”.",
                start=start[:20],
                end=end[:20],
            ),
        )
    found = int(start), int(end) + options.ends_included
    if found[1] < found[0]:
        raise FormatError(
            table.path,
            line,
            message(
                "spans.ends-before-start",
                "The span ends at {end:d}, before it starts at {start:d}.",
                start=found[0],
                end=found[1],
            ),
        )
    return found


def add_spans(commands: Any) -> None:
    """Add the subcommand to a parser."""
    command = commands.add_parser("spans", help=spans.__doc__)
    command.set_defaults(run=spans)
    add = command.add_argument
    add("path", help="TSV: set, system, segment, start, end, severity, optionally side and "
        "document; one row per span, or one with severity no-error for an output without errors",
        )  # fmt: skip
    gold = command.add_mutually_exclusive_group(required=True)
    gold.add_argument("--gold", help="the set with which the others are compared")
    gold.add_argument(
        "--people",
        metavar="FILE",
        help="a table like PATH whose sets are annotators: all their judgments are gold",
    )
    choose(add, "--measure", MEASURES, "MPP", "default: MPP")
    choose(add, "--matching", MATCHINGS, MATCHINGS[0], "default: one_to_one")
    add("--partial-credit", type=float, default=0.5,
        help="credit for characters of another severity; default: 0.5")  # fmt: skip
    add("--severity-penalty", type=float, default=0.0,
        help="penalty for matched spans of different severity; default: 0")  # fmt: skip
    choose(add, "--average", AVERAGES, "micro",
           "default: micro; macro rewards detectors that mark little")  # fmt: skip
    add("--side", action="append", choices=SIDES[:2], help="repeatable; default: target")
    add("--ends-included", action="store_true",
        help="an end is the position of the last character (as in Appraise)")  # fmt: skip
    add("--resamples", type=int, default=0, help="resamples of intervals and tests over documents, "
        "or segments without documents; tests are against the first set; default: none",
        )  # fmt: skip
    add_common(command)
