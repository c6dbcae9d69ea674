"""Match scores with the test set while reading, check them, and collect them by metric."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import Any

from annotation.uploads.problems import Place, Report
from annotation.uploads.spellings import Near, nfc
from annotation.uploads.submissions import label_of_file
from annotation.uploads.tables.numbers import no_number
from metaeval.files.cells import count_infinite, read_score
from metaeval.messages import Message, message, plural, truncated
from metrics.imported.held import MetricScores, Names

# Reading stops at more errors than this.
MOST_ERRORS = 1_000
# Between the name of a system and what else names a file: a metric, a language pair, a number.
SIGNS = re.compile(r"[-._@ ]+")


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


NO_SYSTEM = message("scores.no-system-named", "The system is missing.")
NO_SEGMENT = message("scores.no-segment-named", "The segment is missing.")


class TooManyError(Exception):
    """There are too many errors to continue."""


@dataclass
class Collected:
    """The scores of one metric by primary keys, and the line of each score."""

    outputs: dict[int, dict[int, float]] = field(default_factory=dict)
    systems: dict[int, float] = field(default_factory=dict)
    lines: dict[tuple[int, int | None], Place] = field(default_factory=dict)
    n_missing: int = 0
    n_infinite: int = 0

    @property
    def held(self) -> MetricScores:
        """The scores."""
        return MetricScores({pk: row for pk, row in self.outputs.items() if row}, self.systems)


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
    def _known(self) -> dict[str, tuple[Near, list[str]]]:
        """Known systems and segments, to suggest what an unknown name may mean."""
        known = {"system": self.names.labels.values(), "segment": self.names.segments}
        return {what: (Near(each), sorted(each)) for what, each in known.items()}

    def _find(self, what: str, among: Mapping[str, int], name: str, place: Place) -> int | None:
        found = self.find_system(name) if what == "system" else among.get(name)
        if found is None and name:
            found = self._plain[what].get(nfc(name))
        if found is None:
            place = place._replace(field=what)
            if name:
                self._unknown(what, name, self._unknown_name(what, name), place)
            else:
                self.error(NO_SYSTEM if what == "system" else NO_SEGMENT, place)
        return found

    def _unknown_name(self, what: str, name: str) -> Message:
        near, names = self._known[what]
        known, listed = near.name(name), truncated(names, 6)
        if what == "system":
            return (
                message(
                    "scores.unknown-system-near",
                    "The test set has no system “{system}”, but it has “{known}”.",
                    system=name,
                    known=known,
                )
                if known
                else message(
                    "scores.unknown-system",
                    "The test set has no system “{system}”. Its {n} systems: {systems}.",
                    system=name,
                    n=len(names),
                    systems=listed,
                )
            )
        return (
            message(
                "scores.unknown-segment-near",
                "The test set has no segment “{segment}”, but it has “{known}”.",
                segment=name,
                known=known,
            )
            if known
            else message(
                "scores.unknown-segment",
                "The test set has no segment “{segment}”. Its {n} segments: {segments}.",
                segment=name,
                n=len(names),
                segments=listed,
            )
        )

    @cached_property
    def _plain(self) -> dict[str, dict[str, int]]:
        """The primary keys by names in NFC."""
        return {
            "system": {nfc(name): pk for name, pk in self.names.systems.items()},
            "segment": {nfc(key): pk for key, pk in self.names.segments.items()},
        }

    def find_system(self, path: str) -> int | None:
        """Find a system by its name, or by the name of the file with its outputs."""
        if nfc(path) in self._plain["system"]:
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
        self, name: str, cell: tuple[int, int | None], value: Any, place: Place, column: str
    ) -> None:
        """Collect one score of a metric; `cell` is a system, and a segment unless None."""
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
            refusal = (
                message(
                    "scores.system-score-twice",
                    "This system already has a score of “{metric}” in {place}.",
                    metric=name,
                    place=Place(before.file, before.row).label,
                )
                if segment is None
                else message(
                    "scores.output-score-twice",
                    "This output already has a score of “{metric}” in {place}.",
                    metric=name,
                    place=Place(before.file, before.row).label,
                )
            )
            self.error(refusal, place._replace(field=column))
        elif found != found:
            metric.n_missing += 1
            metric.n_infinite += count_infinite([value])
        elif segment is None:
            metric.systems[system] = found
        else:
            metric.outputs.setdefault(system, {})[segment] = found

    def error(self, refusal: Message, place: Place) -> None:
        """Report something that prevents the import. Raises TooManyError."""
        self.report.error(refusal, place)
        if len(self.report.problems) > MOST_ERRORS:
            raise TooManyError

    def report_infinite(self) -> None:
        """Warn of infinite values, which are missing scores."""
        for name, each in self.metrics.items():
            if each.n_infinite:
                self.report.warn(
                    plural(
                        "scores.infinite",
                        "“{metric}”: {n} infinite value counts as missing.",
                        "“{metric}”: {n} infinite values count as missing.",
                        n=each.n_infinite,
                        metric=name,
                    )
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
