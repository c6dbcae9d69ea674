"""Read JSON files of other tools, and report every problem with its file, path and key."""

import json
import re
from collections.abc import Iterator
from functools import reduce
from typing import Any

from annotation.uploads.checks import character
from annotation.uploads.files import InputFile, read_text
from annotation.uploads.formats.base import Door
from annotation.uploads.formats.registry import no_table, other_import
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.cells import TYPE_NAMES
from metaeval.messages import DataError, Message, message
from metaeval.reasons import reason_of

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


def missing_key(key: str) -> Message:
    """Return the message about a key that an object lacks."""
    return message("json.missing-key", "The key “{key}” is missing.", key=key)


def _either(first: Message, second: Message) -> Message:
    return message("json.either", "{first} or {second}", first=first, second=second)
