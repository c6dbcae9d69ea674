"""Problems of an upload, each a message with its place: file, row and field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, NoReturn, Protocol

from core.messages import as_json
from metaeval.files.cells import SplitLine
from metaeval.messages import Message, Parameter, from_json, message, printable, truncated

# More problems of one cause than this are shown as one; beyond the second number, others of the
# cause are only counted.
PLACES, MOST_OF_ONE = 5, 2_000
Severity = Literal["error", "warning", "note"]


class Place(NamedTuple):
    """Where something is in a file.

    Attributes
    ----------
    row
        The line of the file, from 1, a header line included; a `SplitLine` names columns, too.
    field
        The column of a file, or a description where nothing was read from a file.
    """

    file: str = ""
    row: int | None = None
    field: str | Message = ""

    @property
    def label(self) -> str | Message:
        """The place as people read it: `a.tsv, row 3, source`."""
        label: str | Message = self.file
        if self.row is not None:
            label = within(label, message("place.row", "row {row:d}", row=self.row))
        return within(label, self.field)

    def __str__(self) -> str:
        return str(self.label)


def within(whole: str | Message, part: str | Message) -> str | Message:
    """Return a position within another one: `a.tsv, row 3`."""
    if not whole or not part:
        return whole or part
    return message("place.within", "{whole}, {part}", whole=whole, part=part)


NOWHERE = Place()


@dataclass(frozen=True)
class Problem:
    """A message about one place; `more` says how often the cause was found, and where else."""

    severity: Severity
    message: Message
    place: Place = NOWHERE
    more: Message | None = None

    @property
    def code(self) -> str:
        """The code of the message."""
        return self.message.code

    @property
    def sentence(self) -> Message:
        """The message with its place."""
        text, place = self.message, self.place.label
        if self.more:
            text = message("problem.repeated", "{problem} ({more})", problem=text, more=self.more)
        if not place:
            return text
        return message("problem.at", "{place}: {problem}", place=place, problem=text)

    def __str__(self) -> str:
        return self.sentence.text

    def as_json(self) -> dict[str, Any]:
        """Return the problem as programs get it."""
        return {
            "severity": self.severity,
            "file": self.place.file,
            "row": self.place.row,
            "field": str(self.place.field),
            **as_json(self.message),
            "more": as_json(self.more) if self.more else None,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the problem as it is stored: the field, too, is translated when it is shown."""
        field = self.place.field
        return self.as_json() | {"field": as_json(field) if isinstance(field, Message) else field}


def problem_from_json(values: Mapping[str, Any]) -> Problem:
    """Return the problem that `Problem.to_json` wrote."""
    field = values["field"]
    field = from_json(field) if isinstance(field, Mapping) else field
    place = Place(values["file"], values["row"], field)
    more = values["more"]
    return Problem(values["severity"], from_json(values), place, from_json(more) if more else None)


class EnoughError(Exception):
    """There are too many errors to continue; the report says so."""


@dataclass
class Seen:
    """What a file was recognised as.

    `format` is the name of the format, empty for plain text; `separator` parts the cells of a
    table, and `rows` counts its rows, or the lines of plain text. Of a workbook, `sheets` are those
    with content and `sheets_read` those that were read. `encodings` are those to choose from where
    the encoding is not certain, each with some of the text as it would be read. `words` has the
    order of the words in columns of scores, from the worst to the best. `systems` has the names of
    systems that the test set does not have, each with the one that a person says it is, which is
    among the `known_systems`.
    """

    file: str
    format: str = ""
    encoding: str = ""
    separator: str = ""
    rows: int | None = None
    sheets: list[str] = field(default_factory=list)
    sheets_read: list[str] = field(default_factory=list)
    encodings: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    systems: dict[str, str] = field(default_factory=dict)
    known_systems: list[str] = field(default_factory=list)


# What a person chooses for a file among the fields of its columns; no column is called so.
ENCODING, SHEETS, WORDS, SYSTEM = FOR_FILES = "(encoding)", "(sheets)", "(words)", "(system)"
# More unknown systems than these are not asked for one by one.
MOST_ASKED = 30
# A file, or all under an empty name -> column -> field.
Chosen = Mapping[str, Mapping[str, str]]


