"""Convert marks and ratings of annotation tools to cells of our fields.

An error is an object with `side`, `start`, `end`, `text` (the marked words, where the file repeats
them), `severity` and `category`; `path` is its position in its row.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotation.uploads.formats.base import Content, Import, tables_of
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.columns import renamed
from annotation.uploads.tables.rows import Row, Table
from annotation.uploads.tables.spans import KEYS, NOT_SPANS, span_objects
from metaeval.files.cells import parse_number
from metaeval.files.names import NAMES, column_of, is_called, plain
from metaeval.messages import Message, message

SEVERITY = re.compile(r"(?<![a-z])(neutral|trivial|minor|major|critical)(?![a-z])", re.IGNORECASE)
# What is left of a label once its severity was taken from it.
NO_CATEGORY = frozenset(("", "error", "errors", "severity", "issue"))
# Names of scores, and of what is counted as skipped.
SCORES = ("score", *NAMES["score"], *NAMES["judgment"])
NAMELESS: Mapping[str, Message] = {}
CANCELLED, UNPLACED = " cancelled", " unplaced"
# Columns with the errors of one text each.
SPANS, BY_SIDE = "spans", {"source_errors": "source", "target_errors": "target"}
PART = "error_subcategory"
# Columns with the offsets of all errors of an output, and their severities in the same order; those
# of WMT's test data and submissions are singular.
OFFSETS = ("start_ids", "end_ids", "errors")
OFFSETS_OF_ONE = ("start_id", "end_id", "error")
NO_ERROR = ("", "no-error")
Value = dict[str, Any]


def graded(labels: Iterable[str]) -> Value:
    """Return severity and category of an error by the labels that it has.

    >>> graded(["Minor", "Fluency/Grammar"]), graded(["major error"])
    ({'severity': 'minor', 'category': 'Fluency/Grammar'}, {'severity': 'major'})
    """
    severity, categories = "", []
    for label in labels:
        match = SEVERITY.search(label)
        if match and not severity:
            severity = match[0].lower()
            label = f"{label[: match.start()]} {label[match.end() :]}".strip(" \t-–:;,/|_()[]")
        if plain(label) not in NO_CATEGORY:
            categories.append(label)
    values = {"severity": severity, "category": "/".join(categories)}
    return {name: value for name, value in values.items() if value}


def read_sides(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield tables with one list of spans for each row, of the source and of the output."""
    for table in tables_of(contents):
        counts: Counter[str] = Counter()
        for line, row in table.rows:
            row[SPANS] = []
            for column, side in BY_SIDE.items():
                listed = span_objects(row.pop(column, None))
                if listed is None:
                    to.report.error(NOT_SPANS, Place(table.file, line, column))
                for n, each in enumerate(listed or ()):
                    count_unread(each, (*KEYS, PART), counts)
                    path = "/".join(texts([each.get("category"), each.pop(PART, None)]))
                    value = each | ({"category": path} if path else {})
                    row[SPANS].append({"path": f"{column}[{n}]", **value, "side": side})
        say_skipped(counts, table, to.report)
        columns = [SPANS, *(column for column in table.columns if column not in BY_SIDE)]
        yield in_documents(replace(table, columns=columns), to.report)


def has_offsets(table: Table, *wanted: Sequence[str]) -> bool:
    """Return True for a table with one of these sets of columns, by default any known one."""
    return any({*names} <= {*table.columns} for names in wanted or (OFFSETS, OFFSETS_OF_ONE))


