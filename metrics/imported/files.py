"""Read files of scores into the scores of each metric.

A table has one score per row, or one column per metric. Rows without a segment key are documents or
domains if they name one, else the segments of a system in order if the system has several rows,
otherwise whole systems.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from annotation.imports.judgments.wide import by_segment
from annotation.models import TestSet
from annotation.uploads.files import InputFile, hashes
from annotation.uploads.formats.base import METRIC_SCORES, Import
from annotation.uploads.formats.registry import read_files
from annotation.uploads.formats.scores import (
    DOCUMENT,
    DOCUMENT_LINE,
    DOMAIN,
    LINE,
    METRIC,
    SCORE,
    SYSTEM,
)
from annotation.uploads.problems import SYSTEM as OF_FILE
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.cells import read_percent, write_points
from annotation.uploads.tables.columns import (
    name_fields,
    numbering,
    propose,
    read_chosen,
    refuse_unknown,
    renamed,
    say_unused,
    without_all,
)
from annotation.uploads.tables.lines import KEY, Listing, UnknownOrderError, n_unknown
from annotation.uploads.tables.pairs import Pair, keep_pair
from annotation.uploads.tables.rows import Row, Table
from metaeval.files import names
from metaeval.files.cells import read_score
from metaeval.files.names import column_of, fields_of, plain
from metaeval.messages import message, plural, truncated
from metrics.imported.by_source import in_order_of_sources, warn_of_other_outputs
from metrics.imported.collecting import Collector, TooManyError, columns_of_metrics
from metrics.imported.held import Part
from metrics.imported.wide import by_system

# What columns without names are called.
UNNAMED = re.compile(r"unnamed:? \d+")
# Choices for tables of scores: columns, names, directions, and what to skip.

SEGMENT, RATIO = "segment", "length_ratio"
FIELDS = fields_of(names.METRIC_SCORES)
# Columns with these names hold human scores; they are not metrics unless the person chooses them.
OF_PEOPLE = ("human", "published", "judgment")
HUMAN = frozenset(plain(n) for f in names.FIELDS if f.name in OF_PEOPLE for n in f.names)


@dataclass(frozen=True)
class Choices:
    """The choices of a person; names are those of the files.

    `columns` maps columns to fields; a column with an empty field is not used. Only `metrics` are
    imported (None: all except columns of human scores). `metric` is the name of a metric that the
    table does not name, by default the name of the file. `names` are other names for metrics.
    `lower` and `higher` have a stated direction; the direction of others is that of their scores in
    this test set, or is inferred. `skip` are kinds of problems whose rows are skipped and counted
    (`annotation.uploads.tables.skipping`); otherwise they are errors. `lines` is the meaning of
    line n in files without keys (`annotation.uploads.tables.lines`), `system` the system of files
    that do not name one.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    metrics: tuple[str, ...] | None = None
    metric: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    lower: frozenset[str] = frozenset()
    higher: frozenset[str] = frozenset()
    skip: frozenset[str] = frozenset()
    lines: str = ""
    system: str = ""

    def takes(self, name: str) -> bool:
        """Return whether a metric is to be imported."""
        return not is_human(name) if self.metrics is None else name in self.metrics

    def name_of(self, name: str) -> str:
        """Return the new name of a metric."""
        return self.names.get(name) or name


def is_human(name: str) -> bool:
    """Return whether a column has a name of human scores: `mqm`, `esa_1`."""
    return not HUMAN.isdisjoint((plain(name), plain(name.rstrip("0123456789"))))


# Read files.


@dataclass
class Reading:
    """The content of files: columns with titles, fields and samples, and the files' SHA-256.

    `pairs` are the languages that rows name. `lines` are the possible meanings of line n, if it is
    unclear or was chosen. `by_source` are columns whose texts say the segments,
    `compared` those that are compared with stored outputs.
    """

    columns: dict[str, str] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    files: list[dict[str, str]] = field(default_factory=list)
    lines: tuple[str, ...] = ()
    samples: dict[str, str] = field(default_factory=dict)
    pairs: set[Pair] = field(default_factory=set)
    by_source: set[str] = field(default_factory=set)
    compared: set[str] = field(default_factory=set)


