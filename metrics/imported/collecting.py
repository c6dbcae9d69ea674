"""Scores as they are read: found in the test set, checked, and kept by metric."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from annotation.uploads.problems import Place, Report
from annotation.uploads.spellings import Near
from annotation.uploads.tables.numbers import no_number
from core.text import join_truncated, pluralize
from metaeval.files.cells import count_infinite, read_score
from metrics.imported.held import Held, Names

# With more errors than this nobody reads on.
MOST_ERRORS = 1_000


class TooManyError(Exception):
    """There are so many errors that reading on helps nobody."""


@dataclass
class Collected:
    """The scores of one metric by primary keys, and in which line each was read."""

    outputs: dict[int, dict[int, float]] = field(default_factory=dict)
    systems: dict[int, float] = field(default_factory=dict)
    lines: dict[tuple[int, int | None], Place] = field(default_factory=dict)
    n_missing: int = 0
    n_infinite: int = 0

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
    lines: str = ""
    metrics: dict[str, Collected] = field(default_factory=dict)
    unknown: dict[str, Counter[str]] = field(default_factory=dict)

    def system(self, name: str, place: Place) -> int | None:
        """Find a system; None, with the reason reported, where there is none."""
        return self._find("system", self.names.systems, name, place)

    def segment(self, key: str, place: Place) -> int | None:
        """Find a segment; None, with the reason reported, where there is none."""
        return self._find("segment", self.names.segments, key, place)

    @cached_property
    def _known(self) -> dict[str, tuple[Near, str]]:
        """What a name may mean, and the first names that there are."""
        known = {"system": self.names.labels.values(), "segment": self.names.segments}
        return {
            what: (Near(each), join_truncated(sorted(each), 6) or "none")
            for what, each in known.items()
        }

    def _find(self, what: str, among: Mapping[str, int], name: str, place: Place) -> int | None:
        found = among.get(name)
        if found is None:
            place = place._replace(field=what)
            if name:
                near, listed = self._known[what]
                there = near(name) or "; " + f"there are {listed}"
                self._unknown(what, name, f"the test set has no {what} “{name}”{there}", place)
            else:
                self.error(f"no {what} is named", place)
        return found

    def _unknown(self, what: str, name: str, sentence: str, place: Place) -> None:
        """Count what is left out; else it is an error, told once for each name."""
        found = self.unknown.setdefault(what, Counter())
        found[name] += 1
        if not self.skips_unknown and found[name] == 1:
            self.error(sentence, place)

    def has_output(self, system: int, segment: int, place: Place) -> bool:
        """Whether the test set has an output there; if not, it is reported."""
        if (system, segment) in self.names.has:
            return True
        label, key = self.names.labels[system], self.names.keys[segment]
        sentence = f"the test set has no output of “{label}” for segment “{key}”"
        self._unknown("output", f"{label} {key}", sentence, place)
        return False

    def take(
        self, name: str, cell: tuple[int, int | None], value: Any, place: Place, column: str
    ) -> None:
        """Keep one score of a metric; `cell` is a system, and a segment or None for the system."""
        metric = self.metrics.get(name)
        if metric is None:
            metric = self.metrics[name] = Collected()
        found = read_score(value)
        if found is None:
            self.error(no_number(value), place._replace(field=column))
            return
        before = metric.lines.setdefault(cell, place)
        system, segment = cell
        if before is not place:
            which = "system" if segment is None else "output"
            where = f"{before.file}, row {before.row}"
            sentence = f"this {which} has a score of “{name}” already, in {where}"
            self.error(sentence, place._replace(field=column))
        elif found != found:
            metric.n_missing += 1
            metric.n_infinite += count_infinite([value])
        elif segment is None:
            metric.systems[system] = found
        else:
            metric.outputs.setdefault(system, {})[segment] = found

    def error(self, message: str, place: Place) -> None:
        """Report something that forbids the import. Raises TooManyError."""
        self.report.error(message, place)
        if len(self.report.problems) > MOST_ERRORS:
            raise TooManyError

    def say_infinite(self) -> None:
        """Warn of infinite values, which are missing scores."""
        for name, each in self.metrics.items():
            if each.n_infinite:
                infinite = pluralize(
                    each.n_infinite, "infinite value counts", "infinite values count"
                )
                self.report.warn(f"“{name}”: {infinite} as missing")

    def say_unknown(self) -> None:
        """Say what was left out because the test set does not have it."""
        for what, found in self.unknown.items() if self.skips_unknown else ():
            self.report.warn(
                f"{pluralize(found.total(), 'row')} of {pluralize(len(found), what)} that the "
                "test set "
                f"does not have left out: {join_truncated(list(found))}"
            )
