"""Rows of tables to segments and outputs, and which columns a table may have."""

import difflib
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from annotation.uploads.drafts import SegmentDraft, SystemDraft, TestSetDraft
from annotation.uploads.problems import Place, Report
from annotation.uploads.submissions import LABEL_WITH_RATIO, parse_ratio, split_label
from annotation.uploads.tables import Table

SEGMENT_COLUMNS = ("segment", "document", "source", "reference")
OUTPUT_COLUMNS = ("segment", "system", "length_ratio", "output")
TYPE_NAMES = {bool: "true or false", int: "a number", float: "a number", dict: "an object",
              list: "a list"}  # fmt: skip
Row = dict[str, Any]


@dataclass
class Reading:
    """A draft being filled; `ratio` is the length ratio where the files state none."""

    draft: TestSetDraft
    report: Report
    ratio: Decimal


def is_segment_table(table: Table) -> bool:
    """Whether the table lists segments, not outputs."""
    return "source" in table.columns


def _is_known(column: str) -> bool:
    return (
        column in SEGMENT_COLUMNS + OUTPUT_COLUMNS
        or (column.startswith("reference_") and len(column) > 10)
        or (column.startswith("system:") and len(column) > 7)
    )


def warn_of_columns(table: Table, report: Report) -> None:
    """Refuse columns that are probably misspelt; mention the others that are not used."""
    unused = []
    for column in (column for column in table.columns if not _is_known(column)):
        known = sorted({*SEGMENT_COLUMNS, *OUTPUT_COLUMNS} - set(table.columns))
        close = difflib.get_close_matches(column, known, n=1, cutoff=0.75)
        if column.startswith(("reference", "system:")) or close:
            meant = close[0] if close else "reference_B or system:NAME"
            report.error(
                f"there is no column “{column}”; is “{meant}” meant?", Place(table.file, 1, column)
            )
        else:
            unused.append(column)
    if unused:
        report.warn(f"not used: the columns {', '.join(unused)}", Place(table.file, 1))


def _text(row: Row, column: str, place: Place, report: Report) -> str | None:
    """Return a text cell; None, with the reason reported, where it is absent or no text."""
    value = row.get(column)
    if isinstance(value, str):
        return value.replace("\r\n", "\n")
    problem = f"is {TYPE_NAMES[type(value)]}, not text" if column in row else "is missing"
    report.error(f"“{column}” {problem}", place._replace(field=column))
    return None


def _name(row: Row, column: str, place: Place, report: Report) -> str | None:
    """Return a key, document id or system name; whole numbers are names too."""
    value = row.get(column)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    text = _text(row, column, place, report)
    if text is not None and not text.strip():
        report.error(f"“{column}” is empty", place._replace(field=column))
        return None
    return None if text is None else text.strip()


def read_segments(reading: Reading, table: Table) -> None:
    """Append the table's segments to the draft. Without a `segment` column rows are numbered."""
    draft, places, report = reading.draft, reading.draft.places, reading.report
    if not table.rows:
        report.error("the table has a header but no row", Place(table.file))
    names = {c: c[10:] or "A" for c in table.columns if c.split("_")[0] == "reference"}
    if list(names.values()).count("A") > 1:
        report.error("“reference” and “reference_A” are the same", Place(table.file, 1))
    for number, (line, row) in enumerate(table.rows, 1):
        segment = _segment(table, number, Place(table.file, line), row, report)
        if segment is None:
            continue
        i = len(draft.segments)
        places["key", i] = Place(table.file, line, "segment")
        for kind in ("source", "document"):
            places[kind, i] = Place(table.file, line, kind)
        for column, name in names.items():
            places["reference", i, name] = place = Place(table.file, line, column)
            text = _text(row, column, place, report)
            if text is not None:
                segment.references[name] = text
        draft.segments.append(segment)


