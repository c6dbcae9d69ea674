"""Scores as they are read: found in the test set, checked, and kept by metric."""

import re
from collections import Counter
from dataclasses import dataclass, field
from math import isinf, nan
from typing import Any

from annotation.uploads.problems import Place, Report, some
from metrics.imported.held import Held, Names

# Cells that say that there is no score.
MISSING = frozenset(("", "-", "na", "n/a", "nan", "none", "null"))
# With more errors than this nobody reads on.
MOST_ERRORS = 1_000


def number(cell: Any) -> float | None:
    """Return a cell as a number, nan where it says that there is none, None where it is neither."""
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return float(cell)
    text = "" if cell is None else str(cell).strip()
    if text.casefold() in MISSING:
        return nan
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def is_number(cell: Any) -> bool:
    """Whether a cell holds a number or says that there is none."""
    return number(cell) is not None


class TooManyError(Exception):
    """There are so many errors that reading on helps nobody."""


@dataclass
class Collected:
    """The scores of one metric by primary keys, and in which line each was read."""

    outputs: dict[int, dict[int, float]] = field(default_factory=dict)
    systems: dict[int, float] = field(default_factory=dict)
    lines: dict[tuple[int, int | None], tuple[str, int]] = field(default_factory=dict)
    n_missing: int = 0

    @property
    def held(self) -> Held:
        """The scores."""
        return Held({pk: row for pk, row in self.outputs.items() if row}, self.systems)


@dataclass
class Collector:
    """Takes scores by the names of files; what is wrong goes to the report."""

    names: Names
    report: Report
    skips_unknown: bool = False
    metrics: dict[str, Collected] = field(default_factory=dict)
    unknown: dict[str, Counter[str]] = field(default_factory=dict)

    def system(self, name: str, place: Place) -> int | None:
        """Find a system; None, with the reason reported, where there is none."""
        return self._find("system", self.names.systems, name, place)

    def segment(self, key: str, place: Place) -> int | None:
        """Find a segment; None, with the reason reported, where there is none."""
        return self._find("segment", self.names.segments, key, place)

    def _find(self, what: str, among: Any, name: str, place: Place) -> int | None:
        found: int | None = among.get(name)
        if found is None and not name:
            self.error(f"no {what} is named", place)
        elif found is None:
            self._unknown(what, name, f"the test set has no {what} “{name}”", place)
        return found

    def _unknown(self, what: str, name: str, sentence: str, place: Place) -> None:
        if self.skips_unknown:
            self.unknown.setdefault(what, Counter())[name] += 1
        else:
            self.error(sentence, place)

    def has_output(self, system: int, segment: int, place: Place) -> bool:
        """Whether the test set has an output there; if not, it is reported."""
        if (system, segment) in self.names.has:
            return True
        label, key = self.names.labels[system], self.names.keys[segment]
        sentence = f"the test set has no output of “{label}” for segment “{key}”"
        self._unknown("output", f"{label} {key}", sentence, place)
        return False

    def take(self, name: str, system: int, segment: int | None, cell: Any, place: Place) -> None:
        """Keep one score of a metric, of an output or (segment None) of a system."""
        metric = self.metrics.setdefault(name, Collected())
        value = self._number(cell, place)
        if value is None:
            return
        before = metric.lines.setdefault((system, segment), (place.file, place.row or 0))
        if before != (place.file, place.row or 0):
            which = "system" if segment is None else "output"
            self.error(
                f"this {which} has a score of “{name}” already, in {before[0]}, row {before[1]}",
                place,
            )
        elif value != value:
            metric.n_missing += 1
        elif segment is None:
            metric.systems[system] = value
        else:
            metric.outputs.setdefault(system, {})[segment] = value

    def _number(self, cell: Any, place: Place) -> float | None:
        """A number, nan where the cell says that there is none, None where it is neither."""
        value = number(cell)
        if value is None:
            text = str(cell).strip()
            comma = " Write a decimal point." if re.fullmatch(r"-?\d+,\d+", text) else ""
            self.error(f"“{text[:40]}” is no number.{comma}", place)
        elif isinf(value):
            self.error("an infinite score cannot be imported", place)
            return None
        return value

    def error(self, message: str, place: Place) -> None:
        """Report something that forbids the import. Raises TooManyError."""
        self.report.error(message, place)
        if len(self.report.problems) > MOST_ERRORS:
            raise TooManyError

    def say_unknown(self) -> None:
        """Say what was left out because the test set does not have it."""
        for what, found in self.unknown.items():
            self.report.warn(
                f"{found.total():,} rows of {len(found):,} {what}s that the test set does not have "
                f"are left out: {some(list(found))}"
            )