class RowsToSkip(Protocol):
    """Says of which errors the rows are skipped (`annotation.uploads.tables.skipping`)."""

    @property
    def counts(self) -> Mapping[str, int]:
        """How many rows have a problem of each kind."""

    def takes(self, code: str, place: Place) -> bool:
        """Return True if the row of an error is skipped, so that it is no error."""

    def remove(self, file: str, lines: Collection[int]) -> set[int]:
        """Return the lines of a table that are skipped; they must then be taken out."""


@dataclass(frozen=True)
class PlainReport:
    """What is kept of a report for its preview."""

    problems: list[Problem]
    files: list[Seen]
    counts: dict[str, int]


class Report:
    """Everything found while reading and checking, in the order in which it was found.

    With a `limit`, the error that reaches it raises EnoughError: a damaged file of a million rows
    has a million errors. `is_cut` then says that there may be more. `skips` are the rows that a
    person chose to skip, `chosen` the fields that a person chose for columns, and `files` what the
    files were recognised as. `headers` has, by file, the spelling in the file of the columns that
    readers name otherwise: errors name columns so.
    """

    def __init__(
        self,
        problems: Iterable[Problem] = (),
        *,
        limit: int | None = None,
        skips: RowsToSkip | None = None,
    ) -> None:
        self.problems = list(problems)
        self.limit, self.skips, self.is_cut = limit, skips, False
        self.files: dict[str, Seen] = {}
        self.chosen: Chosen = {}
        self.headers: dict[str, dict[str, str]] = {}
        self._sheets: dict[str, list[tuple[int, str]]] = {}
        self._n_errors = len(self.errors)
        self._times: Counter[tuple[str, str, str]] = Counter()
        self._counts: dict[str, int] = {}

    @classmethod
    def of(cls, plain: PlainReport) -> Report:
        """Return a report as it was kept."""
        report = cls(plain.problems)
        report.files = {each.file: each for each in plain.files}
        report._counts = plain.counts
        return report

    @property
    def plain(self) -> PlainReport:
        """What is kept for a preview."""
        return PlainReport(self.problems, list(self.files.values()), self.counts)

    @property
    def counts(self) -> dict[str, int]:
        """How many rows have a problem of each kind of those that can be skipped."""
        return dict(self.skips.counts) if self.skips else self._counts

    def saw(self, file: str, **facts: Any) -> None:
        """Record what a file was recognised as, by the fields of `Seen`."""
        name = printable(file)
        self.files[name] = replace(self.files.get(name) or Seen(name), **facts)

    def _add(self, severity: Severity, message: Message, place: Place) -> None:
        headers = self.headers.get(printable(place.file), {})
        message = self._with_headers(message, headers)
        place = self._as_written(place)
        place = place._replace(file=printable(place.file), field=_printable(place.field))
        cause = (severity, place.file, message.code)
        self._times[cause] += 1
        if self._times[cause] <= MOST_OF_ONE:  # a million rows have a million errors
            self.problems.append(Problem(severity, _printable(message), place))

    def name_columns(self, file: str, headers: Mapping[str, str]) -> None:
        """Record how a file writes columns: the name that readers use, then the header."""
        known = self.headers.setdefault(printable(file), {})
        known |= {name: title for name, title in headers.items() if title}

    def choice(self, file: str, what: str) -> str:
        """Return what a person chose for a file or column, of `FOR_FILES`; empty if nothing."""
        for_all = self.chosen.get("", {})
        own = self.chosen.get(file, {}).get(what)
        return own or for_all.get(f"{what} {file}") or for_all.get(what, "")

    def system_of(self, file: str, name: str, known: Collection[str]) -> str:
        """Return the system that a person says an unknown name is; the preview asks for it."""
        chosen = self.choice(name, SYSTEM)
        asked = self.files[printable(file)].systems if printable(file) in self.files else {}
        if name not in asked and len(asked) < MOST_ASKED:
            self.saw(file, systems={**asked, name: chosen}, known_systems=[*known])
        return chosen

    def name_sheets(self, file: str, sheets: Sequence[tuple[int, str]]) -> None:
        """Record the sheets of a table, each with its label and the number of lines before it."""
        self._sheets[printable(file)] = list(sheets)

    def in_sheet(self, file: str, row: int | None) -> tuple[str, int | None]:
        """Return the sheet of a line that is counted on from sheet to sheet, and its row there."""
        sheets = self._sheets.get(file, [])
        if row is None:
            return sheets[0][1] if len(sheets) == 1 else file, None
        before, label = max(((n, own) for n, own in sheets if n < row), default=(0, file))
        return label, row - before

    def _as_written(self, place: Place) -> Place:
        headers = self.headers.get(printable(place.file), {})
        file, row = self.in_sheet(printable(place.file), place.row)
        if isinstance(name := place.field, str):
            title = headers.get(name, name)
            if isinstance(place.row, SplitLine):
                column = place.row.columns.get(name) or place.row.columns.get(title, title)
                title = headers.get(column, column)
            place = place._replace(field=title)
        return place._replace(file=file, row=row)

    def _label_as_written(self, label: Message) -> Message:
        """Return the label of a place with its sheet, and its column as the file writes it."""
        parts: list[Any] = [label]
        while isinstance(parts[0], Message) and parts[0].code == "place.within":
            parts[:1] = [parts[0].parameters["whole"], parts[0].parameters["part"]]
        file, *rest = parts
        if not rest or not isinstance(file, str):
            return label
        is_row = isinstance(rest[0], Message) and rest[0].code == "place.row"
        row = rest.pop(0).parameters["row"] if is_row else None
        written = self._as_written(Place(file, row, rest[0] if rest else "")).label
        return written if isinstance(written, Message) else label

    def _with_headers(self, message: Message, headers: Mapping[str, str]) -> Message:
        """Return a message that names its `column`, and places in files, as the file does."""
        known = {
            name: self._label_as_written(value) if isinstance(value, Message) else value
            for name, value in message.parameters.items()
        }
        column, columns = known.get("column"), known.get("columns")
        if isinstance(column, str):
            known["column"] = headers.get(column, column)
        if isinstance(columns, list):
            known["columns"] = [headers.get(n, n) if isinstance(n, str) else n for n in columns]
        return (
            message if known == message.parameters else replace(message, parameters=known, text="")
        )

    def error(self, message: Message, place: Place = NOWHERE) -> None:
        """Add something that prevents the import, unless its row is skipped."""
        place = place._replace(file=printable(place.file))
        if self.skips and self.skips.takes(message.code, place):
            return
        self._add("error", message, place)
        self._n_errors += 1
        if self.limit is not None and self._n_errors >= self.limit:
            self.stop(_too_many(self.limit))

    def error_in_rows(self, message: Message, file: str, rows: Sequence[int]) -> None:
        """Add one error that several rows of a file have, unless they are skipped."""
        skips, name = self.skips, printable(file)
        if skips:
            rows = [row for row in rows if not skips.takes(message.code, Place(name, row))]
        if not rows:
            return
        self.error(message, Place(file, rows[0]))
        if len(rows) > 1 and self.problems[-1].code == message.code:
            sheet = self.in_sheet(name, rows[0])[0]
            places = [self.in_sheet(name, row) for row in rows[1:PLACES]]
            more = _repeated(len(rows), [row for own, row in places if own == sheet and row])
            self.problems[-1] = replace(self.problems[-1], more=more)

    def stop(self, message: Message, place: Place = NOWHERE) -> NoReturn:
        """Add an error after which reading on makes no sense. Raises EnoughError."""
        self._add("error", message, place)
        self.is_cut = True
        raise EnoughError

    def warn(self, message: Message, place: Place = NOWHERE) -> None:
        """Add something that a person should look at before confirming."""
        self._add("warning", message, place)

    def note(self, message: Message, place: Place = NOWHERE) -> None:
        """Add something that was done to the files, such as removing a byte order mark."""
        self._add("note", message, place)

    def warn_of(
        self, n: int, code: str, one: str, many: str, place: Place = NOWHERE, **about: Any
    ) -> None:
        """Add a warning about `n` cases, if there are any."""
        if n:
            self.warn(Message(code, one, {"n": n, **about}, many), place)

    def note_of(
        self, n: int, code: str, one: str, many: str, place: Place = NOWHERE, **about: Any
    ) -> None:
        """Add a note about `n` cases, if there are any."""
        if n:
            self.note(Message(code, one, {"n": n, **about}, many), place)

    def gather(self) -> None:
        """Replace problems of one cause in many places of a file by the first, with a count.

        A problem in the same place of several files is one that names the other files.
        """
        causes: dict[tuple[str, str, object, str], list[Problem]] = {}
        for problem in self.problems:
            place = problem.place
            # The fields of JSON are paths: one cause has as many as there are values.
            where: object = "" if "[" in str(place.field) else place.field
            if isinstance(place.field, Message):
                where = str(place.field.parameters.get("part"))
            cause = (problem.severity, place.file, where, problem.code)
            causes.setdefault(cause, []).append(problem)
        # A wide table has an error in as many columns as there are systems or segments.
        fields = Counter((severity, file, code) for severity, file, _, code in causes)
        merged: dict[object, list[Problem]] = {}
        for (severity, file, where, code), alike in causes.items():
            is_wide = severity == "error" and fields[severity, file, code] > PLACES
            key = (severity, file, "" if is_wide else where, code)
            merged.setdefault(key, []).extend(alike)
        self.problems = _in_files(
            problem
            for alike in merged.values()
            for problem in ([self._gathered(alike)] if _is_one(alike) else alike)
        )

    def _gathered(self, alike: Sequence[Problem]) -> Problem:
        """Return the first problem of one cause, with its number and the next places."""
        first = alike[0]
        cause = (first.severity, first.place.file, first.code)
        n = len(alike) + max(0, self._times[cause] - MOST_OF_ONE)
        rows = [each.place.row for each in alike[1:PLACES] if each.place.row is not None]
        fields = list(dict.fromkeys(str(each.place.field) for each in alike))[1:PLACES]
        if not fields:
            return replace(first, more=_repeated(n, rows))
        labels = [each.place._replace(file="").label for each in alike[1:PLACES]]
        places = fields if len({first.place.row, *rows}) == 1 else labels
        more = message("problem.times-at", "{n} times, next at {places}", n=n, places=places)
        return replace(first, more=more)

    def _of(self, severity: Severity) -> list[Problem]:
        return [problem for problem in self.problems if problem.severity == severity]

    @property
    def n_errors(self) -> int:
        """How many errors were reported, for readers that ask after every row."""
        return self._n_errors

    @property
    def errors(self) -> list[Problem]:
        """Problems that prevent the import."""
        return self._of("error")

    @property
    def warnings(self) -> list[Problem]:
        """Problems that a person should look at."""
        return self._of("warning")

    @property
    def notes(self) -> list[Problem]:
        """What was done to the files."""
        return self._of("note")


