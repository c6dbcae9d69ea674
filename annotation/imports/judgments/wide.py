"""Convert tables with a column per system, annotator or segment to one row per score.

`score_A` and `score_B` are scores of systems, `rater1` and `rater2` those of annotators, and so are
`rating_1` and `rating_2` of tables that name their systems (SimpEval), and what objects such as
`ratings` have by the names of annotators. WMT's humeval files (2025) have the outputs and the
scores of every system in objects, by its name. Beside the system, `seg1` and `2` are scores of
segments, and so are columns with keys of the test set, or with its documents or domains.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from annotation.uploads.problems import Report
from annotation.uploads.tables.cells import has_decimal_comma
from annotation.uploads.tables.likert import are_levels
from annotation.uploads.tables.lines import Listing
from annotation.uploads.tables.pairs import document_of, languages_of
from annotation.uploads.tables.rows import Table
from metaeval.files.cells import SplitLine, read_score, too_many_cells
from metaeval.files.names import NAMES, column_of, is_called, is_field, is_person, number_of
from metaeval.messages import message, truncated

ABOUT_PEOPLE = (
    *("id", "name", "age", "mean", "avg", "average", "median", "sd", "std", "min", "max", "n"),
    *("count", "total", "sum", "time", "seconds", "duration", "experience", "years", "level"),
    *("agreement", "alpha", "kappa", "bias", "number", "score", "scores", "rating", "ratings"),
)
SCORE, OUTPUT, SPANS = "score", "output", "spans"
# `score_A`: what stands before the name of a system.
OF_SYSTEM = re.compile(r"(?P<field>score|rating|da|esa)[_ .:-]+(?P<name>.+)", re.IGNORECASE)
# `Assessor Anna`, but not what else is known of people.
WORDS = "|".join(map(re.escape, ("annotator", *NAMES["annotator"])))
NAMED_PERSON = re.compile(
    rf"(?P<word>{WORDS})[_ .:-]+(?!(?:{'|'.join(ABOUT_PEOPLE)})\b)[^\W\d_].*", re.IGNORECASE
)
# Objects with the answers of people by their names.
RATINGS = ("ratings", "scores", "judgments", "judgements", "evaluations", "assessments")
SEGMENT = "segment"
# A table with one of these has a row for each segment, or each score.
OF_ROWS = ("segment", "item", "document_place", "source", OUTPUT, SCORE)
# `rating_1`: the scores of people who have numbers alone.
OF_NUMBERED = ("score", "rating", *NAMES["score"])
NUMBERED = message(
    "judgments.annotators-numbered",
    "The table does not name the annotators. Those of each output are called 1, 2, … in order.",
)
Row = dict[str, Any]


def unfold(
    table: Table, listing: Listing, report: Report, systems: Collection[str] = ()
) -> Table | None:
    """Return a table with a row for each judgment; others stay as they are.

    `systems` are those that other tables name: columns called so have their scores or outputs.
    None, with the reason reported, where the rows would have too many cells.
    """
    by_name = _of_systems(table, listing.systems, systems)
    if len(by_name) > 1 or any(OUTPUT in columns for columns in by_name.values()):
        return unfolded(table, "system", by_name, report)
    people = _of_people(table)
    if len(people) > 1 or any(column.partition(".")[2] for column in _columns(people)):
        return unfolded(table, "annotator", people, report)
    return by_segment(table, listing, report)


def by_segment(table: Table, listing: Listing, report: Report) -> Table | None:
    """Return a table whose columns are segments with a row for each; others stay as they are.

    None, with the reason reported, where the rows would have too many cells.

    `listing` is the test set; its documents and domains may be columns, too. `seg1` is the segment
    1 unless the test set has one that is called so.
    """
    is_named = any(column_of(field, table.columns) for field in ("system", "annotator"))
    if not is_named or any(column_of(field, table.columns) for field in OF_ROWS):
        return table
    titles = {column: table.titles.get(column, column).strip() for column in table.columns}
    numbers = {c: number_of(t, (SEGMENT, *NAMES[SEGMENT])) for c, t in titles.items()}
    numbers = {c: titles[c] if titles[c].isdecimal() else n for c, n in numbers.items()}
    found = [
        *((level, {column: title for column, title in titles.items() if title in names})
          for level, names in listing.parts.items()),
        (SEGMENT, {column: number for column, number in numbers.items() if number.isdecimal()}),
    ]  # fmt: skip
    level, columns = next((each for each in found if len(each[1]) > 1), found[-1])
    if len(columns) < 2 or not any(is_numeric(table, column) for column in columns):
        return table
    return unfolded(table, level, {name: {SCORE: c} for c, name in columns.items()}, report)


def _of_systems(
    table: Table, systems: Collection[str], judged: Collection[str]
) -> dict[str, dict[str, str]]:
    """Return, by system, the column of its output, score and spans.

    Columns called as stored `systems` have scores, those of `judged` ones also outputs; a judged
    reference is in the column of references.
    """
    if column_of("system", table.columns):
        return {}
    found: dict[str, dict[str, str]] = {}
    for column in table.columns:
        title = table.titles.get(column, column)
        head, _, rest = title.partition(".")
        name, _, last = rest.rpartition(".")
        if rest and is_called(head, (OUTPUT, *NAMES[OUTPUT])):
            found.setdefault(rest, {})[OUTPUT] = column
        elif rest and is_called(head, ("score", "scores")):
            field = SPANS if is_called(last, (SPANS, *NAMES[SPANS])) else SCORE
            found.setdefault(name or rest, {})[field] = column
        elif (match := OF_SYSTEM.fullmatch(title)) and is_numeric(table, column):
            found.setdefault(match["name"], {})[SCORE] = column
        elif title in (*systems, *judged) and is_numeric(table, column):
            found.setdefault(title, {})[SCORE] = column
        elif title.startswith("system:") or (title in judged and not is_field(title)):
            found.setdefault(title.removeprefix("system:").strip(), {})[OUTPUT] = column
    by_name = {
        n: columns
        for n, columns in found.items()
        if {SCORE, SPANS} & set(columns) or n in judged or f"system:{n}" in table.columns
    }
    return {} if by_name and all(map(is_person, by_name)) else by_name


def _of_people(table: Table) -> dict[str, dict[str, str]]:
    """Return, by annotator, the columns that are called as such, or are in an object by name."""
    if any(column_of(field, table.columns) for field in ("annotator", "score")):
        return {}
    found: dict[str, dict[str, str]] = {}
    named: dict[str, dict[str, dict[str, str]]] = {}
    for column in table.columns:
        title = table.titles.get(column, column)
        head, _, who = title.partition(".")
        if who and is_called(head, RATINGS):
            name, _, last = who.rpartition(".")
            field = last if name and is_field(last) else SCORE
            found.setdefault(name if field is last else who, {})[field] = column
            continue
        number = number_of(title, OF_NUMBERED)
        if not is_numeric(table, column):
            continue
        if is_person(title):
            found[title] = {SCORE: column}
        elif number.isdecimal():
            found[number] = {SCORE: column}
        elif match := NAMED_PERSON.fullmatch(title):
            named.setdefault(match["word"].casefold(), {})[title] = {SCORE: column}
    return found or max(named.values(), key=len, default={})


def _columns(by_name: Mapping[str, Mapping[str, str]]) -> set[str]:
    return {column for columns in by_name.values() for column in columns.values()}


def is_numeric(table: Table, column: str) -> bool:
    """Return True for a column of numbers, or of words of a known scale, and missing scores."""
    cells = table.column(column)
    are_numbers = all(read_score(cell) is not None or has_decimal_comma(cell) for cell in cells)
    return are_numbers or are_levels(cells)


def unfolded(
    table: Table, field: str, by_name: Mapping[str, Mapping[str, str]], report: Report
) -> Table | None:
    """Return a table with a row for each system, … (`field`) and its columns by field.

    None, with the reason reported, where the rows would have too many cells.
    """
    used = _columns(by_name)
    others = [column for column in table.columns if column not in used]
    # A table of texts alone has no annotators.
    are_rated = any({SCORE, SPANS} & set(columns) for columns in by_name.values())
    rows_of = _each_score if are_rated else lambda own: [own]
    made = dict.fromkeys(made for columns in by_name.values() for made in columns)
    groups = [[columns[SCORE]] if SCORE in columns else [*columns.values()][:1]
              for columns in by_name.values()]  # fmt: skip
    n_rows = table.n_unfolded(groups)
    if refusal := too_many_cells(n_rows * (len(others) + 1 + len(made))):
        report.error(refusal, table.head)
        return None
    places = {name: {field: next(iter(own.values())), **own} for name, own in by_name.items()}
    rows = []
    for line, row in table.rows:
        common = _with_ids({column: row[column] for column in others if column in row})
        for name, columns in by_name.items():
            given = {made: row.get(column) for made, column in columns.items()}
            own = {made: cell for made, cell in given.items() if cell not in (None, "", [])}
            at = SplitLine(line, places[name])
            rows += [(at, common | {field: name} | each) for each in rows_of(own)]
    fields = dict.fromkeys(made for _, row in rows for made in row)
    names = truncated(list(by_name))
    texts = {
        "system": message(
            "judgments.column-per-system",
            "The table has a column for each system ({names}). Every cell was read separately.",
            names=names,
        ),
        "annotator": message(
            "judgments.column-per-annotator",
            "The table has a column for each annotator ({names}). Every cell was read separately.",
            names=names,
        ),
    }
    others_have = message(
        "judgments.column-per-part",
        "The table has a column for each {level} ({names}). Every cell was read separately.",
        level=field,
        names=names,
    )
    report.note(texts.get(field, others_have), table.head)
    are_numbers = field == "annotator" and all(name.isdecimal() for name in by_name)
    are_made = "annotator" in fields and not column_of("annotator", [*others, field])
    if are_numbers or are_made:
        report.warn(NUMBERED, table.head)
    titles = {each: table.titles.get(each, each) for each in fields}
    return replace(table, columns=list(fields), rows=rows, titles=titles)


def _each_score(row: Row) -> Iterable[Row]:
    """Yield a row for each of several scores; who gave them has a number."""
    scores = row.get(SCORE)
    if not isinstance(scores, list):
        return [row | ({"annotator": "1"} if OUTPUT in row else {})]
    return [row | {SCORE: score, "annotator": str(n)} for n, score in enumerate(scores, 1)]


def _with_ids(row: Row) -> Row:
    """Add what WMT's ids say: languages and document; the id itself names the segment."""
    key = row.get(column_of("document", row))
    if not isinstance(key, str) or not languages_of(key):
        return row
    return {
        **{column: cell for column, cell in row.items() if column != column_of("document", row)},
        "segment": key,
        "document": document_of(key),
        "language_pair": "-".join(languages_of(key)),
    }
