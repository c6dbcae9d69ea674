"""Match scores with the test set while reading, check them, and collect them by metric."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from math import isnan
from pathlib import PurePath
from typing import Any

from annotation.uploads.files import RatioError, label_of_file, parse_ratio
from annotation.uploads.problems import Place, Report
from annotation.uploads.spellings import Near, nfc
from annotation.uploads.tables.cells import has_decimal_comma, no_number
from annotation.uploads.tables.columns import say_unused
from annotation.uploads.tables.rows import Table
from metaeval.files.cells import count_infinite, read_score
from metaeval.files.names import JUDGMENTS, NUMBER, PLACES, fields_of, is_called
from metaeval.messages import Message, message, truncated
from metrics.imported.held import MetricScores, Names, Part, Unit
from metrics.imported.storing import no_part

# Reading stops at more errors than this.
MOST_ERRORS = 1_000
# Between the name of a system and what else names a file: a metric, a language pair, a number.
SIGNS = re.compile(r"[-._@ ]+")
BY_SOURCE = message(
    "spans.by-source", "No column names the segments. Rows were matched by their sources."
)


def parts_of_file(file: str) -> list[str]:
    """Return the parts of a file's name that may name a system, the longest first.

    >>> parts_of_file("metricx-Online-W.jsonl")
    ['metricx-Online-W', 'metricx-Online', 'Online-W', 'metricx', 'Online', 'W']
    """
    stem = PurePath(file).stem
    begins = [0, *(sign.end() for sign in SIGNS.finditer(stem))]
    ends = [len(stem), *(sign.start() for sign in SIGNS.finditer(stem))]
    parts = {stem[begin:end] for begin in begins for end in ends if begin < end}
    return sorted(parts, key=lambda part: (-len(part), part))


class TooManyError(Exception):
    """There are too many errors to continue."""


@dataclass
class Collected:
    """The scores of one metric by primary keys, and the line of each score."""

    outputs: dict[int, dict[int, float]] = field(default_factory=dict)
    systems: dict[int, float] = field(default_factory=dict)
    parts: dict[int, dict[Part, float]] = field(default_factory=dict)
    lines: dict[tuple[int, Unit], Place] = field(default_factory=dict)
    n_missing: int = 0
    n_infinite: int = 0

    @property
    def held(self) -> MetricScores:
        """The scores."""
        rows = {pk: row for pk, row in self.outputs.items() if row}
        return MetricScores(rows, self.systems, self.parts)


@dataclass
class Collector:
    """Collects scores by the names in files; errors go to the report."""

    names: Names
    report: Report
    lines: str = ""
    metrics: dict[str, Collected] = field(default_factory=dict)
    unknown: dict[str, set[str]] = field(default_factory=dict)
    taken: dict[str, str] = field(default_factory=dict)

    def system(self, name: str, place: Place) -> int | None:
        """Find a system; None, with a reported error, if there is none."""
        return self._find("system", self.names.systems, name, place)

    def segment(self, key: str, place: Place) -> int | None:
        """Find a segment; None, with a reported error, if there is none."""
        return self._find("segment", self.names.segments, key, place)

    @cached_property
    def _near(self) -> dict[str, Near]:
        """Known systems and segments, to suggest what an unknown name may mean."""
        return {
            "system": Near(self.names.labels.values()),
            "segment": Near(self.names.segments),
        }

    def _find(self, what: str, among: Mapping[str, int], name: str, place: Place) -> int | None:
        found = self.find_system(name) if what == "system" else among.get(name)
        if found is None and name:
            found = self._plain[what].get(nfc(name))
        if found is None:
            place = place._replace(field=what)
            near = self._near[what]
            refusal = near.no_system(name) if what == "system" else near.no_segment(name)
            if name:
                self._unknown(what, name, refusal, place)
            else:
                self.error(refusal, place)
        return found

    @cached_property
    def _plain(self) -> dict[str, dict[str, int]]:
        """The primary keys by names in NFC."""
        return {
            "system": {nfc(name): pk for name, pk in self.names.systems.items()},
            "segment": {nfc(key): pk for key, pk in self.names.segments.items()},
        }

    def at_length(self, system: str, ratio: str, place: Place) -> str:
        """Return the name of a system at a length ratio; without one, as it is named.

        A ratio that the system does not have makes a name that is unknown.
        """
        if not ratio:
            return system
        try:
            ratio = f"{parse_ratio(ratio).normalize():f}"
        except RatioError as error:
            self.error(error.message, place._replace(field="length_ratio"))
            return system
        if system.endswith(f"@{ratio}"):
            return system
        label = f"{label_of_file(system.replace(chr(92), '/'))}@{ratio}"
        return label if self.names_system(label) else f"{system}@{ratio}"

    def names_system(self, name: str) -> bool:
        """Return whether a name, with its length ratio or without, is a system's."""
        return nfc(name) in self._plain["system"]

    def find_system(self, path: str) -> int | None:
        """Find a system by its name, or by the name of the file with its outputs."""
        if self.names_system(path):
            return self.names.systems.get(path, self._plain["system"][nfc(path)])
        name = label_of_file(path.replace("\\", "/"))
        found = self._plain["system"].get(nfc(name))
        if found is not None:
            self.taken[path] = name
        return found

    def system_in(self, file: str) -> str:
        """Return the only system in the name of a file; empty if there are none or several."""
        known = self._plain["system"]
        found = [part for part in parts_of_file(file) if nfc(part) in known]
        rest = [part for part in found if found[0] not in part and part not in found[0]]
        return found[0] if found and not rest else ""

    def _unknown(self, what: str, name: str, refusal: Message, place: Place) -> None:
        """Report an unknown name once, and each of its rows if they are skipped."""
        found = self.unknown.setdefault(what, set())
        is_skipped = self.report.skips and self.report.skips.takes(refusal.code, place)
        if name not in found and not is_skipped:
            found.add(name)
            self.error(refusal, place)

    def part(self, level: str, name: str, place: Place) -> Part | None:
        """Find a document or a domain; None, with a reported error, if there is none."""
        if name in self.names.parts.get(level, ()):
            return Part(level, name)
        self._unknown(level, name, no_part(level, [name]), place._replace(field=level))
        return None

    def has_output(self, system: int, segment: int, place: Place) -> bool:
        """Return whether the test set has an output; report an error if not."""
        if (system, segment) in self.names.has:
            return True
        label, key = self.names.labels[system], self.names.keys[segment]
        refusal = message(
            "scores.unknown-output",
            "The test set has no output of “{system}” for segment “{segment}”.",
            system=label,
            segment=key,
        )
        self._unknown("output", f"{label} {key}", refusal, place)
        return False

    def take(
        self, name: str, cell: tuple[int, Unit], value: Any, place: Place, column: str
    ) -> None:
        """Collect one score of a metric; `cell` is a system and what its score is of."""
        metric = self.metrics.get(name)
        if metric is None:
            metric = self.metrics[name] = Collected()
        found = read_score(value)
        if found is None:
            self.error(no_number(value), place._replace(field=column))
            return
        before = metric.lines.setdefault(cell, place)
        system, unit = cell
        if before is not place:
            about = {"metric": name, "place": Place(before.file, before.row).label}
            refusal = (
                message(
                    "scores.output-score-twice",
                    "This output already has a score of “{metric}” in {place}.",
                    **about,
                )
                if isinstance(unit, int)
                else message(
                    "scores.part-score-twice",
                    "This system already has a score of “{metric}” for “{part}” in {place}.",
                    part=unit.name,
                    **about,
                )
                if unit
                else message(
                    "scores.system-score-twice",
                    "This system already has a score of “{metric}” in {place}.",
                    **about,
                )
            )
            self.error(refusal, place._replace(field=column))
        elif found != found:
            metric.n_missing += 1
            metric.n_infinite += count_infinite([value])
        elif unit is None:
            metric.systems[system] = found
        elif isinstance(unit, Part):
            metric.parts.setdefault(system, {})[unit] = found
        else:
            metric.outputs.setdefault(system, {})[unit] = found

    def error(self, refusal: Message, place: Place) -> None:
        """Report something that prevents the import. Raises TooManyError."""
        self.report.error(refusal, place)
        if len(self.report.problems) > MOST_ERRORS:
            raise TooManyError

    def report_infinite(self) -> None:
        """Warn of infinite values, which are missing scores."""
        for name, each in self.metrics.items():
            self.report.warn_of(
                each.n_infinite,
                "scores.infinite",
                "“{metric}”: {n} infinite value counts as missing.",
                "“{metric}”: {n} infinite values count as missing.",
                metric=name,
            )

    def report_file_names(self) -> None:
        """Note systems that the files name like their output files."""
        if self.taken:
            named = [
                message("scores.file-as-system", "“{file}” as “{system}”", file=path, system=name)
                for path, name in self.taken.items()
            ]
            self.report.note(
                message(
                    "scores.systems-named-as-files",
                    "File names were read as systems: {names}.",
                    names=truncated(named),
                )
            )