def read(
    files: Sequence[InputFile], test_set: TestSet, choices: Choices, collector: Collector
) -> Reading:
    """Read all files; errors go to the collector's report."""
    reading, report = Reading(files=hashes(files)), collector.report
    lines = _Lines(Listing.stored(test_set.slug), choices.lines, reading, report)
    report.chosen = {"": choices.columns}
    every = read_files(files, Import(METRIC_SCORES, report))
    unfolded = (by_segment(without_all(each, report), lines.listing, report) for each in every)
    sheets = [_Scores(table, choices, collector, lines) for table in unfolded if table]
    unreported = Report()  # wrong choices are errors of the tables with a row for each score
    unreported.chosen = report.chosen
    chosen = read_chosen([sheet.table for sheet in sheets], FIELDS, unreported)
    sheets = [sheet for sheet, own in zip(sheets, chosen, strict=True) if sheet.unfold(own)]
    for sheet in sheets:
        reading.columns |= sheet.table.titles
        reading.samples = sheet.table.samples | reading.samples
    chosen = read_chosen([sheet.table for sheet in sheets], FIELDS, report)
    for sheet, own in zip(sheets, chosen, strict=True):
        _attempt(sheet.read(own, test_set, reading))
    return reading


@dataclass
class _Lines:
    """The segments of lines without keys; an unknown order is reported once."""

    listing: Listing
    choice: str
    reading: Reading
    report: Report

    def keys(self, file: str) -> list[str | None]:
        """Return the key of every line; empty, with a reported error, if it is unknown."""
        if self.listing.is_unclear or self.choice:
            is_first, self.reading.lines = not self.reading.lines, self.listing.choices
            try:
                return self.listing.key_of_lines(self.choice)
            except UnknownOrderError as error:
                if is_first:
                    self.report.error(error.message, Place(file))
                return []
        return self.listing.key_of_lines()


def _attempt(steps: Iterator[None]) -> None:
    try:
        for _ in steps:
            pass
    except TooManyError:
        pass


