"""Headers in two rows, names above fields, say in every import what one row a name says."""

import io
from collections.abc import Callable
from typing import Any

import pandas
import pytest
from openpyxl import Workbook

from metaeval.files import headers
from tests.annotation.tables.reading import DE_EN, as_files, errors_of
from tests.annotation.tables.reading import read as read_judgments
from tests.files.test_rules import DOORS, ROWS, Row, read, separated

pytestmark = pytest.mark.django_db
SYSTEMS = ("Nemo", "Online-W")
# The columns of all systems; the others are under the name of each.
COMMON = ("segment", "annotator", "source")
Cells = list[list[Any]]


def in_long(door: str) -> list[Row]:
    """Rows of two segments and two systems that differ in their cells."""
    rows = []
    for row in ROWS[door]:
        own = {key: cell for key, cell in row.items() if key != "system"}
        ordered = {key: own[key] for key in COMMON if key in own} | {"system": ""}
        others = {"output": "Über"} if door == "test set" else {}
        rows += [ordered | own | others | {"system": system} for system in SYSTEMS]
    return rows


def in_two_rows(rows: list[Row]) -> Cells:
    """The header in two rows, names in the first of their cells, and a row per segment."""
    common = [key for key in rows[0] if key in COMMON]
    fields = [key for key in rows[0] if key not in (*COMMON, "system")]
    above = [*[""] * len(common)]
    for system in SYSTEMS:
        above += [system, *[""] * (len(fields) - 1)]
    cells = [above, [*common, *fields * 2]]
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        cells.append(
            [first[key] for key in common] + [r[f] for r in (first, second) for f in fields]
        )
    return cells


def as_csv(cells: Cells) -> bytes:
    rows = [dict(zip(range(len(each)), each, strict=True)) for each in cells]
    _, _, text = separated(rows).partition("\n")
    return text.encode()


def with_title(cells: Cells) -> bytes:
    return f"Evaluation of May{',' * (len(cells[0]) - 1)}\n\n".encode() + as_csv(cells)


def repeated(cells: Cells) -> bytes:
    """As pandas writes columns of two levels: every name is repeated."""
    above = cells[0]
    for place in range(1, len(above)):
        above[place] = above[place] or above[place - 1]
    return as_csv(cells)


def keys_above(cells: Cells) -> bytes:
    """Names of common columns are in the first row, over merged cells."""
    n_common = next(place for place, name in enumerate(cells[0]) if name)
    cells[0][:n_common], cells[1][:n_common] = cells[1][:n_common], [""] * n_common
    return as_csv(cells)


def merged(cells: Cells) -> bytes:
    book, data = Workbook(), io.BytesIO()
    sheet = book.active
    for row in cells:
        sheet.append([cell or None for cell in row])
    starts = [place for place, name in enumerate(cells[0], 1) if name]
    for start, end in zip(starts, [*starts[1:], len(cells[0]) + 1], strict=True):
        if end - start > 1:
            sheet.merge_cells(start_row=1, end_row=1, start_column=start, end_column=end - 1)
    book.save(data)
    return data.getvalue()


WRITERS: dict[str, tuple[str, Callable[[Cells], bytes]]] = {
    "CSV": ("t.csv", as_csv),
    "title above": ("t.csv", with_title),
    "repeated names": ("t.csv", repeated),
    "keys above": ("t.csv", keys_above),
    "merged cells": ("t.xlsx", merged),
}


# One metric of each system below the key alone is a row of data.
CASES = [(d, w) for d in DOORS for w in WRITERS if (d, w) != ("metric scores", "keys above")]


@pytest.mark.parametrize(("door", "writer"), CASES)
def test_two_rows_of_headers_say_what_one_says(door: str, writer: str) -> None:
    rows = in_long(door)
    wanted, report = read(door, "t.csv", separated(rows))
    assert (report.errors, bool(wanted)) == ([], True)
    name, write = WRITERS[writer]
    found, report = read(door, name, write(in_two_rows(rows)))
    assert [str(error) for error in report.errors] == []
    assert found == wanted
    codes = {warning.code for warning in report.warnings}
    assert codes & {"table.two-headers", "table.headers-joined"}


@pytest.mark.parametrize("door", ["judgments", "metric scores"])
def test_tables_that_pandas_pivots_are_read(door: str) -> None:
    rows = in_long(door)
    values = ["score"] if door == "judgments" else ["COMET"]
    rows = [row | {"COMET": row.get("COMET"), "fluency": n} for n, row in enumerate(rows)]
    keys = [key for key in (*COMMON, "output") if key in rows[0]]
    table = pandas.DataFrame(rows)[[*keys, "system", *values]]
    long = table.rename(columns={"COMET": "score"})
    wide = long.pivot(index=keys, columns="system", values=["score"])
    wanted, _ = read(door, "COMET.csv", long.to_csv(index=False))
    found, report = read(door, "COMET.csv", wide.to_csv())
    assert [str(error) for error in report.errors] == []
    assert found == wanted


