"""The preview that all imports share: problems, files, columns, and the first rows as stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.http import HttpResponse

from annotation.forms.columns import ColumnsForm, SkipForm
from annotation.uploads.problems import Problem, Report
from core import languages
from metaeval.messages import Message

# Problems of one severity on a page; the list that can be downloaded has all of them.
MOST_ERRORS, MOST_OTHERS = 200, 20


class Heading(NamedTuple):
    """A column of the first rows, and the language of its texts."""

    label: Message | str
    code: str = ""

    @property
    def direction(self) -> str:
        """The direction of its texts."""
        return languages.direction(self.code) if self.code else "auto"


@dataclass(frozen=True)
class Preview:
    """What a page shows of files that were read.

    `tables` are the choices of what columns are, by file or under an empty name; `first` are the
    first rows as they will be stored, with None for what is missing.
    """

    report: Report
    skip: SkipForm | None = None
    tables: Sequence[tuple[str, ColumnsForm]] = ()
    headings: Sequence[Heading] = ()
    first: Sequence[Sequence[str | None]] = ()

    @property
    def errors(self) -> list[Problem]:
        """The first errors."""
        return self.report.errors[:MOST_ERRORS]

    @property
    def warnings(self) -> list[Problem]:
        """The first warnings."""
        return self.report.warnings[:MOST_OTHERS]

    @property
    def notes(self) -> list[Problem]:
        """The first notes."""
        return self.report.notes[:MOST_OTHERS]

    @property
    def is_cut(self) -> bool:
        """Whether some problems are not shown."""
        shown = (self.errors, self.warnings, self.notes)
        return sum(map(len, shown)) < len(self.report.problems)

    @property
    def rows(self) -> list[list[tuple[Heading, str | None]]]:
        """The first rows, every cell with its heading."""
        return [list(zip(self.headings, row, strict=True)) for row in self.first]


def download(report: Report) -> HttpResponse:
    """Return every problem as a text file."""
    lines = "".join(f"{problem.severity}\t{problem}\n" for problem in report.problems)
    headers = {"Content-Disposition": 'attachment; filename="problems.txt"'}
    return HttpResponse(lines, content_type="text/plain; charset=utf-8", headers=headers)
