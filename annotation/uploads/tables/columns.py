"""Match the columns of a person's table with fields: by their names, or as the person chose.

The fields and their names are declared in `metaeval.files.names`, for every import.
"""

import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace

from annotation.uploads.problems import FOR_FILES, Place, Report
from annotation.uploads.tables.rows import Table
from metaeval.files.names import PLACES, Field, column_of, is_called, plain
from metaeval.messages import message, truncated

# Columns of what a person translated, where another one has outputs or the text before edits.
TARGETS, UNEDITED = ("target", "tgt", "target_text", "tgt_text"), "original_target"
# A table with one of these has a row for each error.
OF_ERRORS = frozenset({"severity", "marked_text", "span_start"})
# What columns without names are called.
NUMBERED = re.compile(r"\s*column [1-9]\d*\s*", re.IGNORECASE)
FIRST = "column 1"


def propose(
    columns: Sequence[str],
    fields: Iterable[Field],
    chosen: Mapping[str, str] | None = None,
    constants: Container[str] = (),
) -> dict[str, str]:
    """Return the field of every column that has one; a field belongs to one column at most.

    `chosen` has the person's choices for some columns, with an empty field for unused columns;
    they are returned unchanged. For the others exact names precede synonyms, and synonyms go by
    their order. A comment in brackets at the end of a name, such as a scale, is not part of it.
    `constants` are outputs only where no other column can be. A target beside outputs is a
    reference.
    """
    fields, found = list(fields), dict(chosen or {})
    is_edited = any(is_called(column, (UNEDITED,)) for column in columns)
    free = [column for column in columns if column not in found]
    for field in fields:
        if field.name in found.values():
            continue
        by_name = {plain(column): column for column in reversed(free)}
        own = [by_name[name] for name in map(plain, field.names) if name in by_name]
        if field.name == "output":
            own = [column for column in own if not (is_edited and is_called(column, TARGETS))]
            own.sort(key=lambda column: column in constants)
        if column := next(iter(own), ""):
            found[column] = field.name
            free.remove(column)
    has_outputs = any(field.partition(":")[0] in ("output", "system") for field in found.values())
    if (has_outputs or is_edited) and "reference" in {field.name for field in fields}:
        target = next((column for column in free if is_called(column, TARGETS)), "")
        if target and "reference" not in found.values():
            found[target] = "reference"
    return found


def numbering(table: Table, fields: Mapping[str, str], known: Container[str] = ()) -> str:
    """Return the column that numbers the segments where no other names them; empty if none does.

    A number is that of one source, all are among the `known` keys if there are any, and where
    rows are of several systems or of errors it is repeated: others number rows.
    """
    has = frozenset(fields.values())
    free = (c for c in table.columns if is_called(table.titles.get(c, c), PLACES))
    column = next((c for c in free if c not in fields), "")
    if not column or has & {"segment", "item", "document_place"}:
        return ""
    numbers = ["" if cell is None else str(cell).strip() for cell in table.column(column)]
    if not all(numbers) or (known and not all(number in known for number in numbers)):
        return ""
    cells = {field: table.column(c) for c, field in fields.items() if field}
    n, n_rows = len({*numbers}), len(numbers)
    source = map(str, cells.get("source", numbers))
    if len({*zip(numbers, source, strict=True)}) > n:
        return ""
    is_repeated = len({*map(str, cells.get("system", ()))}) > 1 or has & OF_ERRORS
    return column if (n < n_rows if is_repeated else n == n_rows) else ""


