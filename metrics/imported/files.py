"""Files of scores: tables with a score in a row, tables with a column a metric, WMT's score files.

JSON arrays hold the scores of one system, which the file is called as, or of several by name.
WMT's files, ``NAME.seg.score`` and ``NAME.sys.score`` of mt-metrics-eval, have a system and a score
in a line; the segments of a system come in the order of the test set.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from annotation.models import TestSet
from annotation.uploads.files import InputFile, decode, read_bytes
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.columns import propose, renamed
from annotation.uploads.tables.lines import KEY, Listing, UnknownOrderError, n_unknown
from annotation.uploads.tables.numbers import write_points
from annotation.uploads.tables.pairs import keep_pair
from annotation.uploads.tables.rows import Table, is_workbook, parse, table_in
from core.text import join_truncated, pluralize
from metaeval.files.decoding import split_lines
from metrics.imported.arrays import Arrays, TwiceError, read_arrays
from metrics.imported.choices import FIELDS, METRIC, SCORE, SEGMENT, SYSTEM, Choices
from metrics.imported.collecting import Collector, TooManyError
from metrics.imported.columns import columns_of_metrics, say_unused

SEG, SYS = ".seg.score", ".sys.score"


@dataclass
class Reading:
    """What files hold: their columns as titled, what those mean, and their SHA-256.

    `lines` are the choices of what line n is, where that is not clear or was chosen.
    """

    columns: dict[str, str] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    files: list[dict[str, str]] = field(default_factory=list)
    lines: tuple[str, ...] = ()


def read(
    files: Sequence[InputFile], test_set: TestSet, choices: Choices, collector: Collector
) -> Reading:
    """Read all files; what is wrong goes to the collector's report."""
    reading, report = Reading(), collector.report
    tables = []
    lines = _Lines(Listing.stored(test_set.slug), choices.lines, reading, report)
    for file in files:
        data = _data(file, reading, report)
        if data is None:
            continue
        if is_workbook(file.name, data):
            tables += filter(None, [table_in(file.name, data, report)])
            continue
        text = decode(file.name, data, report)
        if text is None:
            continue
        if file.name.endswith(SYS):
            _attempt(_score_file(file.name, text, None, collector))
        elif file.name.endswith(SEG):
            if keys := lines.keys(file.name):
                _attempt(_score_file(file.name, text, keys, collector))
        elif arrays := _read_arrays(file.name, text, choices, report):
            if keys := lines.keys(file.name):
                _attempt(_arrays(file.name, arrays, keys, collector))
        elif table := parse(file.name, text, report):
            tables.append(table)
    for table in tables:
        reading.columns |= {name: table.titles.get(name, name) for name in table.columns}
    chosen = _chosen(choices, reading, report)
    for table in tables:
        _attempt(_table(table, chosen, choices, test_set, collector, reading))
    return reading


@dataclass
class _Lines:
    """The segments of lines without keys; that their order is not known is said once."""

    listing: Listing
    choice: str
    reading: Reading
    report: Report

    def keys(self, file: str) -> list[str | None]:
        """Return the key of every line; nothing, with the reason reported, where it is unknown."""
        if self.listing.is_unclear or self.choice:
            is_first, self.reading.lines = not self.reading.lines, self.listing.choices
            try:
                return self.listing.key_of_lines(self.choice)
            except UnknownOrderError as error:
                if is_first:
                    self.report.error(str(error), Place(file))
                return []
        return self.listing.key_of_lines()


def _read_arrays(name: str, text: str, choices: Choices, report: Report) -> Arrays | None:
    try:
        return read_arrays(name, text, choices.metric)
    except TwiceError as error:
        report.error(f"“{error}” is there twice", Place(name))
        return name, {}  # no table either, of which more would be said


def _attempt(steps: Iterator[None]) -> None:
    try:
        for _ in steps:
            pass
    except TooManyError:
        pass


def _data(file: InputFile, reading: Reading, report: Report) -> bytes | None:
    data = read_bytes(file, report)
    if data is not None:
        reading.files.append({"name": file.name, "sha256": hashlib.sha256(data).hexdigest()})
    return data


def _chosen(choices: Choices, reading: Reading, report: Report) -> dict[str, str]:
    """The person's columns by their plain names; those that no file has are errors."""
    by_title = {title: name for name, title in reading.columns.items()}
    known = {field.name for field in FIELDS} | {""}
    chosen = {}
    for column, meaning in choices.columns.items():
        name = by_title.get(column, column.lower())
        if name not in reading.columns:
            report.error(
                f"no table has a column “{column}”; there are {join_truncated(list(by_title), 20)}"
            )
        elif meaning not in known:
            wanted = ", ".join(field.name for field in FIELDS)
            report.error(f"“{meaning}” is no field; there are {wanted}", Place(field=column))
        else:
            chosen[name] = meaning
    return chosen


