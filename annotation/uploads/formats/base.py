"""Define what a format is, and the imports that may read it."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from annotation.uploads.problems import Report
from annotation.uploads.tables.columns import unnamed
from annotation.uploads.tables.pairs import Pair
from annotation.uploads.tables.rows import Table
from metaeval.files.names import Field, fields_of
from metaeval.messages import Message, message

# The imports. Each has a name that people read; the first ones take tables.
TEST_SET, JUDGMENTS, HUMAN_SCORES, METRIC_SCORES, SPANS = TABLES = (
    message("import.test-set", "a test set"),
    message("import.judgments", "judgments"),
    message("import.human-scores", "human scores"),
    message("import.metric-scores", "metric scores"),
    message("import.spans", "error spans"),
)
GOLD, CAMPAIGN_FILE, FOLDER, DATA_SET = OTHERS = (
    message("import.gold", "gold items"),
    message("import.campaign-file", "a campaign file"),
    message("import.mt-metrics-eval", "a folder of mt-metrics-eval"),
    message("import.data-set", "a published data set"),
)
DOORS = (*TABLES, *OTHERS)
Door = Message


@dataclass(frozen=True)
class Content:
    """The content of one file: the table in it, or the text of a file that is not a table."""

    name: str
    text: str = ""
    table: Table | None = None


@dataclass(frozen=True)
class Import:
    """The import that reads files; `pair` are the languages of its test set, empty if unknown."""

    door: Door
    report: Report
    pair: Pair = ("", "")

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields that the import reads."""
        return fields_of(self.door.code.removeprefix("import."))

    def has_names(self, file: str) -> bool:
        """Return False if the first row of a file is data."""
        return not {"", file} & {*unnamed(self.report.chosen)}


Reader = Callable[[Sequence[Content], Import], Iterable[Table]]


@dataclass(frozen=True)
class Format:
    """A format of files, which `read` turns into tables under the names of our fields.

    Files that are not tables are recognised by name and text (`begins`), others by the table in
    them (`has`). `sign` says so in the reference. `read` gets all files of the format at once;
    without it the imports have a reader of their own, because the files are no tables. A format of
    an extension is tried before the one that `before` names, or last.
    """

    name: str
    sign: str
    doors: tuple[Door, ...]
    read: Reader | None = None
    begins: Callable[[str, str], bool] | None = None
    has: Callable[[Table], bool] | None = None
    before: str = ""


def with_columns(*names: str) -> Callable[[Table], bool]:
    """Return the test for a table with some columns."""
    return lambda table: set(names) <= set(table.columns)


def has_keys(*keys: str) -> Callable[[str, str], bool]:
    """Return the test for JSON with some keys, in any order and depth."""
    wanted = [re.compile(rf'"{key}"\s*:') for key in keys]

    def begins(name: str, text: str) -> bool:
        return text.lstrip()[:1] in ("{", "[") and all(each.search(text) for each in wanted)

    return begins


def tables_of(contents: Sequence[Content], to: Import | None = None) -> Iterator[Table]:
    """Yield the tables of files as they are."""
    return (content.table for content in contents if content.table is not None)