def read_chosen(
    tables: Sequence[Table],
    fields: Sequence[Field],
    report: Report,
    *,
    repeatable: Collection[str] = (),
    others: Callable[[str], bool] = lambda field: False,
) -> list[dict[str, str]]:
    """Return the fields that a person chose for columns of each table; an empty one is not used.

    The report has them by file, or for all under an empty name. Columns are named as in the file,
    without regard to case, and fields by any of their names; `others` accepts further ones. Columns
    that no table has, unknown fields, and two columns of one field are errors.
    """
    found: list[dict[str, str]] = [{} for _ in tables]
    for file, own in report.chosen.items():
        here = [n for n, table in enumerate(tables) if file in ("", table.file)]
        for column, stated in own.items():
            if column.startswith(FOR_FILES):
                continue
            named = [(n, name) for n in here if (name := _column_named(column, tables[n]))]
            field = _field_named(stated.strip(), fields, others)
            if here and not named:
                known = {tables[n].titles.get(c, c): None for n in here for c in tables[n].columns}
                place = tables[here[0]].head if file else None
                refuse_absent(column, known, report, place)
            elif field is None:
                refusal = message(
                    "columns.no-field",
                    "“{field}” is not a field. Use {fields}.",
                    field=stated,
                    fields=[each.name for each in fields],
                )
                place = tables[here[0]].head if here else Place()
                report.error(refusal, place._replace(field=column))
            else:
                for n, name in named:
                    found[n][name] = field
    for table, own in zip(tables, found, strict=True):
        _refuse_twice(table, own, report, repeatable)
    return found


def _column_named(name: str, table: Table) -> str:
    """Return the column that a person calls so; empty if there is none."""
    if name in table.columns:
        return name
    wanted = name.strip().casefold()
    return next(
        (c for c in table.columns
         if wanted in (c.strip().casefold(), table.titles.get(c, c).strip().casefold())), ""
    )  # fmt: skip


def _field_named(name: str, fields: Sequence[Field], others: Callable[[str], bool]) -> str | None:
    if not name or name in {field.name for field in fields} or others(name):
        return name
    return next((field.name for field in fields if is_called(name, field.names)), None)


def _refuse_twice(
    table: Table, fields: Mapping[str, str], report: Report, repeatable: Collection[str] = ()
) -> bool:
    """Report columns whose field another one has, and return whether there are any."""
    first: dict[str, str] = {}
    twice = [
        (column, field)
        for column, field in fields.items()
        if field and first.setdefault(field, column) != column and field not in repeatable
    ]
    for column, field in twice:
        refuse_same(table, first[field], column, field, report)
    return bool(twice)


def refuse_same(table: Table, first: str, column: str, field: str, report: Report) -> None:
    """Report a column that has what the `first` one has."""
    refusal = message(
        "columns.same-field",
        "The column “{column}” is already used for the field “{field}”.",
        column=table.titles.get(first, first),
        field=field,
    )
    report.error(refusal, table.head._replace(field=table.titles.get(column, column)))