def _too_many(limit: int) -> Message:
    return message(
        "problem.too-many", "Reading stopped after {limit} errors. There may be more.", limit=limit
    )


def _is_one(alike: Sequence[Problem]) -> bool:
    """Return True for problems that are shown as one: many, or with the same message in rows."""
    if len(alike) > PLACES:
        return True
    first = alike[0]
    is_same = all(each.message == first.message and each.more is None for each in alike)
    return len(alike) > 1 and first.place.row is not None and is_same


def _in_files(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems that differ in their file alone as one that names the other files."""
    found: dict[object, list[Problem]] = {}
    for problem in problems:
        where = problem.place._replace(file="")
        same = (problem.severity, problem.code, repr(problem.message.parameters), repr(where))
        key = id(problem) if problem.more or not problem.place.file else same
        found.setdefault(key, []).append(problem)
    gathered = []
    for first, *others in found.values():
        files = dict.fromkeys(each.place.file for each in others)
        if first.place.file in files or not files:
            gathered += [first, *others]
            continue
        more = message("problem.in-files", "also in {files}", files=truncated(list(files)))
        gathered.append(replace(first, more=more))
    return gathered


def _repeated(n: int, rows: Sequence[int]) -> Message:
    if not rows:
        return message("problem.times", "{n} times", n=n)
    return message("problem.times-in-rows", "{n} times, next in rows {rows:d}", n=n, rows=rows)


def _printable(value: Parameter) -> Any:
    if isinstance(value, Message):
        parameters = {name: _printable(each) for name, each in value.parameters.items()}
        return replace(value, parameters=parameters, text="")
    if isinstance(value, list):
        return [_printable(each) for each in value]
    return printable(value) if isinstance(value, str) else value


def showable(text: str) -> str:
    """Write lone surrogates, which no encoding can carry, as escapes; keep everything else."""
    return text.encode("utf-8", "backslashreplace").decode()