def _table(
    table: Table,
    chosen: dict[str, str],
    choices: Choices,
    test_set: TestSet,
    collector: Collector,
    reading: Reading,
) -> Iterator[None]:
    own = {column: meaning for column, meaning in chosen.items() if column in table.columns}
    fields = {c: meaning for c, meaning in propose(table.columns, FIELDS, own).items() if meaning}
    reading.fields |= fields
    titles = table.titles
    free = [column for column in table.columns if column not in fields]
    scored = [column for column, meaning in fields.items() if meaning == SCORE]
    write_points(table, scored or free, collector.report)
    table = renamed(table, fields)
    stem = PurePath(table.file).stem
    is_named = SYSTEM not in table.columns and stem in collector.names.systems
    if is_named:
        # One system a file, which has its name.
        rows_of_one = [(line, row | {SYSTEM: stem}) for line, row in table.rows]
        table = Table(table.file, [*table.columns, SYSTEM], rows_of_one, table.titles)
    if SYSTEM not in table.columns:
        found = join_truncated([titles.get(column, column) for column in (*free, *fields)], 20)
        sentence = (
            f"no column names the system, and the file is not called as one; there are {found}. "
            "Add one, also for one system"
        )
        collector.error(sentence, table.head)
        return
    pair = test_set.source_language, test_set.target_language
    rows = keep_pair(table, pair, collector.report).rows
    if SCORE in table.columns:
        metrics: dict[str, str] = {}
        say_unused(free, titles, table.file, collector.report)
        if METRIC not in table.columns and is_named and not choices.metric:
            collector.error("the file is called as its system: name the metric", Place(table.file))
            return
        if METRIC not in table.columns:
            metrics = {SCORE: choices.metric or stem}
    else:
        metrics = columns_of_metrics(free, titles, table, collector)
        if not metrics:
            return
    for line, row in rows:
        _take_row(row, Place(table.file, line), metrics, collector, SEGMENT in table.columns)
        yield


def _take_row(
    row: dict[str, Any],
    place: Place,
    metrics: dict[str, str],
    collector: Collector,
    has_segments: bool,
) -> None:
    """Keep the scores of a row: of every column in `metrics`, or of the metric it names."""
    system = collector.system(_name(row, SYSTEM), place)
    segment = collector.segment(_name(row, SEGMENT), place) if has_segments else None
    if system is None or (has_segments and segment is None):
        return
    if segment is not None and not collector.has_output(system, segment, place):
        return
    cell = (system, segment)
    if metrics:
        for column, name in metrics.items():
            collector.take(name, cell, row.get(column), place, name)
    elif name := _name(row, METRIC):
        collector.take(name, cell, row.get(SCORE), place, SCORE)
    else:
        collector.error("no metric is named", place._replace(field=METRIC))


def _name(row: dict[str, Any], column: str) -> str:
    value = row.get(column)
    return "" if value is None or isinstance(value, (dict, list)) else str(value).strip()


def _score_file(
    name: str, text: str, keys: Sequence[str | None] | None, collector: Collector
) -> Iterator[None]:
    """Read lines of SYSTEM and SCORE; a metric's name is what stands before the file's ending.

    `keys` are the segments of a system's lines, None where the scores are of whole systems.
    """
    metric = PurePath(name).name.removesuffix(SYS if keys is None else SEG)
    segments = _segments(keys or (), collector)
    seen: dict[str, int] = {}
    for line, row in enumerate(split_lines(text), 1):
        place, cells = Place(name, line), row.split()
        if len(cells) != 2:
            collector.error(f"a system and a score are expected, not {len(cells)} fields", place)
            continue
        label, score = cells
        number = seen[label] = seen.get(label, 0) + 1
        yield
        if (system := collector.system(label, place)) is None:
            continue
        if keys is None:
            collector.take(metric, (system, None), score, place, SCORE)
            continue
        segment = segments[number - 1] if number <= len(segments) else None
        if segment is not None and collector.has_output(system, segment, place):
            collector.take(metric, (system, segment), score, place, SCORE)
    if keys is not None:
        _check_lengths(name, seen, keys, collector)


def _segments(keys: Sequence[str | None], collector: Collector) -> list[int | None]:
    """The primary keys of the segments of lines."""
    known = collector.names.segments
    return [None if key is None else known[key] for key in keys]


def _arrays(
    name: str, arrays: Arrays, keys: Sequence[str | None], collector: Collector
) -> Iterator[None]:
    """Take arrays of numbers, one for each system, in the order of lines."""
    metric, by_system = arrays
    place = Place(name)
    if not metric:
        collector.error("the file is called as its system: name the metric", place)
        return
    segments = _segments(keys, collector)
    for label, values in by_system.items():
        yield
        if (system := collector.system(label, place)) is None:
            continue
        for number, (segment, value) in enumerate(zip(segments, values, strict=False)):
            if segment is not None and collector.has_output(system, segment, place):
                where = place._replace(field=f"{label}[{number}]")
                collector.take(metric, (system, segment), value, where, where.field)
    _check_lengths(name, {label: len(v) for label, v in by_system.items()}, keys, collector)


def _check_lengths(
    name: str, seen: Mapping[str, int], keys: Sequence[str | None], collector: Collector
) -> None:
    """Scores are matched by their order, so there must be one for every segment.

    Lines of segments that the test set does not have are counted where keys name lines.
    """
    expected = len(keys)
    is_by_key = collector.lines == KEY
    if is_by_key and (unknown := sum(n_unknown(keys, number) for number in seen.values())):
        scores = pluralize(unknown, "score is", "scores are")
        collector.report.note(f"{scores} of segments that are not here, and left out", Place(name))
    for label, number in seen.items():
        is_fit = number == expected or (is_by_key and number > expected)
        if not is_fit and label in collector.names.systems:
            collector.error(
                f"“{label}” has {pluralize(number, 'score')}, and the test set has "
                f"{pluralize(expected, 'segment')}",
                Place(name),
            )
