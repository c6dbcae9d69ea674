"""What is found wrong in a file of Pearmut, and what of it is left out."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from annotation.imports.jsonfiles import NAMES
from annotation.uploads.problems import Place, Report

TYPES = {"an object": dict, "a list": list, "text": str}


@dataclass
class Findings:
    """Problems by the path of the value, such as `data[0][2][1].tgt`."""

    file: str
    report: Report
    left_out: Counter[str] = field(default_factory=Counter)

    def error(self, path: str, message: str) -> None:
        """Report something about the value at a path."""
        self.report.error(message, Place(self.file, None, path))

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
        for what, number in self.left_out.items():
            self.report.warn(f"{number} {what} are left out", Place(self.file))
