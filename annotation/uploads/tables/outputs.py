"""Tables of outputs: one column per system, or one row per output."""

from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from pathlib import PurePath
from typing import Any

from annotation.uploads.drafts import OutputColumn, Rows, SegmentColumns, SystemDraft
from annotation.uploads.files import LABEL_WITH_RATIO, RatioError, parse_ratio, split_label
from annotation.uploads.problems import Place, Report
from annotation.uploads.reading import Reading
from annotation.uploads.spellings import nfc
from annotation.uploads.tables.cells import TYPE_NAMES, Row, name_of, texts_of
from annotation.uploads.tables.rows import Table
from annotation.uploads.tables.segments import is_long, is_segment_table, row_keys
from annotation.uploads.tables.spooled import Spooled
from metaeval.messages import message

TEST_SET = message("upload.test-set", "the test set")


def read_outputs(reading: Reading, table: Table) -> None:
    """Append the outputs of a table: one column per system, or one row per output."""
    wide = [column for column in table.columns if column.startswith("system:") and column[7:]]
    place = table.head
    if is_long(table) and wide:
        text = message(
            "outputs.long-and-wide",
            "A table with the column “output” has one output per row. Put the columns "
            "“system:NAME” in another file.",
        )
        reading.report.error(text, place)
    elif is_long(table):
        _read_long(reading, table)
    elif wide:
        _read_wide(reading, table, wide)
    elif not is_segment_table(table):
        text = message(
            "outputs.no-columns",
            "The table has no column “source”, “output” or “system:NAME”. Say what its columns "
            "are.",
        )
        reading.report.error(text, place)


def _read_wide(reading: Reading, table: Table, columns: list[str]) -> None:
    reading.expect(len(table.rows) * len(columns), Place(table.file))
    keys = _keys(reading, table)
    if keys is None:
        return
    for column in columns:
        try:
            name, ratio = split_label(column.removeprefix("system:"), reading.ratio)
        except RatioError as error:
            reading.report.error(error.message, table.head._replace(field=column))
            continue
        texts = texts_of(reading, table, column, required=False)
        j = len(reading.draft.systems)
        reading.draft.places["system", j] = table.head._replace(field=column)
        reading.draft.systems.append(SystemDraft(name, ratio))
        reading.draft.read_from(("output", j), Rows.of(table.file, column, keys, table.lines))
        _add_outputs(reading, j, keys, texts, table, column)


def _keys(reading: Reading, table: Table) -> Sequence[str | None] | None:
    """Return the key of every row; None, with the reason reported, if rows have none."""
    segments = reading.draft.segments
    if isinstance(segments, SegmentColumns) and segments.sources is table.column("source"):
        return segments.keys
    if is_segment_table(table) or "segment" in table.columns:
        # Errors of keys were reported with the segments, if the table has segments.
        return row_keys(table, Report() if is_segment_table(table) else reading.report)
    return reading.key_of_lines(len(table.rows), Place(table.file), TEST_SET)


def _add_outputs(
    reading: Reading,
    j: int,
    keys: Sequence[str | None],
    texts: Sequence[str | None],
    table: Table,
    column: str,
) -> None:
    outputs, segments = reading.draft.systems[j].outputs, reading.draft.segments
    if (
        isinstance(texts, Spooled)
        and isinstance(segments, SegmentColumns)
        and segments.keys is keys
    ):
        spooled = OutputColumn(segments, texts)
        reading.draft.systems[j].outputs = spooled  # type: ignore[assignment]  # read alike
        return
    if len(set(keys)) == len(keys) and None not in keys and None not in texts:
        outputs.update(zip(keys, texts, strict=True))  # type: ignore[arg-type]
        return
    for key, text, line in zip(keys, texts, table.lines, strict=True):
        if key is None or text is None:
            continue
        if key in outputs:
            _report_twice(reading, j, key, Place(table.file, line, column))
        else:
            outputs[key] = text


def _report_twice(reading: Reading, j: int, key: str, place: Place) -> None:
    draft = reading.draft
    text = message(
        "output.twice",
        "The output of “{system}” for segment “{segment}” occurs twice, first in {place}.",
        system=draft.systems[j].label,
        segment=key,
        place=draft.place("output", j, key).label,
    )
    reading.report.error(text, place)


def _read_long(reading: Reading, table: Table) -> None:
    if "segment" not in table.columns and not is_segment_table(table):
        missing = message("outputs.no-segments", "The column “segment” is missing.")
        reading.report.error(missing, table.head)
        return
    reading.expect(len(table.rows), Place(table.file))
    keys = row_keys(table, Report() if is_segment_table(table) else reading.report)
    texts = texts_of(reading, table, "output")
    systems = _Systems(reading, table)
    for key, text, (line, row) in zip(keys, texts, table.rows, strict=True):
        j = systems.number(row, line)
        if key is None or text is None or j is None:
            continue
        outputs = reading.draft.systems[j].outputs
        if key in outputs:
            _report_twice(reading, j, key, Place(table.file, line, "output"))
        else:
            outputs[key] = text
            systems.lines[j][key] = line


class _Systems:
    """The systems that rows name; spellings that differ in Unicode normalisation are one."""

    def __init__(self, reading: Reading, table: Table) -> None:
        self.reading, self.table = reading, table
        for system in reading.draft.systems:
            system.outputs = dict(system.outputs)
        self.numbers = {
            (nfc(name), ratio): j
            for j, (name, ratio) in enumerate(s.identity for s in reading.draft.systems)
        }
        self.lines: dict[int, dict[Any, int]] = {}
        self.default = None if "system" in table.columns else PurePath(table.file).stem
        if self.default is not None:
            text = message(
                "outputs.system-of-file",
                "No column names the system, so it was named after the file: “{system}”.",
                system=self.default,
            )
            reading.report.note(text, table.head._replace(field="output"))

    def number(self, row: Row, line: int) -> int | None:
        """Return the number of a row's system in the draft, appending new ones."""
        place = Place(self.table.file, line)
        identity = _system(row, self.default, self.reading.ratio, place, self.reading.report)
        if identity is None:
            return None
        name, ratio = identity
        draft = self.reading.draft
        j = self.numbers.setdefault((nfc(name), ratio), len(draft.systems))
        if j == len(draft.systems):
            draft.places["system", j] = place._replace(field="system")
            draft.systems.append(SystemDraft(name, ratio))
        if j not in self.lines:
            self.lines[j] = {}
            draft.read_from(
                ("output", j), Rows(self.table.file, "output", partial(self.lines.__getitem__, j))
            )
        return j


def _system(
    row: Row, name: str | None, default: Decimal, place: Place, report: Report
) -> tuple[str, Decimal] | None:
    name = name or name_of(row, "system", place._replace(field="system"), report)
    if name is not None and LABEL_WITH_RATIO.search(name):
        text = message(
            "outputs.ratio-in-name",
            "Put the ratio of “{system}” in the column “length_ratio”.",
            system=name,
        )
        report.error(text, place._replace(field="system"))
        return None
    value = row.get("length_ratio", default)
    place = place._replace(field="length_ratio")
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        text = message(
            "outputs.ratio-type",
            "“{column}” is {type}, not a number.",
            column="length_ratio",
            type=TYPE_NAMES[type(value)],
        )
        report.error(text, place)
        return None
    try:
        ratio = value if isinstance(value, Decimal) else parse_ratio(str(value))
    except RatioError as error:
        report.error(error.message, place)
        return None
    return None if name is None else (name, ratio)
