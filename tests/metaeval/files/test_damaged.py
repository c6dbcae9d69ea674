"""Files that are damaged, no text, or workbooks of far more cells than they hold."""

import io
import random
import re
import zipfile
from collections.abc import Callable

import pytest
from openpyxl import Workbook

from metaeval.files.cells import MOST_CELLS
from metaeval.files.decoding import UndecodableError, decode
from metaeval.files.grids import GridError
from metaeval.files.workbooks import read_workbook
from tests import refusals

SHEET = "xl/worksheets/sheet1.xml"
LAST = b'<row r="1048576"><c r="XFD1048576" t="str"><v>x</v></c></row></sheetData>'
LAUGHS = b"".join(
    b'<!ENTITY a%d "%s">' % (n, (b"&a%d;" % (n - 1) if n else b"ha") * 10) for n in range(9)
)


def whole() -> bytes:
    book, data = Workbook(), io.BytesIO()
    for row in (("source", "output"), ("a", "b")):
        book.active.append(row)  # type: ignore[union-attr]
    book.save(data)
    return data.getvalue()


WHOLE = whole()


def changed(change: Callable[[bytes], bytes], name: str = SHEET) -> bytes:
    """A workbook in which one of its parts is another."""
    data = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(WHOLE)) as old, zipfile.ZipFile(data, "w", 8) as new:
        for each in old.namelist():
            part = old.read(each)
            new.writestr(each, change(part) if each == name else part)
    return data.getvalue()


@pytest.mark.parametrize("stated", [b'<dimension ref="A1:XFD1048576"/>', b""])
def test_cells_that_are_only_stated_cost_nothing(stated: bytes) -> None:
    far = changed(
        lambda part: re.sub(rb"<dimension[^>]*>", stated, part).replace(b"</sheetData>", LAST)
    )
    assert len(far) < 10_000
    (grid,) = read_workbook(far).tables
    assert grid.rows == [(2, ["a", "b"])]
    assert grid.torn == [(1_048_576, 16_384)]


def test_rows_that_are_wide_by_their_last_cell_are_counted() -> None:
    rows = b"".join(
        b'<row r="%d"><c r="XFD%d" t="str"><v>x</v></c></row>' % (n, n)
        for n in range(3, 4 + MOST_CELLS // 16_384)
    )
    with refusals.refused("workbook.too-large", kind=GridError):
        read_workbook(changed(lambda part: part.replace(b"</sheetData>", rows + b"</sheetData>")))


def test_entities_do_not_grow() -> None:
    head = b"<!DOCTYPE l [" + LAUGHS + b"]>"
    with pytest.raises(GridError):
        read_workbook(changed(lambda part: head + part.replace(b"<v>0</v>", b"<v>&a8;</v>")))


@pytest.mark.parametrize("name", [SHEET, "xl/workbook.xml", "xl/sharedStrings.xml"])
def test_what_is_damaged_is_read_or_refused(name: str) -> None:
    draw = random.Random(name)

    def damage(part: bytes) -> bytes:
        at = draw.randrange(len(part))
        return part[:at] + draw.randbytes(draw.randint(0, 3)) + part[at + draw.randint(0, 3) :]

    def torn(data: bytes) -> bytes:
        at = draw.randrange(len(data))
        return data[:at] + draw.randbytes(4) + data[at + 4 :]

    refused = 0
    for data in [changed(damage, name) for _ in range(40)] + [torn(WHOLE) for _ in range(40)]:
        try:
            read_workbook(data)
        except GridError:
            refused += 1
    assert refused > 20


@pytest.mark.parametrize("seed", range(10))
def test_bytes_at_random_are_no_text_with_a_foreign_encoding(seed: int) -> None:
    with refusals.refused("file.control-characters", kind=UndecodableError):
        decode(random.Random(seed).randbytes(2_000))


def test_text_may_hold_a_stray_control_character() -> None:
    text = "A line of text with an end.\n" * 10
    assert decode((text + "\0\x1b" + text).encode("cp1252")).text == text + "\0\x1b" + text