# Find the columns of a table that hold scores, and explain why others do not.

# Cells that decide whether a column holds numbers.
LOOKED_AT = 200


def columns_of_metrics(
    free: Sequence[str], titles: dict[str, str], table: Table, collector: Collector
) -> dict[str, str]:
    """Return the columns of numbers with their titles; report the other columns as unused."""
    others = [column for column in free if not is_called(titles.get(column, column), PLACES)]
    found = [column for column in others if _is_numeric(table, column)]
    rest = [column for column in free if column not in found]
    unclear = _unclear(table, [c for c in rest if c in others], is_only=not found)
    unused = [column for column in rest if column not in unclear]
    say_unused(table, {c for c in table.columns if c not in unused}, collector.report)
    for column in unclear:
        add = collector.report.warn if found else collector.error
        add(*_no_scores(table, column, titles.get(column, column)))
    if not found and not unclear:
        collector.error(
            message(
                "scores.no-score-column",
                "No column has scores. Add a column “score”, or a column for each metric.",
            ),
            table.head,
        )
    return {column: titles.get(column, column) for column in found}


def _filled(table: Table, column: str) -> Iterator[tuple[int, Any]]:
    """The cells of a column that are not blank, with their lines."""
    cells = ((line, row.get(column)) for line, row in table.rows)
    return ((line, cell) for line, cell in cells if cell is not None and str(cell).strip())


