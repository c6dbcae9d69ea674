"""Values of objects in files of Appraise, each checked and reported with its position."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.imports.jsonfiles import missing_key, unexpected_type
from annotation.uploads.problems import Place, Report, within
from annotation.uploads.tables.cells import TYPE_NAMES
from metaeval.messages import Message, message


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
