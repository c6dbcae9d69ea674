"""Read the files of an import as tables, whichever format they have.

Formats are declared here, or by an extension (`core.extensions.Extension.formats`). Files of no
declared format are tables: TSV, CSV, XLSX, Parquet or JSON (`annotation.uploads.tables.rows`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

from annotation.uploads.files import InputFile, decode, read_bytes
from annotation.uploads.formats import scores
from annotation.uploads.formats.base import (
    CAMPAIGN_FILE,
    DATA_SET,
    DOORS,
    FOLDER,
    HUMAN_SCORES,
    JUDGMENTS,
    METRIC_SCORES,
    TABLES,
    TEST_SET,
    Content,
    Door,
    Format,
    Import,
    has_keys,
    tables_of,
    with_columns,
)
from annotation.uploads.problems import Place
from annotation.uploads.tables.columns import FIRST, refuse_totals, without_rivals
from annotation.uploads.tables.nested import unnested
from annotation.uploads.tables.objects import GROUP
from annotation.uploads.tables.pairs import with_languages
from annotation.uploads.tables.rows import (
    Table,
    binary_tables,
    is_binary,
    of_grid,
    parse,
    without_skipped,
)
from annotation.uploads.tables.sheets import with_sheets
from annotation.uploads.tables.spooled import in_blocks
from core import extensions
from metaeval.files.cells import too_many_cells
from metaeval.files.decoding import split_lines
from metaeval.files.grids import CSV, Grid
from metaeval.files.names import is_known
from metaeval.messages import Message, message

# Read tables separated by blanks, as R's `write.table` and Google's mean scores.

# Possessive: a quotation mark that nothing closes is looked for once.
CELL = re.compile(r'"(?P<quoted>[^"]*+)"(?=\s|$)|\S++')


def _cells(line: str) -> list[str]:
    return [found["quoted"] or found[0].strip('"') for found in CELL.finditer(line)]


def is_table(name: str, text: str) -> bool:
    """Return True if the header has known names and no other separator, and rows have its width.

    Rows may have one cell more: the names that R gives them.
    """
    head, _, rest = text.partition("\n")
    if any(sign in head for sign in "\t,;|<{["):
        return False
    columns = _cells(head)
    if len(columns) < 2 or not any(map(is_known, columns)):
        return False
    widths = {len(_cells(line)) for line in split_lines(rest) if line.strip()}
    return widths in ({len(columns)}, {len(columns) + 1})


def read(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield the tables."""
    for content in contents:
        table = of_grid(content.name, partial(_grid, content.text), to.report)
        if table is not None:
            yield table


def _grid(text: str) -> Grid:
    lines = enumerate(split_lines(text), 1)
    (first, header), *rows = [(number, _cells(line)) for number, line in lines if line.strip()]
    n_names = len(rows[0][1]) - len(header)
    grid = Grid(CSV, header, [(number, cells[n_names:]) for number, cells in rows], first=first)
    if n_names:
        grid.note(message("format.row-names", "The names of the rows were skipped."))
    return grid


