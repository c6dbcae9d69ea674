"""ODS at every door, as LibreOffice writes it, and what workbooks do to texts."""

import io
import zipfile
from collections.abc import Sequence
from html import escape

import pytest

from metaeval.files.grids import GridError
from metaeval.files.workbooks import is_workbook, read_workbook
from tests.annotation.uploads.test_workbooks import TWO, book, cells, codes, read, split
from tests.files.doors import of_talks
from tests.files.test_rules import DOORS, ROWS, separated

pytestmark = pytest.mark.django_db
URN = "urn:oasis:names:tc:opendocument:xmlns"
HEAD = (
    f'<?xml version="1.0" encoding="UTF-8"?>{{doctype}}<office:document-content '
    f'xmlns:office="{URN}:office:1.0" xmlns:table="{URN}:table:1.0" xmlns:text="{URN}:text:1.0" '
    f'xmlns:draw="{URN}:drawing:1.0"><office:body><office:spreadsheet>'
)
TAIL = "</office:spreadsheet></office:body></office:document-content>"
# LibreOffice fills its largest sheet with cells that are repeated.
REST = (
    '<table:table-row table:number-rows-repeated="1048000">'
    '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
)
REPEATED = 'table:number-rows-repeated="{}"'


def document(content: str, doctype: str = "") -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", HEAD.format(doctype=doctype) + content + TAIL)
    return data.getvalue()


def sheet(name: str, rows: str) -> str:
    return f'<table:table table:name="{name}"><table:table-column/>{rows}{REST}</table:table>'


def cell(text: str, more: str = 'office:value-type="string"') -> str:
    return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"


def line(*inside: str, more: str = "") -> str:
    return f"<table:table-row {more}>{''.join(inside)}</table:table-row>"


def row(values: Sequence[str]) -> str:
    return line(*(cell(escape(value)) for value in values))


def texts(content: str) -> list[list[str]]:
    return [cells for _, cells in read_workbook(document(sheet("A", content))).tables[0].rows]


@pytest.mark.parametrize("door", DOORS)
def test_every_door_reads_it(door: str) -> None:
    of_talks(2)
    rows = [each | {"system": name} for name in TWO for each in ROWS[door]]
    if door == "judgments":
        rows = [each | {"output": f"{each['system']} {each['output']}"} for each in rows]
    wanted, _ = read(door, "t.csv", separated(rows).encode())
    whole = document(sheet("Sheet1", "".join(map(row, cells(rows)))))
    found, report = read(door, "t.ods", whole)
    assert (found, report.errors) == (wanted, [])
    assert report.files["t.ods"].format == "ODS"
    parts = split(rows, "system", TWO)
    several = "".join(sheet(name, "".join(map(row, part))) for name, part in parts.items())
    found, report = read(door, "t.ods", document(several))
    assert (found, report.errors) == (wanted, [])


def test_cells_are_what_they_state() -> None:
    values = (
        ('office:value-type="float" office:value="80.0"', "80,0", "80"),
        ('office:value-type="percentage" office:value="0.855"', "86%", "0.855"),
        ('office:value-type="date" office:date-value="2024-05-01"', "1. Mai", "2024-05-01"),
        ('office:value-type="time" office:time-value="PT09H05M07S"', "9:05", "09:05:07"),
        ('office:value-type="boolean" office:boolean-value="true"', "WAHR", "True"),
        ('office:value-type="string"', 'a<text:s text:c="3"/>b<text:tab/>c', "a   b\tc"),
        ('office:value-type="string"', "so  <text:span>\n it</text:span> is", "so it is"),
        ('office:value-type="string"', "one</text:p><text:p>two", "one\ntwo"),
        (
            'office:value-type="string"',
            "kept</text:p><office:annotation><text:p>no</text:p></office:annotation><text:p>",
            "kept\n",
        ),
    )
    for attributes, shown, wanted in values:
        kept = line(cell("1"), cell("x"), cell(shown, attributes))
        assert texts(row(["segment", "system", "score"]) + kept) == [["1", "x", wanted]], shown


def test_repeated_and_merged_cells_have_their_places() -> None:
    lines = (
        row(["document", "segment", "a", "b"]),
        line(
            cell("d", 'office:value-type="string" table:number-rows-spanned="2"'),
            cell("1"),
            cell("x", 'office:value-type="string" table:number-columns-repeated="2"'),
        ),
        line("<table:covered-table-cell/>", cell("2"), "<table:table-cell/>", cell("y")),
        line("<table:table-cell/>", more=REPEATED.format(3)),
        line(*map(cell, "e3zz"), more=REPEATED.format(2)),
    )
    grid = read_workbook(document(sheet("A", "".join(lines)))).tables[0]
    assert [(n, cells) for n, cells in grid.rows if cells] == [
        (2, ["d", "1", "x", "x"]), (3, ["d", "2", "", "y"]),
        (7, ["e", "3", "z", "z"]), (8, ["e", "3", "z", "z"]),
    ]  # fmt: skip
    assert {note.message.code for note in grid.notes} == {"workbook.merged"}


@pytest.mark.parametrize(
    ("content", "doctype", "code"),
    [
        (line(cell("&e;")), '<!DOCTYPE x [<!ENTITY e "x">]>', "unreadable"),
        (line(cell("a"), more=REPEATED.format(99_999_999)), "", "large"),
        (line(cell("a", 'table:number-columns-repeated="99999999"')), "", "large"),
        (line(more=REPEATED.format(99_999_999)) + row(["a"]), "", "large"),
        (line(cell('<text:s text:c="999999999"/>')), "", "large"),
        (line(cell(99 * '<text:s text:c="999999"/>')), "", "large"),
        (line(cell('<text:s text:c="-1"/>')), "", "unreadable"),
        ("<table:table-row>", "", "unreadable"),
    ],
)
def test_hostile_documents_are_refused(content: str, doctype: str, code: str) -> None:
    with pytest.raises(GridError) as refused:
        read_workbook(document(sheet("A", content), doctype))
    assert refused.value.message.code in (f"workbook.{code}", f"workbook.too-{code}")


def test_workbooks_are_known_by_their_contents() -> None:
    assert is_workbook("scores.csv", book(A=[["segment", "score"], ["1", 2]]))
    assert is_workbook("scores", document(sheet("A", row(["a"]))))
    assert not is_workbook("scores.csv", b"segment,score\n1,2\n")


@pytest.mark.parametrize("door", ["test set", "judgments"])
def test_texts_that_a_workbook_escaped_or_lost(door: str) -> None:
    of_talks(2)
    field = "output" if door == "judgments" else "source"
    rows = [each | {field: f"{each[field]}{n}"} for n, each in enumerate(ROWS[door])]
    ended = [each | {field: f"One\r\nTwo {each[field]}"} for each in rows]
    wanted, _ = read(door, "t.csv", separated(ended).encode())
    escaped = [each | {field: each[field].replace("\r", "_x000D_")} for each in ended]
    found, report = read(door, "t.xlsx", book(A=cells(escaped)))
    assert (found, report.errors) == (wanted, [])
    lost = [rows[0], rows[1] | {field: "#NAME?"}, *rows[2:]]
    for name, data in (("t.xlsx", book(A=cells(lost))), ("t.csv", separated(lost).encode())):
        _, report = read(door, name, data)
        assert codes(report.warnings) >= {"text.lost"}
    _, report = read(door, "t.csv", separated(rows).encode())
    assert "text.lost" not in codes(report.warnings)
