"""What is wrong, doubtful or worth knowing about an upload, and where: file, row and field."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, NoReturn

from core.text import join_truncated
from metaeval.messages import Message, untranslated

UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# What differs between two problems of one cause: names, values and numbers.
VALUES = re.compile(r"“[^”]*”|[0-9][0-9.,]*|\([^()]*\)")
PLACES = 5
Severity = Literal["error", "warning", "note"]


class Place(NamedTuple):
    """Where something stands. `row` is the line in the file, from 1, a header line included.

    `more` says how often one cause was found, and where next.
    """

    file: str = ""
    row: int | None = None
    field: str = ""
    more: str = ""

    @property
    def parts(self) -> list[str]:
        """What is known of it, the widest first."""
        row = "" if self.row is None else f"row {self.row}"
        return [part for part in (self.file, row, self.field, self.more) if part]

    def __str__(self) -> str:
        return ", ".join(self.parts)


NOWHERE = Place()


@dataclass(frozen=True)
class Problem:
    """One sentence about one place. `code` names what a page offers a way on for."""

    severity: Severity
    message: Message
    place: Place = NOWHERE
    code: str = ""

    def __str__(self) -> str:
        place = str(self.place)
        return f"{place}: {self.message}" if place else self.message


class EnoughError(Exception):
    """So much is wrong that reading on would help nobody; the report says so."""


@dataclass
class Report:
    """Everything found while reading and checking, in the order in which it was found.

    With a `limit`, the error that reaches it raises EnoughError: a damaged file of a million rows
    has a million errors. `is_cut` then says that there may be more.
    """

    problems: list[Problem] = field(default_factory=list)
    limit: int | None = None
    is_cut: bool = False

    def _add(
        self, severity: Severity, message: Message | str, place: Place, code: str = ""
    ) -> None:
        place = place._replace(file=printable(place.file), field=printable(place.field))
        told = message if isinstance(message, Message) else untranslated(printable(message))
        self.problems.append(Problem(severity, told, place, code))

    def error(self, message: Message | str, place: Place = NOWHERE, code: str = "") -> None:
        """Add something that forbids the import."""
        self._add("error", message, place, code)
        self._n_errors += 1
        if self.limit is not None and self._n_errors >= self.limit:
            self.stop(f"these are {self.limit:,} errors: the rest was not looked at")

    def stop(self, message: Message | str, place: Place = NOWHERE) -> NoReturn:
        """Add an error after which reading on makes no sense. Raises EnoughError."""
        self._add("error", message, place)
        self.is_cut = True
        raise EnoughError

    def warn(self, message: Message | str, place: Place = NOWHERE, code: str = "") -> None:
        """Add something that a person should look at before confirming."""
        self._add("warning", message, place, code)

    def note(self, message: Message | str, place: Place = NOWHERE) -> None:
        """Add something that was done to the files, such as leaving out a byte order mark."""
        self._add("note", message, place)

    def gather(self) -> None:
        """Put problems of one cause, found in many places of a file, in the place of one."""
        causes: dict[tuple[str, ...], list[Problem]] = {}
        for problem in self.problems:
            place = problem.place
            told = problem.message
            words = VALUES.sub("", told.text) if told.code == "text" else told.code
            key = (problem.severity, place.file, place.field, words, problem.code)
            causes.setdefault(key, []).append(problem)
        self.problems = [
            problem
            for found in causes.values()
            for problem in (found if len(found) <= PLACES else [_gathered(found)])
        ]

    def __post_init__(self) -> None:
        self._n_errors = len(self.errors)

    def _of(self, severity: Severity) -> list[Problem]:
        return [problem for problem in self.problems if problem.severity == severity]

    @property
    def errors(self) -> list[Problem]:
        """What forbids the import."""
        return self._of("error")

    @property
    def warnings(self) -> list[Problem]:
        """What is allowed but doubtful."""
        return self._of("warning")

    @property
    def notes(self) -> list[Problem]:
        """What was done to the files."""
        return self._of("note")


def _gathered(found: Sequence[Problem]) -> Problem:
    """Return the first problem of one cause, with the first places and a count."""
    first = found[0]
    rows = [str(each.place.row) for each in found[1:PLACES] if each.place.row is not None]
    others = f", also in rows {', '.join(rows)}" if rows else ""
    place = first.place._replace(more=f"{len(found):,} times{others}")
    return replace(first, place=place)


def join_places(rows: Sequence[int]) -> str:
    """Return where one cause was found, to stand behind its sentence; nothing for one place.

    >>> join_places([2]), join_places([2, 3, 5])
    ('', ' (3 rows: 2, 3, 5)')
    """
    if len(rows) == 1:
        return ""
    return f" ({len(rows):,} rows: {join_truncated([str(row) for row in rows])})"


def printable(text: str) -> str:
    """Write control characters and lone surrogates, which pages cannot show, as escapes."""
    return UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def showable(text: str) -> str:
    """Write lone surrogates, which no encoding can carry, as escapes; keep everything else."""
    return text.encode("utf-8", "backslashreplace").decode()


def some(names: list[str], limit: int = 5) -> str:
    """Join the first names: `a, b, c and 4 more`."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