def unnamed(chosen: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the files whose columns a person calls by numbers: their first rows are data.

    An empty name is every file.

    >>> unnamed({"": ["column 1", "column 2"], "b.tsv": ["sid"]})
    ['']
    """
    return [file for file, columns in chosen.items() if any(map(NUMBERED.fullmatch, columns))]


def refuse_absent(
    column: str, columns: Collection[str], report: Report, place: Place | None = None
) -> None:
    """Report a column that a person named and no table has; `columns` are those of the tables.

    If it is called by its number and no column is, the files name theirs, which was reported.
    """
    if FIRST in columns or not NUMBERED.fullmatch(column):
        refusal = message(
            "columns.absent",
            "There is no column “{column}”. The columns are {columns}.",
            column=column,
            columns=truncated(list(columns), 30),
        )
        report.error(refusal, place or Place(field="column"))


def refuse_unknown(table: Table, report: Report) -> None:
    """Report that no column of a table is known, and that its first row may be data."""
    titles = [table.titles.get(column, column) for column in table.columns]
    if all(map(NUMBERED.fullmatch, table.columns)):
        refusal = message(
            "columns.without-names",
            "The columns of this table have no names. Choose what they are: {columns}.",
            columns=truncated(titles, 30),
        )
    else:
        refusal = message(
            "columns.none-known",
            "No column has a known name: the first row reads {columns}. If that row is data, say "
            "so (on the page below the columns; command line: --column “column 1=segment”; API: "
            "columns), then say what columns 1, 2, … contain. Otherwise say what the columns "
            "contain.",
            columns=truncated(titles, 30),
        )
    report.error(refusal, table.head)


def say_unused(table: Table, used: Container[str], report: Report) -> list[str]:
    """Warn of unused columns with content, which are returned, and note the empty ones."""
    rest = [column for column in table.columns if column not in used]
    empty = [c for c in rest if all(cell in (None, "", [], {}) for cell in table.column(c))]
    titles = [table.titles.get(column, column) for column in rest if column not in empty]
    report.warn_of(
        len(titles),
        "columns.unused",
        "The column {columns} is not used. If it has something that is missing here, say what "
        "it is.",
        "The columns {columns} are not used. If one of them has something that is missing "
        "here, say what it is.",
        table.head,
        columns=truncated(titles, 50),
    )
    report.note_of(
        len(empty),
        "columns.empty",
        "The column {columns} is empty and not used.",
        "The columns {columns} are empty and not used.",
        table.head,
        columns=truncated([table.titles.get(column, column) for column in empty]),
    )
    return titles


def without_all(table: Table, report: Report) -> Table:
    """Return a table of whole systems, whose segments are all called `all`, without their column.

    So are WMT25's scores of systems; documents and domains are, too.
    """
    columns = [column_of(field, table.columns) for field in ("segment", "document", "domain")]
    named = [c for c in columns if c and {str(cell).lower() for cell in table.column(c)} == {"all"}]
    if not columns[0] or columns[0] not in named:
        return table
    text = message(
        "columns.of-all", "The scores are those of whole systems: {columns} say “all”.",
        columns=[table.titles.get(column, column) for column in named],
    )  # fmt: skip
    report.note(text, table.head)
    return table.with_columns({c: c for c in table.columns if c not in named})


def renamed(table: Table, fields: Mapping[str, str]) -> Table:
    """Return the table under the names of fields; columns without a field keep their names.

    Columns with an empty field are dropped, and those that are called as the field of another.
    """
    taken = {field for column, field in fields.items() if field and field != column}
    if not taken and all(fields.get(column, column) == column for column in table.columns):
        return replace(table)
    used = [c for c in table.columns if fields.get(c, "" if c in taken else c)]
    return table.with_columns({column: fields.get(column, column) for column in used})


def name_fields(table: Table, fields: Mapping[str, str], report: Report) -> None:
    """Let errors in a table under the names of fields name the columns of the file."""
    written = {field: table.titles.get(column, column) for column, field in fields.items() if field}
    report.name_columns(table.file, written)


TOTALS = (
    "total", "totals", "sum", "average", "avg", "overall", "Summe", "Gesamt", "Gesamtsumme",
    "Mittelwert", "Durchschnitt", "Mittel", "somme", "moyenne", "suma", "promedio", "media", "soma",
    "média", "somma", "totale", "totaal", "gemiddelde", "celkem", "součet", "průměr", "razem",
    "średnia", "итого", "всего", "среднее", "toplam", "ortalama", "合计", "总计", "平均", "平均值",
    "合計", "합계", "평균",
)  # fmt: skip


def refuse_totals(table: Table, report: Report) -> None:
    """Report a last row that sums up the others, which would be a segment, system or person."""
    if len(table.rows) < 3:
        return
    ((line, row),) = table.rows[-1:]
    columns = (column_of(field, table.columns) for field in ("segment", "system", "annotator"))
    cells = [str(row.get(column) or "").strip(" :\t") for column in columns if column]
    if word := next((cell for cell in cells if cell and is_called(cell, TOTALS)), ""):
        text = message(
            "table.totals",
            "The last row is called “{word}”: it sums up the others. Remove or skip it.",
            word=word,
        )
        report.error(text, table.head._replace(row=line))


def without_rivals(table: Table, fields: Iterable[Field]) -> Table:
    """Return a table without empty columns whose field another column has."""
    by_name = {plain(column): column for column in reversed(table.columns)}
    empty = set[str]()
    for field in fields:
        rivals = {by_name[name] for name in map(plain, field.names) if name in by_name}
        if len(rivals) > 1:
            blank = {c for c in rivals if all(map(_is_blank, table.column(c)))}
            empty |= blank if len(blank) < len(rivals) else set()
    if not empty:
        return table
    return replace(table, columns=[column for column in table.columns if column not in empty])


def _is_blank(cell: object) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())