# Columns by which our own exports are recognised: no other table has them together.
OUR_JUDGMENTS = frozenset({"is_simulated", "is_current", "z_targets", "n_columns", "sent_together"})
OUR_SUGGESTIONS = frozenset({"judgment", "origin", "fate", "shown_start", "shown_side"})
# No table with a row for each score has more columns.
MOST_OF_LONG = 100
FORMATS = (
    Format(
        "a campaign of Touchstone",
        "JSON with `touchstone`, `texts` and `task`",
        (CAMPAIGN_FILE,),
        begins=has_keys("touchstone", "texts", "task"),
    ),
    Format(
        "mt-metrics-eval folder",
        "folders `sources`, `references`, `system-outputs`, `documents` and so on",
        (FOLDER,),
    ),
    Format("published data set", "its name, and a folder on the server", (DATA_SET,)),
    Format(
        "our export of judgments",
        "columns `is_simulated`, `is_current`, `z_targets`, `n_columns` and `sent_together`",
        (JUDGMENTS,),
        tables_of,
        has=with_columns(*OUR_JUDGMENTS),
    ),
    Format(
        "our export of suggestions",
        "columns `judgment`, `origin`, `fate`, `shown_start` and `shown_side`",
        (JUDGMENTS,),
        tables_of,
        has=with_columns(*OUR_SUGGESTIONS),
    ),
    Format(
        "mt-metrics-eval scores",
        "names that end with `.seg.score` or `.sys.score`",
        (METRIC_SCORES,),
        scores.read_score_files,
        begins=scores.is_score_file,
    ),
    Format(
        "COMET’s JSON",
        "`comet-score --to_json`: lists of objects with `src` and `mt` by file of a system",
        (METRIC_SCORES,),
        tables_of,
        has=with_columns(GROUP, "src", "mt"),
    ),
    Format(
        "MetricX’s JSON lines",
        "`prediction` beside `hypothesis`",
        (METRIC_SCORES,),
        tables_of,
        has=with_columns("hypothesis", "prediction"),
    ),
    Format(
        "sacreBLEU’s JSON",
        "`name`, `score` and `signature`",
        (METRIC_SCORES,),
        tables_of,
        has=with_columns("name", "score", "signature"),
    ),
    Format(
        "scores that COMET printed",
        "a first line such as `NAME⇥Segment 0⇥score: 0.5`",
        (METRIC_SCORES,),
        scores.read_printed,
        begins=scores.is_printed,
    ),
    Format(
        "one score per line",
        "numbers alone, as BLEURT and pymarian write them",
        (METRIC_SCORES,),
        scores.read_lines,
        begins=scores.is_lines,
    ),
    Format(
        "JSON lists of scores",
        "`.json`: a list of numbers, lists by system, or `scores` beside `mean_score` (evaluate)",
        (METRIC_SCORES,),
        scores.read_arrays,
        begins=scores.is_arrays,
    ),
    Format(
        "a table separated by blanks",
        "a header of names of columns, and rows with as many words or quoted cells",
        TABLES,
        read,
        begins=is_table,
    ),
)


def declared() -> list[Format]:
    """Return all formats in the order in which they are tried."""
    return extensions.placed(FORMATS, chain.from_iterable(extensions.imported("formats")))


def doors() -> list[Door]:
    """Return all imports: those of the core, and others that formats name."""
    return [*dict.fromkeys((*DOORS, *(door for each in declared() for door in each.doors)))]


def read_files(
    files: Iterable[InputFile],
    to: Import,
    *,
    check: Callable[[str, str], None] | None = None,
    prepare: Callable[[Table], bool] | None = None,
) -> list[Table]:
    """Return the tables of files in their order; what is wrong goes to the report.

    `check` gets name and text of each file before it is read, `prepare` each table before its
    format is recognised; tables for which it returns False are skipped.
    """
    groups: list[tuple[Format | None, list[Content]]] = []
    named: list[str] = []
    for content, found in (each for file in files for each in _contents(file, to, check)):
        name = content.name
        if not to.has_names(name):
            named += [] if content.table and FIRST in content.table.columns else [name]
        if content.table and prepare and not prepare(content.table):
            continue
        found = found or _recognised(content, to.door)
        if found is not None:
            text = message("format.read", "The file was read as {format}.", format=found.name)
            to.report.note(text, Place(name))
            to.report.saw(name, format=found.name)
        group = next((own for each, own in groups if found is not None and each is found), None)
        if group is None:
            groups.append((found, [content]))
        else:
            group.append(content)
    read = (table for found, group in groups for table in _tables(found, group, to))
    tables = [table for table in read if not _is_too_wide(table, to)]
    if named and all(FIRST not in table.columns for table in tables):
        refusal = message(
            "columns.named-in-file",
            "The first row cannot be data: this kind of file names its columns. Import it without "
            "that choice (command line: without --headless).",
        )
        to.report.error(refusal, Place(named[0]))
    tables = [without_skipped(table, to.report) for table in tables]
    for table in tables if to.door in (JUDGMENTS, HUMAN_SCORES) else ():
        refuse_totals(table, to.report)
    return tables


