"""What is found wrong in a file of Pearmut, and what of it has no counterpart here."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from annotation.imports.jsonfiles import NAMES
from annotation.uploads.problems import Place, Report
from metaeval.messages import Message

TYPES = {"an object": dict, "a list": list, "text": str}


@dataclass
class Findings:
    """Problems by the path of the value, such as `data[0][2][1].tgt`.

    `left_out` counts what is lost, `kept` what stays in the file as it came, which goes out again,
    and has no effect here. `prefix` begins every path: in a list of campaigns, which it is;
    `is_alone` says that the file has no other.
    """

    file: str
    report: Report
    left_out: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    prefix: str = ""
    is_alone: bool = True

    def of(self, file: str) -> "Findings":
        """Findings of another file."""
        return Findings(file, self.report)

    def place(self, path: str) -> Place:
        """Where the value at a path stands."""
        return Place(self.file, None, f"{self.prefix}{path}")

    def error(self, path: str, message: Message | str) -> None:
        """Report something about the value at a path."""
        self.report.error(message, self.place(path))

    def say(self, path: str, message: str) -> None:
        """Warn of something about the value at a path."""
        self.report.warn(message, self.place(path))

    def is_a(self, path: str, value: Any, wanted: str) -> bool:
        """Whether a value has a type; reported if not."""
        if type(value) is TYPES[wanted]:
            return True
        self.error(path, f"{wanted} is expected, not {NAMES.get(type(value), 'this')}")
        return False

    def entries(self, path: str, values: Any) -> Iterator[tuple[Any, str]]:
        """Yield the values of a list with their paths; nothing if it is none."""
        if self.is_a(path, values, "a list"):
            for index, value in enumerate(values):
                yield value, f"{path}[{index}]"

    def warn(self) -> None:
        """Say what has no counterpart here."""
        place = Place(self.file, None, self.prefix.rstrip("."))
        for what, number in self.left_out.items():
            self.report.warn(f"{number} {what} are left out", place)
        for what, number in self.kept.items():
            message = f"{number} {what}: kept in the file and exported again, without effect here"
            self.report.warn(message, place)