@dataclass
class _Scores:
    """The scores of one table. `seen` counts the rows of each system and metric.

    `level` is that of rows without segments that name documents or domains. `output` is the column
    of the outputs that were scored, and `outputs` are its cells by system and segment.
    """

    table: Table
    choices: Choices
    collector: Collector
    lines: _Lines
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    segments: Sequence[int | None] = ()
    level: str = ""
    output: str = ""
    outputs: list[tuple[int, int, str, Place]] = field(default_factory=list)

    def unfold(self, own: Mapping[str, str]) -> bool:
        """Give a table with columns of systems a row for each system; `own` are chosen fields.

        Returns False, with the reason reported, where the rows would have too many cells.
        """
        fields = self._fields(own)
        if not {SYSTEM, SCORE} & set(fields.values()) and not self._is_of_one_system():
            free = [column for column in self.table.columns if column not in {**own, **fields}]
            names_system = self.collector.names_system
            long = by_system(self.table, free, names_system, self.collector.report)
            self.table = long or self.table
            return long is not None
        return True

    def _fields(self, own: Mapping[str, str]) -> dict[str, str]:
        fields = {c: f for c, f in propose(self.table.columns, FIELDS, own).items() if f}
        if SYSTEM not in fields.values() and (column := self._names_systems(own)):
            fields[column] = SYSTEM
        if column := numbering(self.table, {**own, **fields}, self.collector.names.segments):
            fields[column] = SEGMENT
        return fields

    def read(self, own: dict[str, str], test_set: TestSet, reading: Reading) -> Iterator[None]:
        """Read all scores, one row per step."""
        report, table = self.collector.report, self.table
        fields = self._fields(own)
        reading.fields |= {column: f for column, f in fields.items() if column in table.titles}
        free = [c for c in table.columns if c not in fields and c not in (LINE, DOCUMENT_LINE)]
        scored = [column for column, meaning in fields.items() if meaning == SCORE]
        write_points(table, scored or free, report)
        for column in scored or free:
            read_percent(table, column, report)
        if len(scored) < 2:
            name_fields(table, fields, report)
        table = self.table = renamed(table, fields)
        system = self._system([*free, *fields])
        if system is None:
            return
        pair = test_set.source_language, test_set.target_language
        kept, pairs = keep_pair(table, pair, report, of_test_set=True)
        reading.pairs |= pairs.keys()
        if {SEGMENT, DOCUMENT, DOMAIN, LINE}.isdisjoint(kept.columns):
            lists = [column for column in kept.columns if column in (SYSTEM, RATIO, METRIC)]
            kept = self.table = in_order_of_sources(kept, lists, test_set, report)
            reading.by_source |= {*free} - {*kept.columns}
            free = [column for column in free if column in kept.columns]
        if column := column_of("output", free):
            self.output, free = column, [each for each in free if each != column]
            reading.compared |= {column} if column in table.titles else set()
        rows = kept.rows
        metrics = self._metrics(free, system)
        named = [
            (line, row | {SYSTEM: self._system_of(system, row, Place(table.file, line))})
            for line, row in rows
        ]
        if metrics is None or not self._find_lines(named):
            return
        for line, row in named:
            self._take(row, Place(table.file, line), metrics)
            yield
        self._check_lengths()
        if self.outputs:
            warn_of_other_outputs(self.outputs, test_set, report)

    def _system_of(self, system: str, row: Row, place: Place) -> str:
        return self.collector.at_length(system or _name(row, SYSTEM), _name(row, RATIO), place)

    def _is_of_one_system(self) -> bool:
        """Return whether the person or the file's name gives the system of all rows."""
        file = self.table.file
        is_chosen = self.choices.system or self.collector.report.choice(file, OF_FILE)
        return bool(is_chosen or self.collector.system_in(file))

    def _names_systems(self, chosen: Mapping[str, str]) -> str:
        """Return a column of outputs, such as `mt`, or without a name, whose cells name systems."""
        nameless = (c for c in self.table.columns if UNNAMED.fullmatch(c))
        column = column_of("output", self.table.columns) or next(nameless, "")
        is_named = self.table.rows and column not in chosen
        cells = (_name(row, column) for _, row in self.table.rows)
        found = is_named and all(self.collector.find_system(cell) is not None for cell in cells)
        return column if found else ""

    def _system(self, columns: Sequence[str]) -> str | None:
        """Return the system of all rows; empty if rows name theirs, None if it is unknown."""
        if SYSTEM in self.table.columns:
            return ""
        file, report = self.table.file, self.collector.report
        named = "" if report.choice(file, OF_FILE) else self.collector.system_in(file)
        known = sorted(self.collector.names.labels.values())
        if system := self.choices.system or named or report.system_of(file, file, known):
            return system
        titles = [self.table.titles.get(column, column) for column in columns]
        if any(read_score(title) is not None for title in titles):  # no names of columns
            refuse_unknown(self.table, self.collector.report)
            return None
        refusal = (
            message(
                "scores.system-unknown-of-columns",
                "The system of these scores is unknown: neither a column nor the file name gives "
                "it. The columns are {columns}. Add a column, or state the system (command line: "
                "--system NAME, or --column “(system) FILE=NAME” for each of several files; API: "
                "system, columns).",
                columns=truncated(titles, 20),
            )
            if self.table.titles
            else message(
                "scores.system-unknown",
                "The system of these scores is unknown: the file name does not give it. State the "
                "system (command line: --system NAME, or --column “(system) FILE=NAME” for each of "
                "several files; API: system, columns).",
            )
        )
        self.collector.error(refusal, self.table.head)
        return None

    def _metrics(self, free: Sequence[str], system: str) -> dict[str, str] | None:
        """Return the columns of scores with their metrics; none if rows name them."""
        table, titles = self.table, self.table.titles
        if SCORE not in table.columns:
            return columns_of_metrics(free, titles, table, self.collector) or None
        say_unused(table, {c for c in table.columns if c not in free}, self.collector.report)
        if METRIC in table.columns:
            return {}
        stem = PurePath(table.file).stem
        name = self.choices.metric or (_without(stem, system) if system else stem)
        if not name:
            place = Place(table.file)
            refusal = message(
                "scores.metric-unknown",
                "The file name gives only the system. State the name of the metric.",
            )
            self.collector.error(refusal, place)
            return None
        return {SCORE: name}

    def _find_lines(self, rows: Sequence[tuple[int, Row]]) -> bool:
        """Number the rows of each system if they have no keys and the system has several.

        Returns False if the segments of lines are unknown.
        """
        if SEGMENT in self.table.columns:
            return True
        if DOCUMENT_LINE in self.table.columns or self._names_parts(rows):
            return True
        for _, row in rows if LINE not in self.table.columns else ():
            key = _name(row, SYSTEM), _name(row, METRIC)
            row[LINE] = self.seen[key]
            self.seen[key] += 1
        if LINE not in self.table.columns and max(self.seen.values(), default=0) < 2:
            self.seen.clear()
            for _, row in rows:
                row[LINE] = ""
        if all(row[LINE] == "" for _, row in rows):
            return True
        if self.table.titles:
            self.collector.report.warn(
                message(
                    "scores.rows-in-order",
                    "No column names the segments. The rows of each system were matched with the "
                    "segments of the test set in order.",
                ),
                self.table.head,
            )
        keys = self.lines.keys(self.table.file)
        known = self.collector.names.segments
        self.segments = [None if key is None else known[key] for key in keys]
        return bool(keys)

    def _names_parts(self, rows: Sequence[tuple[int, Row]]) -> bool:
        """Return whether rows are of documents or domains: each is named once for a system.

        A table in which a document has several rows, or every segment its own document, is one of
        segments in order.
        """
        self.level = next((each for each in (DOCUMENT, DOMAIN) if each in self.table.columns), "")
        known = self.collector.names
        if not self.level or len(known.parts[self.level]) == len(known.segments):
            self.level = ""
        keys = [(_name(row, SYSTEM), _name(row, METRIC), _name(row, self.level)) for _, row in rows]
        if len(set(keys)) < len(keys):
            self.level = ""
        return bool(self.level)

    def _part(self, row: Row, place: Place) -> Part | None:
        """Return the document or domain of a row; None, with a reported error, if it is unknown."""
        if DOCUMENT_LINE not in row:
            return self.collector.part(self.level, _name(row, self.level), place)
        documents = self.collector.names.parts[DOCUMENT]
        label, metric, number = _name(row, SYSTEM), _name(row, METRIC), int(row[DOCUMENT_LINE])
        self.seen[label, metric] = max(self.seen[label, metric], number + 1)
        return Part(DOCUMENT, documents[number]) if number < len(documents) else None

    def _take(self, row: Row, place: Place, metrics: Mapping[str, str]) -> None:
        """Collect the scores of a row: of every column in `metrics`, or of the metric it names."""
        label, metric = _name(row, SYSTEM), _name(row, METRIC)
        system = self.collector.system(label, place)
        segment, part, is_whole = None, None, False
        if SEGMENT in self.table.columns:
            segment = self.collector.segment(_name(row, SEGMENT), place)
        elif self.level or DOCUMENT_LINE in self.table.columns:
            part = self._part(row, place)
        elif row[LINE] == "":
            is_whole = True
        else:
            number, is_stated = int(row[LINE]), isinstance(row[LINE], str)
            is_here = number < len(self.segments)
            segment = self.segments[number] if is_here else None
            if not is_stated:
                self.seen[label, metric] = max(self.seen[label, metric], number + 1)
            elif not is_here and self.collector.lines != KEY:
                refusal = message(
                    "scores.line-outside",
                    "Line {line} has no segment: the test set has {n} segments.",
                    line=number,
                    n=len(self.segments),
                )
                self.collector.error(refusal, place)
        if system is None or (segment is None and part is None and not is_whole):
            return
        if segment is not None and not self.collector.has_output(system, segment, place):
            return
        cell = (system, part or segment)
        if self.output and segment is not None:
            text = row.get(self.output)
            self.outputs.append((system, segment, str(text), place._replace(field=self.output)))
        if metrics:
            for column, name in metrics.items():
                self.collector.take(name, cell, row.get(column), place, column)
        elif metric:
            column = label if LINE in self.table.columns else SCORE
            self.collector.take(metric, cell, row.get(SCORE), place, column)
        else:
            self.collector.error(
                message("scores.no-metric-named", "The metric is missing."),
                place._replace(field=METRIC),
            )

    def _check_lengths(self) -> None:
        """Require one score for every segment, because scores are matched by order.

        Lines of segments that the test set does not have are counted if keys name lines.
        """
        if DOCUMENT_LINE in self.table.columns:
            self._check_documents()
            return
        expected, is_by_key = len(self.segments), self.collector.lines == KEY
        keys = [None if segment is None else "" for segment in self.segments]
        place = Place(self.table.file)
        if is_by_key and (unknown := sum(n_unknown(keys, n) for n in self.seen.values())):
            text = plural(
                "scores.of-unknown-segments",
                "Skipped {n} score of a segment that the test set does not have.",
                "Skipped {n} scores of segments that the test set does not have.",
                n=unknown,
            )
            self.collector.report.note(text, place)
        for (label, _), number in self.seen.items():
            is_fit = number == expected or (is_by_key and number > expected)
            if not is_fit and self.collector.find_system(label) is not None:
                refusal = message(
                    "scores.other-number",
                    "“{system}” has {n} scores, but the test set has {expected} segments.",
                    system=label,
                    n=number,
                    expected=expected,
                )
                self.collector.error(refusal, place)

    def _check_documents(self) -> None:
        """Require one score for every document, because they are matched by order."""
        expected = len(self.collector.names.parts[DOCUMENT])
        for (label, _), number in self.seen.items():
            if number != expected and self.collector.find_system(label) is not None:
                refusal = message(
                    "scores.other-number-of-documents",
                    "“{system}” has {n} scores, but the test set has {expected} documents.",
                    system=label,
                    n=number,
                    expected=expected,
                )
                self.collector.error(refusal, Place(self.table.file))


def _without(stem: str, system: str) -> str:
    """Return the name of a file without the system, which is the metric."""
    return stem.replace(system, "").strip("-_.@ ")


def _name(row: Row, column: str) -> str:
    value = row.get(column)
    return "" if value is None or isinstance(value, (dict, list)) else str(value).strip()