def read_offsets(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield tables with the errors of each row as spans, whose ends are excluded.

    `-1` and `no-error` are those of a row without errors.
    """
    for table in tables_of(contents):
        names = OFFSETS if has_offsets(table, OFFSETS) else OFFSETS_OF_ONE
        for line, row in table.rows:
            starts, ends, severities = (str(row.pop(name, "")).split() for name in names)
            row[SPANS] = []
            if " ".join(severities) in NO_ERROR:
                continue
            if not len(starts) == len(ends) == len(severities):
                refusal = message(
                    "format.offsets-unequal",
                    "The numbers of first offsets, last offsets and severities must be equal.",
                )
                to.report.error(refusal, Place(table.file, line, names[0]))
                continue
            row[SPANS] = [
                {"start": _offset(start), "end": _offset(end), "severity": severity}
                for start, end, severity in zip(starts, ends, severities, strict=True)
            ]
        columns = [SPANS, *(column for column in table.columns if column not in names)]
        yield in_documents(replace(table, columns=columns), to.report)


def _offset(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else text


def in_documents(table: Table, report: Report) -> Table:
    """Return a table whose segments are places in documents, if their numbers begin anew there."""
    names = [column_of(field, table.columns) for field in ("document", "segment", "source")]
    document, segment, source = names
    if not all(names):
        return table
    seen: dict[object, tuple[object, object]] = {}
    for _, row in table.rows:
        own = row.get(document), row.get(source)
        first = seen.setdefault(row.get(segment), own)
        if first[0] != own[0] and first[1] != own[1]:
            text = message(
                "format.numbered-in-documents",
                "Segments are numbered within documents: “{column}” is the place in the document.",
                column=table.titles.get(segment, segment),
            )
            report.note(text, table.head)
            return renamed(table, {segment: "document_place"})
    return table


def texts(value: Any) -> list[str]:
    """Return the texts in a list of texts or of paths of texts, or in a single text.

    >>> texts(["a", ["b", "c"], 1]), texts("a")
    (['a', 'b/c'], ['a'])
    """
    listed = value if isinstance(value, list) else [value]
    paths = ("/".join(texts(each)) if isinstance(each, list) else each for each in listed)
    return [each for each in paths if isinstance(each, str) and each]


def has_place(mark: Value) -> bool:
    """Return True if a mark has offsets, or words that may have one place."""
    return bool(mark.get("text")) or type(mark["start"]) is type(mark["end"]) is int


def is_source(name: str) -> bool:
    """Return True if a field of a tool has the name of a source."""
    return is_called(name, ("source", *NAMES["source"]))


def with_score(table: Table, ratings: Iterable[str], report: Report) -> None:
    """Call the only rating of a table `score`, unless a name says which one that is."""
    names = list(dict.fromkeys(ratings))
    cells = {n: [row[n] for _, row in table.rows if row.get(n) is not None] for n in names}
    numeric = [n for n, own in cells.items() if own and all(map(_is_number, own))]
    if len(numeric) == 1 and not any(is_called(name, SCORES) for name in names):
        for _, row in table.rows:
            if numeric[0] in row:
                row["score"] = row.pop(numeric[0])
        text = message(
            "format.only-rating", "“{name}” is the only rating: it is the score.", name=numeric[0]
        )
        report.note(text, table.head)


def _is_number(value: Any) -> bool:
    return parse_number(value) is not None


def count_unread(values: Mapping[str, Any], read: Collection[str], counts: Counter[str]) -> None:
    """Count keys with content that are not read."""
    for name, cell in values.items():
        if name not in read and cell not in (None, "", 0, False, [], {}):
            counts[name] += len(cell) if isinstance(cell, list) else 1


def made(table: Table, rows: list[tuple[int, Row]], ratings: Iterable[str], to: Import) -> Table:
    """Return a table of other rows, with their columns in the order of first occurrence.

    `ratings` are those that may be scores.
    """
    own = replace(table, rows=rows)
    with_score(own, ratings, to.report)
    columns = list(dict.fromkeys(column for _, row in rows for column in row))
    return replace(own, columns=columns, titles={c: table.titles.get(c, c) for c in columns})


def say_skipped(counts: Counter[str], table: Table, report: Report) -> None:
    """Report what was skipped: marks without offsets, cancelled answers, and what is no answer."""
    report.warn_of(
        counts.pop(CANCELLED, 0),
        "format.cancelled",
        "Skipped {n} annotation that was cancelled.",
        "Skipped {n} annotations that were cancelled.",
        table.head,
    )
    report.warn_of(
        counts.pop(UNPLACED, 0),
        "format.unplaced",
        "Skipped {n} mark without words and numbers of its first and last character.",
        "Skipped {n} marks without words and numbers of their first and last characters.",
        table.head,
    )
    if counts:
        text = message(
            "format.unread", "Not read, because it is no answer: {names}.", names=counted(counts)
        )
        report.note(text, table.head)


def counted(counts: Counter[str], names: Mapping[str, Message] = NAMELESS) -> list[Message]:
    """Return what was counted with its numbers; `names` say what some of it is."""
    return [
        message("format.counted", "{name} ({n})", name=names.get(name, name), n=n)
        for name, n in counts.items()
    ]
