"""Skip rows by kind of problem, count them, and name them in what is stored.

Rows with a problem of a chosen kind are taken out, and the files are read again, until no row has
one: a row that is out may leave others without what they refer to.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TypeVar

from annotation.uploads.problems import Place, Report
from core.gc_tuning import relaxed
from metaeval.messages import Message, message, plural, printable

Result = TypeVar("Result")
# Readings after which a problem that still appears is an error.
MOST_READINGS = 10
FIRST = 5
TORN = "torn"
# The name of the choice in forms, words and the API.
SKIP = "skip"


@dataclass(frozen=True)
class Kind:
    """A kind of problem that rows have, and the codes of its messages."""

    name: str
    label: Message
    codes: frozenset[str]


def _kind(name: str, label: Message, codes: str) -> Kind:
    """Return a kind; in `codes` a group of names follows its area, such as `cell: empty, list`."""
    found = set()
    for line in codes.strip().splitlines():
        area, _, names = line.partition(":")
        found |= {f"{area.strip()}.{name.strip()}" for name in names.split(",")}
    return Kind(name, label, frozenset(found))


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        _kind(
            TORN,
            message("skip.torn", "rows that are empty, torn, or not valid JSON"),
            """table: cells, empty-row, no-objects
            json: syntax, unreadable, field-twice""",
        ),
        _kind(
            "empty",
            message("skip.empty", "rows without a text, name or score that is needed"),
            """text: empty
            cell: empty, missing
            name: empty
            document: empty
            judgments: no-annotator, source-missing, score-missing
            segment: missing
            system: missing
            scores: no-metric-named""",
        ),
        _kind(
            "unusable",
            message("skip.unusable", "rows with texts, names or times that cannot be stored"),
            """text: character, too-long
            name: character, too-long, blank
            cell: not-text
            outputs: ratio-in-name, ratio-type
            ratio: syntax, not-a-number, too-large, too-small, decimals
            judgments: character-in-text, character-in-name, name-too-long, not-text
            judgments: not-yes-or-no, unknown-kind, document-without-segment
            judgments: impossible-duration, not-a-time, not-a-unix-time, time-out-of-range
            judgments: time-in-the-1970s, no-row-in-table
            language: pair-unknown, code, pair, ambiguous, unknown, unknown-near
            media: missing, no-file-for, seconds, end-before-start, picture-times
            table: totals""",
        ),
        _kind(
            "unknown-segment",
            message("skip.unknown-segment", "rows of segments that the test set does not have"),
            """segment: unknown, unknown-near
            stored: no-segment""",
        ),
        _kind(
            "unknown-system",
            message("skip.unknown-system", "rows of systems that the test set does not have"),
            """system: unknown, unknown-near
            human-scores: system-without-outputs""",
        ),
        _kind(
            "unknown-output",
            message("skip.unknown-output", "rows of outputs that the test set does not have"),
            """judgments: no-stored-output
            human-scores: no-output
            scores: unknown-output""",
        ),
        _kind(
            "duplicate",
            message("skip.duplicate", "rows whose segment, output or score occurred before"),
            """segment: twice, twice-unicode
            output: twice, twice-unicode
            scores: system-score-twice, output-score-twice""",
        ),
        _kind(
            "contradiction",
            message("skip.contradiction", "rows that contradict an earlier row or the test set"),
            """segments: source, document, reference, attachments
            stored: source, document, reference, no-reference, output, attachments
            judgments: other-source, other-document, other-reference, other-output
            judgments: contradiction, rows-disagree, other-score-of-spans, differs-from-stored
            human-scores: other-output-score, other-system-score""",
        ),
        _kind(
            "score",
            message("skip.score", "rows whose score is not a number or is outside the scale"),
            """cell: not-a-number, decimal-comma
            judgments: score-outside, score-outside-scale, not-a-whole-number, bound-outside
            spans: score-unusable""",
        ),
        _kind(
            "span",
            message("skip.span", "rows with error spans that do not fit their texts"),
            """format: offsets-unequal
            spans: empty, not-a-list, lists-differ, offsets-not-numbers
            spans: words-absent, words-repeated, words-of-unknown-text
            spans: confidence-outside, severity-length, unknown-side
            judgments: offsets-not-numbers, unknown-side, unknown-severity
            judgments: span-empty, span-outside, span-marks-other-words
            judgments: span-of-no-single-judgment, protocol-without-spans""",
        ),
    )
}
KIND_OF = {code: name for name, kind in KINDS.items() for code in kind.codes}
HELP = (
    "skip rows with a problem of this kind instead of refusing the files, may be repeated; the "
    "number of skipped rows is stored: " + ", ".join(KINDS)
)


@dataclass
class Skips:
    """The rows to skip: those of the `kinds` that a person chose.

    `rows` are out of the tables since an earlier reading, by file and line with the kind; `found`
    are new in this reading. `offered` counts the rows with a problem of each kind.
    """

    kinds: frozenset[str] = frozenset()
    rows: dict[tuple[str, int], str] = field(default_factory=dict)
    found: dict[tuple[str, int], str] = field(default_factory=dict)
    removed: set[tuple[str, int]] = field(default_factory=set)
    offered: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    is_last: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """How many rows have a problem of each kind, those that are skipped included."""
        rows = {kind: set(found) for kind, found in self.offered.items()}
        for key, kind in self.rows.items():
            rows.setdefault(kind, set()).add(key)
        return {kind: len(rows[kind]) for kind in KINDS if kind in rows}

    def takes(self, code: str, place: Place) -> bool:
        """Return True if an error of a row is none, because the row is skipped."""
        kind = KIND_OF.get(code)
        if kind is None or place.row is None:
            return False
        key = (place.file, place.row)
        self.offered.setdefault(kind, set()).add(key)
        if kind not in self.kinds:
            return False
        if key in self.removed or (kind == TORN and key in self.rows):
            return True
        if self.is_last or key in self.rows:
            return False
        self.found.setdefault(key, kind)
        return True

    def remove(self, file: str, lines: Collection[int]) -> set[int]:
        """Return the lines of a table that are skipped; they must then be taken out."""
        name = printable(file)
        gone = {row for where, row in self.rows if where == name} if self.rows else set()
        self.removed |= {(name, line) for line in gone.intersection(lines)}
        return gone

    def messages(self, report: Report) -> list[tuple[Place, Message]]:
        """Return what was skipped, one message for each file and kind."""
        groups: dict[tuple[str, str], list[int]] = {}
        for (file, row), kind in sorted(self.rows.items()):
            sheet, line = report.in_sheet(file, row)
            groups.setdefault((sheet, kind), []).append(line or row)
        return [
            (
                Place(file),
                plural(
                    "skip.rows",
                    "{n} row was skipped: {kind} (row {rows:d}).",
                    "{n} rows were skipped: {kind} (first rows: {rows:d}).",
                    n=len(rows),
                    kind=KINDS[kind].label,
                    rows=rows[:FIRST],
                ),
            )
            for (file, kind), rows in groups.items()
        ]


def kinds_of(text: str) -> frozenset[str]:
    """Return the kinds that a text names, separated by commas; unknown ones are skipped."""
    return frozenset(text.split(",")) & KINDS.keys()


def skipped(report: Report) -> list[Message]:
    """Return what was skipped, to be stored with what was imported."""
    return [each.sentence for each in report.warnings if each.code == "skip.rows"]


def read_skipping(
    kinds: Collection[str], read: Callable[[Report], Result], *, limit: int | None = None
) -> tuple[Result, Report]:
    """Read files without the rows that have problems of some kinds; return the last report too.

    `read` reads and checks everything anew. What was skipped is in the report as warnings.
    """
    skips = Skips(frozenset(kinds))
    for number in range(MOST_READINGS):
        skips.is_last = number == MOST_READINGS - 1
        skips.removed, skips.offered = set(), {}
        report = Report(limit=limit, skips=skips)
        with relaxed():
            result = read(report)
        if not skips.found:
            break
        skips.rows |= skips.found
        skips.found = {}
    for place, text in skips.messages(report):
        report.warn(text, place)
    return result, report