def test_names_above_scores_of_named_systems_are_annotators(db: None) -> None:
    head = ",,Ann,,Ben,\nsegment,system,score,comment,score,comment\n"
    files = as_files(own_csv=head + "1,alpha,80,good,60,\n2,alpha,70,,,\n")
    reading, report = read_judgments(files, **DE_EN)
    assert report.errors == []
    judgments = reading.drafts[0][1].judgments
    assert {(j.annotator, j.score, j.comment) for j in judgments} == {
        ("Ann", 80, "good"), ("Ben", 60, ""), ("Ann", 70, ""),
    }  # fmt: skip


def test_a_column_behind_the_last_name_is_one_of_all(db: None) -> None:
    head = ",,alpha,,beta,,\nsegment,rater,adequacy,fluency,adequacy,fluency,domain\n"
    reading, report = read_judgments(as_files(own_csv=head + "1,R,3,4,5,2,news\n"), **DE_EN)
    assert report.errors == []
    texts, campaign = reading.drafts[0]
    assert [segment.domain for segment in texts.segments] == ["news"]
    given = [dict(judgment.ratings) for judgment in campaign.judgments]
    assert given == [{"adequacy": 3, "fluency": 4}, {"adequacy": 5, "fluency": 2}]


def test_rows_of_other_widths_stay_torn(db: None) -> None:
    head = ",,alpha,,beta,\nsegment,rater,adequacy,fluency,adequacy,fluency\n"
    files = as_files(own_csv=head + "1,R,3,4,5,2\n2,R,3,4\n3,R,3,4,5\n")
    assert [(place, code) for place, code in errors_of(files, **DE_EN)] == [
        ("own.csv, row 4", "table.cells"), ("own.csv, row 5", "table.cells"),
    ]  # fmt: skip


@pytest.mark.parametrize("cell", ["x", "source", "Café 1"])
def test_a_row_of_one_text_is_a_row(cell: str) -> None:
    """Neither equal cells nor two columns of one name make a row of data a header."""
    head = "segment,document,source,system:x,system:y"
    found, report = read("test set", "t.csv", f"{head}\n{','.join([cell] * 5)}\n")
    assert report.errors == []
    assert found == [(cell, cell, {}), ("x", {cell: cell}), ("y", {cell: cell})]
    _, report = read("test set", "t.csv", "source,source\nEins,Zwei\n")
    assert [error.code for error in report.errors] == ["table.column-twice"]


@pytest.mark.parametrize(
    "text",
    [
        "segment,system,output,annotator,score\ns-1,output,score,score,80\n",
        "segment,system,output,annotator,score\n1,target,target,rater,80\n",
    ],
)
def test_rows_that_hold_names_of_fields_are_rows(db: None, text: str) -> None:
    reading, report = read_judgments(as_files(own_csv=text), **DE_EN)
    assert report.errors == []
    assert [judgment.score for judgment in reading.drafts[0][1].judgments] == [80]


@pytest.mark.parametrize("door", DOORS)
def test_cells_that_are_merged_down_have_the_text_of_the_first(door: str) -> None:
    rows = in_long(door)
    wanted, _ = read(door, "t.csv", separated(rows))
    book, data = Workbook(), io.BytesIO()
    for row in ([*rows[0]], *([*row.values()] for row in rows)):
        book.active.append(row)
    for column, key in enumerate(rows[0], 1):
        cells = [row[key] for row in rows]
        for line in range(len(rows) - 1):
            if key in COMMON and cells[line] == cells[line + 1] and line % 2 == 0:
                at = {"start_column": column, "end_column": column}
                book.active.merge_cells(start_row=line + 2, end_row=line + 3, **at)
    assert book.active.merged_cells.ranges
    book.create_sheet("other").append(["x"])
    book.save(data)
    found, report = read(door, "t.xlsx", data.getvalue())
    assert [str(error) for error in report.errors] == []
    assert found == wanted
    (note,) = [each for each in report.notes if each.code == "workbook.merged"]
    assert note.message.parameters["n"] >= 2


def test_what_is_too_wide_is_left_as_it_is() -> None:
    def with_systems(n: int) -> list[tuple[int, list[str]]]:
        names = [f"S{number}" for number in range(n)]
        return [(1, ["", *names]), (2, ["segment", *["score"] * n]), (3, ["1", *["80"] * n])]

    joined = headers.in_one_row(with_systems(headers.MOST_COLUMNS - 1))
    assert len(joined.lines) == headers.MOST_COLUMNS
    wider = with_systems(headers.MOST_COLUMNS)
    assert headers.in_one_row(wider).lines == wider