def _is_too_wide(table: Table, to: Import) -> bool:
    """Report a table of many columns that would become too many rows before each is looked at."""
    n_columns = len(table.columns)
    refusal = too_many_cells(len(table.rows) * n_columns) if n_columns > MOST_OF_LONG else None
    if refusal is not None:
        to.report.error(refusal, table.head)
    return refusal is not None


def _tables(found: Format | None, group: list[Content], to: Import) -> Iterable[Table]:
    if found is None or found.read is None:
        named = (unnested(each.table, to.report) for each in group if each.table is not None)
        tables = [without_rivals(table, to.fields) for table in named if table]
        target = "reference" if to.door is TEST_SET else "output"
        return [with_languages(table, to.pair, target, to.report) for table in tables]
    return found.read(group, to)


def _recognised(content: Content, door: Door | None = None) -> Format | None:
    """Return the format of a file among those of one import, or among all; None for a table."""
    for each in declared():
        if door is not None and door not in each.doors:
            continue
        if content.table is not None:
            if each.has is not None and each.has(content.table):
                return each
        elif each.begins is not None and each.begins(content.name, content.text):
            return each
    return None


def no_table(name: str, text: str) -> Format | None:
    """Return the format of a file that an import of no tables reads, or None."""
    own = (each for each in declared() if each.read is None and each.begins is not None)
    return next((each for each in own if each.begins and each.begins(name, text)), None)


def other_import(found: Format) -> Message:
    """Return the message about a file that another import reads."""
    return message(
        "format.other-import",
        "This file is {format}. Import it as {imports}.",
        format=found.name,
        imports=list(found.doors),
    )


def is_marked(name: str, start: str) -> bool:
    """Return True if a file of a test set states what its texts are; `start` is its beginning."""
    return _recognised(Content(name, start), TEST_SET) is not None


def _contents(
    file: InputFile, to: Import, check: Callable[[str, str], None] | None
) -> list[tuple[Content, Format | None]]:
    """Return the text of a file that is not a table, with its format, or else its tables."""
    name, report = file.name, to.report

    def is_plain(name: str, text: str) -> bool:
        is_known = _recognised(Content(name, text), to.door) or no_table(name, text)
        return not is_known and not text.lstrip().startswith("<")

    if to.has_names(name) and (table := in_blocks(file, report, is_plain)):
        return [(Content(name, table=table), None)]
    data = read_bytes(file, report)
    if data is None:
        return []
    if is_binary(name, data):
        door = to.door.code.removeprefix("import.")
        found = binary_tables(name, data, report, has_names=to.has_names(name), door=door)
        tables = [with_sheets(table, door, report) for table in found]
        return [(Content(table.file, table=table), None) for table in tables]
    if (text := decode(name, data, report)) is None:
        return []
    del data  # the text is enough: a large file is not held twice
    if check is not None:
        check(name, text)
    content = Content(name, text)
    if (form := _recognised(content, to.door)) is not None:
        return [(content, form)]
    before, table = len(report.problems), None
    other = _recognised(content) if text.lstrip().startswith("<") else no_table(name, text)
    if other is None:
        table = parse(name, text, report, has_names=to.has_names(name))
        is_wrong = any(problem.severity == "error" for problem in report.problems[before:])
        other = _recognised(content) if is_wrong else None
    if other is None:
        return [(Content(name, table=table), None)] if table else []
    # Say what the file is, not what is wrong with it as a table.
    del report.problems[before:]
    report.error(other_import(other), Place(name))
    return []
