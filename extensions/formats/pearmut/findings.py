"""Report problems of a Pearmut file, and count what is skipped or has no effect."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.imports.jsonfiles import unexpected_type
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.cells import TYPE_NAMES
from metaeval.messages import Message, message


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