def _is_numeric(table: Table, column: str) -> bool:
    """Whether most of the first cells are numbers."""
    looked = [read_score(cell) is not None for _, cell in islice(_filled(table, column), LOOKED_AT)]
    return 2 * sum(looked) > len(looked)


def _unclear(table: Table, columns: Sequence[str], *, is_only: bool) -> list[str]:
    """Columns that may be meant as scores: some cells are numbers, or there is nothing else.

    Columns of texts are excluded, because a text may be a number.
    """
    texts = [name for f in fields_of(JUDGMENTS) if f.kind != NUMBER for name in f.names]
    others = [column for column in columns if not is_called(column, texts)]
    mixed = [c for c in others if any(_holds_number(cell) for _, cell in _filled(table, c))]
    return mixed if mixed or not is_only else [c for c in others if any(_filled(table, c))]


def _holds_number(cell: Any) -> bool:
    value = read_score(cell)
    return has_decimal_comma(cell) or (value is not None and not isnan(value))


def _no_scores(table: Table, column: str, title: str) -> tuple[Message, Place]:
    """Explain why a column was not read as scores, at the first cell without a number."""
    line, cell = next(each for each in _filled(table, column) if read_score(each[1]) is None)
    text = message(
        "scores.column-not-numeric",
        "The column “{column}” was not read as scores: “{text}” is not a number, nor are at least "
        "half of the first cells. Leave cells without a score empty, and use decimal points.",
        column=title,
        text=str(cell).strip()[:40],
    )
    return text, Place(table.file, line, title)