def _segment(
    table: Table, number: int, place: Place, row: Row, report: Report
) -> SegmentDraft | None:
    key: str | None = str(number)
    document: str | None = ""
    if "segment" in table.columns:
        key = _name(row, "segment", place, report)
    if "document" in table.columns:
        document = _name(row, "document", place, report)
    source = _text(row, "source", place, report)
    if key is None or source is None:
        return None
    return SegmentDraft(key, source, document or "")


def read_outputs(reading: Reading, table: Table) -> None:
    """Append the outputs of a table: one column per system, or one row per output."""
    wide = [column for column in table.columns if column.startswith("system:") and column[7:]]
    is_long = "output" in table.columns
    place = Place(table.file, 1)
    if is_long and (wide or is_segment_table(table)):
        reading.report.error(
            "a table with the column “output” has one output a row: put “source” and “system:NAME” "
            "columns into another file",
            place,
        )
    elif is_long:
        _read_long(reading, table)
    elif wide:
        _read_wide(reading, table, wide)
    elif not is_segment_table(table):
        reading.report.error(
            "the table has neither a column “source” nor “output” nor “system:NAME”", place
        )


def _read_wide(reading: Reading, table: Table, columns: list[str]) -> None:
    draft, report = reading.draft, reading.report
    for column in columns:
        place = Place(table.file, 1, column)
        try:
            name, ratio = split_label(column.removeprefix("system:"), reading.ratio)
        except ValueError as error:
            report.error(str(error), place)
            continue
        j = len(draft.systems)
        draft.places["system", j] = place
        draft.systems.append(SystemDraft(name, ratio))
        for number, (line, row) in enumerate(table.rows, 1):
            key = _wide_key(table, number, row)
            if column not in row or key is None:
                continue
            text = _text(row, column, Place(table.file, line), report)
            _add_output(reading, j, key, text, Place(table.file, line, column))


def _wide_key(table: Table, number: int, row: Row) -> str | None:
    """The key of a row; a bad one was reported with the segments."""
    if "segment" not in table.columns:
        return str(number)
    key = row.get("segment")
    return str(key).strip() if isinstance(key, str | int) else None


def _read_long(reading: Reading, table: Table) -> None:
    draft, report = reading.draft, reading.report
    missing = [name for name in ("segment", "system") if name not in table.columns]
    for name in missing:
        report.error(f"the column “{name}” is missing", Place(table.file, 1))
    if missing:
        return
    numbers = {system.identity: j for j, system in enumerate(draft.systems)}
    for line, row in table.rows:
        place = Place(table.file, line)
        key = _name(row, "segment", place, report)
        identity = _system(row, reading.ratio, place, report)
        text = _text(row, "output", place, report)
        if key is None or identity is None:
            continue
        if identity not in numbers:
            numbers[identity] = j = len(draft.systems)
            draft.places["system", j] = place._replace(field="system")
            draft.systems.append(SystemDraft(*identity))
        _add_output(reading, numbers[identity], key, text, place._replace(field="output"))


def _system(row: Row, default: Decimal, place: Place, report: Report) -> tuple[str, Decimal] | None:
    name = _name(row, "system", place, report)
    if name is not None and LABEL_WITH_RATIO.search(name):
        report.error(f"put the ratio of “{name}” into the column “length_ratio”",
                     place._replace(field="system"))  # fmt: skip
        return None
    value = row.get("length_ratio", default)
    place = place._replace(field="length_ratio")
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        report.error(f"“length_ratio” is {TYPE_NAMES[type(value)]}, not a number", place)
        return None
    try:
        ratio = parse_ratio(str(value))
    except ValueError as error:
        report.error(str(error), place)
        return None
    return None if name is None else (name, ratio)


def _add_output(reading: Reading, j: int, key: str, text: str | None, place: Place) -> None:
    if text is None:
        return
    draft = reading.draft
    outputs, name = draft.systems[j].outputs, draft.systems[j].label
    if key in outputs:
        reading.report.error(
            f"the output of “{name}” for segment “{key}” is there already "
            f"({draft.place('output', j, key)})",
            place,
        )
        return
    outputs[key] = text
    draft.places["output", j, key] = place
