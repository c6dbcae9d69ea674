"""Tables that are read some rows at a time: the same rows and errors as of the whole table."""

import warnings

import pytest

from metaeval.files import text
from metaeval.files.text import FormatError, Table

HEAD = "system\tsegment\tscore\n"
PLAIN = HEAD + "".join(f"A\t{n}\t{n / 8}\n" for n in range(7))


@pytest.fixture(autouse=True)
def _few_rows(monkeypatch):
    monkeypatch.setattr(text, "PART", 3)
    monkeypatch.setattr(text, "START", 2)


def read(path):
    return list(Table.parts(path, ["system", "segment"], optional=["score"]))


@pytest.mark.parametrize("content", [PLAIN, PLAIN.removesuffix("\n"), HEAD + "A\t1\u2028\t2\n" * 6])
def test_plain_tables_are_read_in_parts(tmp_path, content):
    path = tmp_path / "scores.tsv"
    path.write_text(content)
    parts, whole = read(path), Table(path, ["system", "segment"], optional=["score"])
    assert [row for part in parts for row in part.rows] == whole.rows
    assert max(len(part.rows) for part in parts) == 3
    assert all((part.header, part.columns) == (whole.header, whole.columns) for part in parts)


@pytest.mark.parametrize(
    "content",
    [
        PLAIN.encode() + b'A\t"7"\t1\n',
        PLAIN.encode() + b"\n\t\t\n",
        PLAIN.replace("\n", "\r\n").encode(),
        PLAIN.replace("\t", ",").encode(),
        PLAIN.encode("utf-16"),
        PLAIN.encode("utf-8-sig"),
        b"# A title\n" + PLAIN.encode(),
        HEAD.replace("score", "").encode() + b"A\t1\t\n" * 7,
        HEAD.encode(),
    ],
)
def test_every_other_table_is_one_part(tmp_path, content):
    path = tmp_path / "scores.tsv"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (part,), whole = read(path), Table(path, ["system", "segment"], optional=["score"])
    assert (part.header, part.rows, part.columns) == (whole.header, whole.rows, whole.columns)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (PLAIN + "A\t8\n", 9),
        (PLAIN.replace("segment", "score2"), 1),
        (PLAIN.replace("segment", "SYSTEM"), 1),
        ("", None),
    ],
)
def test_errors_are_those_of_the_whole_table(tmp_path, content, line):
    path = tmp_path / "scores.tsv"
    path.write_text(content)
    errors = []
    for action in (read, lambda path: Table(path, ["system", "segment"])):
        with pytest.raises(FormatError) as error:
            action(path)
        errors.append(str(error.value))
    assert errors[0] == errors[1]
    assert line is None or f"line {line}:" in errors[0]


def test_errors_in_later_parts_name_the_line(tmp_path):
    path = tmp_path / "scores.tsv"
    path.write_text(PLAIN.replace("\t0.625\n", "\tmany\n"))
    with pytest.raises(FormatError) as error:
        [part.numbers("score") for part in read(path)]
    assert error.value.line == 7


def test_no_file_is_the_error_of_the_whole_table(tmp_path):
    with pytest.raises(FormatError):
        read(tmp_path / "none.tsv")
