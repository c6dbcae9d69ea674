"""Large tables are read in blocks as they are read whole, and memory does not grow with texts."""

import random
import tracemalloc
from collections.abc import Callable

import pytest

from annotation import uploads
from annotation.models import TestSet
from annotation.uploads import InputFile, Submission
from annotation.uploads.problems import Report
from annotation.uploads.tables import spooled
from annotation.uploads.tables.rows import Cells, read_table
from annotation.uploads.tables.spooled import Spooled, in_blocks
from tests.files.doors import texts

HEAD, WORDS = (
    ("segment", "source", "reference", "system:a", "system:b"),
    ["a", "bé", "“c”", "港口", "d,e", "f"],
)


def rows(n: int, mark: str = "\t", words: int = 5) -> list[str]:
    draw = random.Random(n)
    cells = [
        [str(i), *(" ".join(draw.choices(WORDS, k=words)) for _ in HEAD[1:])] for i in range(n)
    ]
    quoted = [[f'"{c}"' if mark in c else c for c in row] for row in [list(HEAD), *cells]]
    return [mark.join(row) + "\n" for row in quoted]


def with_line(text: str, at: int) -> Callable[[list[str]], list[str]]:
    return lambda lines: [*lines[:at], text, *lines[at:]]


# What is done to the lines of a file of 400 rows, which is read in blocks of some forty.
CHANGES: dict[str, Callable[[list[str]], list[str]]] = {
    "plain": lambda lines: lines,
    "CRLF": lambda lines: [line.replace("\n", "\r\n") for line in lines],
    "CRLF in some lines": lambda lines: [*lines[:200], *(x[:-1] + "\r\n" for x in lines[200:])],
    "a byte order mark": lambda lines: ["\ufeff" + lines[0], *lines[1:]],
    "no last line ending": lambda lines: [*lines[:-1], lines[-1][:-1]],
    "empty lines at the end": lambda lines: [*lines, "\n", "\n"],
    "an empty line": with_line("\n", 200),
    "empty lines": lambda lines: [*lines[:100], *["\n"] * 100, *lines[100:]],
    "a torn row": with_line("7\n", 200),
    "a title": with_line("A title\n", 0),
    "a comment": with_line("# comment\n", 0),
    "numbers of rows": lambda lines: [lines[0], *(f"{n}\t{x}" for n, x in enumerate(lines[1:]))],
    "a cell over two lines": with_line('x,"one\ntwo",c,d,e\n', 200),
    "a quotation mark": with_line('x\tone "two\tc\td\te\n', 200),
    "quotes doubled": with_line('x\t"one ""two"""\tc\td\te\n', 200),
    "two quotation marks": with_line('x\t"one" two\tc\td\te\n', 200),
    "all quoted": lambda lines: ['"' + x[:-1].replace("\t", '"\t"') + '"\n' for x in lines],
    "a column twice": lambda lines: [
        f"{line[:-1]}\tx\n" for line in ["note\t" * 4 + "note\n", *lines]
    ],
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("mark", ["\t", ",", ";"])
def test_a_table_in_blocks_is_the_table(
    mark: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spooled, "SMALL", 0)
    monkeypatch.setattr(spooled, "BLOCK", 4_000)
    data = "".join(CHANGES[change](rows(400, mark))).encode()
    file = InputFile.holding("t.tsv" if mark == "\t" else "t.csv", data)
    of_blocks, of_whole = Report(), Report()
    found = in_blocks(file, of_blocks, lambda name, text: True)
    whole = read_table(file, of_whole)
    if change == "plain":
        assert found
    if found is None:
        return
    assert whole
    assert isinstance(found.rows, Cells)
    assert all(isinstance(found.column(name), Spooled) for name in found.columns)
    assert list(found.rows) == list(whole.rows)
    assert [getattr(found, name) for name in ("columns", "titles", "separator", "first")] == [
        getattr(whole, name) for name in ("columns", "titles", "separator", "first")
    ]
    assert of_blocks.problems == of_whole.problems
    assert of_blocks.files == of_whole.files


def check(n: int, mark: str = "\t") -> uploads.Checked:
    name = "t.tsv" if mark == "\t" else "t.csv"
    file = InputFile.holding(name, "".join(rows(n, mark)).encode())
    return uploads.check_submission(Submission("s", "S", "zh", "en", tables=[file]))


def test_a_test_set_read_in_blocks_is_the_same(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = []
    for small in (10**9, 0):
        monkeypatch.setattr(spooled, "SMALL", small)
        checked = check(300)
        assert checked.report.errors == []
        uploads.store(checked.draft)
        stored.append((texts("s"), checked.preview, checked.report.problems, checked.changes))
        TestSet.objects.all().delete()
    assert stored[0] == stored[1]


@pytest.mark.parametrize("mark", ["\t", ","])
def test_memory_hardly_grows_with_rows(
    mark: str, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spooled, "SMALL", 0)
    check(100, mark=mark)  # what is loaded once
    sizes, peaks = [], []
    for n in (2_000, 8_000):
        data = "".join(rows(n, mark, words=100)).encode()
        file = InputFile.holding("t.tsv" if mark == "\t" else "t.csv", data)
        tracemalloc.start()
        checked = uploads.check_submission(Submission("s", "S", "zh", "en", tables=[file]))
        uploads.store(checked.draft)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        sizes.append(len(data))
        TestSet.objects.all().delete()
    # Keys and numbers of rows are in memory, and texts are not.
    assert peaks[1] - peaks[0] < 0.3 * (sizes[1] - sizes[0])
