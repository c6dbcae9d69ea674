"""Read JSON files of other tools, and report every problem with its file, path and key."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from annotation.uploads.checks import character
from annotation.uploads.files import InputFile, read_text
from annotation.uploads.problems import Place, Report, within
from annotation.uploads.tables.cells import TYPE_NAMES
from metaeval.messages import DataError, Message, message
from metaeval.reasons import reason_of

ESCAPES = re.compile(r"\\u(?:0000|d[89a-f])", re.IGNORECASE)
TABLES = (".csv", ".tsv", ".jsonl")
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def read_json(file: InputFile, report: Report, *, is_checked: bool = True) -> Any:
    """Return the values of a JSON file, or None with the reason reported.

    With `is_checked`, characters that cannot be stored are reported; readers that check every text
    themselves pass False.
    """
    text = read_text(file, report)
    if text is None:
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
        report.saw(file.name, format="JSON")
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
