"""Read JSON files of other tools, and report every problem with its file, path and key."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.uploads.checks import character
from annotation.uploads.files import InputFile, read_text
from annotation.uploads.formats.base import Door
from annotation.uploads.formats.registry import no_table, other_import
from annotation.uploads.problems import Place, Report, within
from annotation.uploads.tables.cells import TYPE_NAMES
from metaeval.messages import DataError, Message, message
from metaeval.reasons import reason_of
from metaeval.spans.span_table import EndsAtWords

ESCAPES = re.compile(r"\\u(?:0000|d[89a-f])", re.IGNORECASE)
TABLES = (".csv", ".tsv", ".jsonl")
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def read_json(
    file: InputFile, report: Report, door: Door | None = None, *, is_checked: bool = True
) -> Any:
    """Return the values of a JSON file, or None with the reason reported.

    What another import reads is refused, if the `door` is known. With `is_checked`, characters that
    cannot be stored are reported; readers that check every text themselves pass False.
    """
    text = read_text(file, report)
    if text is None:
        return None
    found = no_table(file.name, text)
    if door and found and door not in found.doors:
        report.error(other_import(found), Place(file.name))
        return None
    try:
        values = parse(text)
    except json.JSONDecodeError as error:
        report.error(_no_json(file.name, error), Place(file.name, error.lineno))
    except (ValueError, RecursionError) as error:
        report.error(
            message(
                "json.unusable",
                "This JSON cannot be used. The JSON reader says: “{reason}”.",
                reason=reason_of(error),
            ),
            Place(file.name),
        )
    else:
        for path, sign in unstorable(values) if is_checked and ESCAPES.search(text) else ():
            refusal = message(
                "json.character",
                "The text contains the character {character}, which is not allowed.",
                character=character(sign),
            )
            report.error(refusal, Place(file.name, None, path))
        report.saw(file.name, format=found.name if found else "JSON")
        return values
    return None


def _no_json(name: str, error: json.JSONDecodeError) -> Message:
    if name.lower().endswith(TABLES):
        return message(
            "json.is-table",
            "This file is not JSON. Use Import › A table of judgments, or import_judgments.",
        )
    return message(
        "json.invalid",
        "This file is not JSON from character {column} on. The JSON reader says: “{reason}”.",
        reason=error.msg,
        column=error.colno,
    )


def parse(text: str) -> Any:
    """Return the values of JSON. Raises ValueError for invalid JSON, NaN and infinities."""
    return json.loads(text, parse_constant=_refuse)


def unexpected_type(value: Any, *expected: Message) -> Message:
    """Return the message about a value that has none of the expected types."""
    return message(
        "json.wrong-type",
        "The value must be {expected}, not {actual}.",
        expected=reduce(_either, dict.fromkeys(expected)),
        actual=TYPE_NAMES[type(value)],
    )


def unstorable(values: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield path and character of texts and names that a database cannot store.

    These are NUL and lone surrogates. UTF-8 files can only have them as escapes, so callers search
    a file for ESCAPES first.
    """
    waiting = [(path, values)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{path}.{key}".lstrip("."), each) for key, each in value.items()]
            waiting += [(path, key) for key in value]
        elif isinstance(value, list):
            waiting += [(f"{path}[{index}]", each) for index, each in enumerate(value)]
        elif isinstance(value, str) and (found := UNSTORABLE.search(value)):
            yield path, found[0]


def _refuse(name: str) -> None:
    raise DataError(message("json.constant", "{name} is not allowed in JSON", name=name))


@dataclass(frozen=True)
class Keys:
    """An object of a JSON file, with its position for messages about its values."""

    values: Mapping[str, Any]
    file: str
    where: str | Message
    report: Report

    def path(self, key: str | Message = "") -> str | Message:
        """Return the path to a value within the file."""
        return within(self.where, key)

    def place(self, key: str | Message = "") -> Place:
        """Return the place of a value: file and path."""
        return Place(self.file, None, self.path(key))

    def error(self, key: str | Message, message: Message) -> None:
        """Report an error of a value."""
        self.report.error(message, self.place(key))

    def get(self, key: str, *types: type, default: Any = None, required: bool = True) -> Any:
        """Return a value that has one of these types, or else the default and report why.

        True and false do not count as numbers.
        """
        if key not in self.values:
            if required:
                self.error(key, missing_key(key))
            return default
        value = self.values[key]
        if type(value) not in types:
            self.error(key, unexpected_type(value, *(TYPE_NAMES[each] for each in types)))
            return default
        return value

    def name(self, key: str, *, required: bool = True) -> str:
        """Return an id: text, or a whole number written as text."""
        value = self.get(key, str, int, default="", required=required)
        text = str(value).strip()
        if required and isinstance(self.values.get(key), str) and not text:
            self.error(key, message("json.empty", "“{key}” is empty.", key=key))
        return text

    def text(self, key: str) -> str:
        """Return a text unchanged."""
        text: str = self.get(key, str, default="")
        return text

    def whole(self, key: str, low: int, high: int) -> int:
        """Return a whole number of a range, or `low` and report why."""
        value: int = self.get(key, int, default=low)
        if not low <= value <= high:
            self.error(
                key,
                message(
                    "json.range",
                    "“{key}” is {value:d}, but must be from {low:d} to {high:d}.",
                    key=key,
                    value=value,
                    low=low,
                    high=high,
                ),
            )
            return low
        return value


def missing_key(key: str) -> Message:
    """Return the message about a key that an object lacks."""
    return message("json.missing-key", "The key “{key}” is missing.", key=key)


def _either(first: Message, second: Message) -> Message:
    return message("json.either", "{first} or {second}", first=first, second=second)


# Find out whether the ends of errors marked beforehand name their last character.

INCLUDED, EXCLUDED = "included", "excluded"
CHOICES = (
    ("", _("inferred from the words of the texts")),
    (INCLUDED, _("the last character (as the tool writes them)")),
    (EXCLUDED, _("the position after it (lists made elsewhere)")),
)


def ends_are_included(
    count: Callable[[], EndsAtWords], stated: str, report: Report, place: Place
) -> bool:
    """Return whether ends are included: as stated, else as most words suggest, else ask."""
    if stated:
        return stated != EXCLUDED
    words = count()
    counts = {"included": words.included, "excluded": words.excluded, "n": words.n}
    if words.n and words.are_included is None:
        refusal = message(
            "ends.unclear",
            "State whether the ends of errors marked beforehand name the last character "
            "({included} of {n} then end with a word) or the position after it ({excluded} of "
            "{n}).",
            **counts,
        )
        report.error(refusal, place)
    elif words.n:
        text = (
            message(
                "ends.read-as-included",
                "The ends of errors marked beforehand were read as the last character: {included} "
                "of {n} then end with a word, and {excluded} if ends are the position after it.",
                **counts,
            )
            if words.are_included
            else message(
                "ends.read-as-excluded",
                "The ends of errors marked beforehand were read as the position after the last "
                "character: {excluded} of {n} then end with a word, and {included} if ends are the "
                "last character.",
                **counts,
            )
        )
        report.warn(text, place)
    return words.are_included is not False


# Report problems of a Pearmut file, and count what is skipped or has no effect.


def no_output(name: str) -> Message:
    """Return the message about a name that no output of the item has."""
    return message("pearmut.no-output-of-name", "There is no output “{name}”.", name=name[:80])


@dataclass
class Findings:
    """Problems by the path of the value, such as `data[0][2][1].tgt`.

    `counts` has messages about values that are skipped, or that stay in the stored file without
    effect, with the number of these values. `prefix` begins every path: in a list of campaigns, the
    campaign's index; `is_alone` is True if the file has no other campaign.
    """

    file: str
    report: Report
    counts: Counter[Message] = field(default_factory=Counter)
    prefix: str = ""
    is_alone: bool = True

    def of(self, file: str) -> "Findings":
        """Return empty findings of another file, for the same report."""
        return Findings(file, self.report)

    def place(self, path: str) -> Place:
        """Return the place of the value at a path; an empty path is the whole file."""
        return Place(self.file, None, f"{self.prefix}{path}".rstrip("."))

    def error(self, path: str, problem: Message) -> None:
        """Report an error of the value at a path."""
        self.report.error(problem, self.place(path))

    def warn(self, path: str, warning: Message) -> None:
        """Report a warning about the value at a path."""
        self.report.warn(warning, self.place(path))

    def is_a(self, path: str, value: Any, expected: type) -> bool:
        """Return True if a value has a type; otherwise report an error."""
        if type(value) is expected:
            return True
        self.error(path, unexpected_type(value, TYPE_NAMES[expected]))
        return False

    def entries(self, path: str, values: Any) -> Iterator[tuple[Any, str]]:
        """Yield the values of a list with their paths; report an error for anything else."""
        if self.is_a(path, values, list):
            for index, value in enumerate(values):
                yield value, f"{path}[{index}]"

    def warn_of_counts(self) -> None:
        """Report a warning for each message of `counts`, with its number."""
        for counted, n in self.counts.items():
            parameters = {**counted.parameters, "n": n}
            self.warn("", replace(counted, parameters=parameters, text=""))
