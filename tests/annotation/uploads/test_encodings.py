"""Legacy encodings at every door: the preview names the one that was taken, and offers others."""

import pytest

from annotation.uploads import InputFile
from tests.files.doors import of_talks
from tests.files.test_rules import DOORS, ROWS, separated

pytestmark = pytest.mark.django_db
CZECH = ["Příliš žluťoučký kůň", "úpěl ďábelské ódy"]


@pytest.mark.parametrize("door", DOORS)
def test_a_czech_file_of_excel_says_what_it_says_in_utf_8(door: str) -> None:
    of_talks(2)
    rows = [row | {"document": text} for row, text in zip(ROWS[door], CZECH, strict=True)]
    text = separated(rows).replace("ü", "ö")
    wanted, _ = DOORS[door](InputFile.holding("t.csv", text.encode()), frozenset())
    file = InputFile.holding("t.csv", text.encode("cp1250"))
    found, report = DOORS[door](file, frozenset())
    assert found == wanted
    (warning,) = [each for each in report.warnings if each.code == "file.encoding-guessed"]
    assert warning.message.parameters["encoding"] == "Windows-1250"
    assert next(iter(report.files["t.csv"].encodings)) == "Windows-1250"


@pytest.mark.parametrize("door", DOORS)
def test_an_unclear_encoding_is_chosen(door: str) -> None:
    of_talks(2)
    rows = [row | {"document": "č"} for row in ROWS[door]]
    text = separated(rows).replace("ü", "u").replace("Ü", "U").replace("ß", "s")
    wanted, _ = DOORS[door](InputFile.holding("t.csv", text.encode()), frozenset())
    file = InputFile.holding("t.csv", text.encode("cp1250"))
    _, report = DOORS[door](file, frozenset())
    assert [error.code for error in report.errors] == ["file.encoding-unclear"]
    assert "Windows-1250" in report.files["t.csv"].encodings
    for columns in ({"(encoding)": "cp1250"}, {"(encoding) t.csv": "Windows-1250"}):
        found, report = DOORS[door](file, frozenset(), columns)
        assert (found, report.errors) == (wanted, [])
