"""Parallel text as people have it: read, cleaned with reasons, refused with file and line."""

from pathlib import Path

import pytest

from tests.training.doing import refused
from training.parallel.reading import (
    ParallelError,
    clean,
    parse_pairs,
    read_moses,
    read_pairs,
    write_pairs,
)

TSV = "one\teins\ntwo\tzwei\n"


def pairs(content: str, languages: tuple[str, str] | None = None) -> list[tuple[str, str]]:
    rows = read_pairs("corpus.tsv", content.encode(), languages)
    return [(row.source, row.target) for row in rows]


@pytest.mark.parametrize(
    "content",
    [
        TSV,
        TSV.replace("\n", "\r\n"),
        TSV.replace("\n", "\r"),
        "\ufeff" + TSV,
        TSV.rstrip("\n"),
        "Source\tTarget\n" + TSV,
        "id\ttarget\tsource\n7\teins\tone\n8\tzwei\ttwo\n",
        "id\tsource_text\ttarget_text\n7\tone\teins\n8\ttwo\tzwei\n",
        "Src\tTgt\tscore\none\teins\t1\ntwo\tzwei\t2\n",
    ],
)
def test_tables_with_and_without_a_header(content):
    assert pairs(content) == [("one", "eins"), ("two", "zwei")]


@pytest.mark.parametrize(
    ("header", "languages"),
    [
        ("de\ten", ("en", "de")),
        ("DE\tEN", ("en", "de-AT")),
        ("de_DE\ten-GB", ("en", "de")),
        ("zh-Hans\tzh-Hant", ("zh-Hant", "zh-Hans")),
    ],
)
def test_titles_are_the_codes_of_the_languages(header, languages):
    table = f"{header}\neins\tone\n"
    assert pairs(table, languages) == [("one", "eins")]
    wide = f"id\t{header}\n7\teins\tone\n"
    assert pairs(wide, languages) == [("one", "eins")]


def test_two_columns_of_other_titles_are_pairs():
    assert pairs("de\ten\n", ("fr", "it")) == [("de", "en")]
    first = ("De nada", "Es macht nichts")
    assert pairs("\t".join(first), ("es", "de")) == [first]


@pytest.mark.parametrize(
    "content",
    [
        "id\tquelle\tziel\n7\teins\tone\n",
        "en_GB\ten_US\tde\nlift\televator\tAufzug\n",
        "source\tsource\ttarget\none\tuno\teins\n",
    ],
)
def test_a_third_column_needs_titles(content):
    with refused("corpus.columns-unnamed", ParallelError, file="corpus.tsv", line=1):
        pairs(content, ("en", "de"))


def test_bars_as_in_word_alignment_tools():
    assert pairs("one ||| eins\n ||| zwei\n") == [("one ", " eins"), (" ", " zwei")]


def test_two_files_line_by_line():
    rows = read_moses(("c.en", b"one\ntwo\n"), ("c.de", b"eins\nzwei\n"))
    assert [(row.place, row.source, row.target) for row in rows] == [
        ("c.en:1", "one", "eins"),
        ("c.en:2", "two", "zwei"),
    ]


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        (b"one\teins\nno tab here\n", "no-tab", 2),
        (b"one\teins\ntwo\tz\xfcrich\n", "file.not-utf8", 2),
        (b"one ||| eins\ntwo zwei\n", "bars", 2),
        (b"one\teins\ntwo\tzwei\tdos\n", "columns-unnamed", 2),
        (b"one\teins\ntwo\tzwei\rthree\tdrei\n", "carriage-return", 2),
        (b"one ||| eins ||| uno\n", "bars", 1),
    ],
)
def test_other_files_are_refused_with_the_line(content, code, line):
    code = code if "." in code else f"corpus.{code}"
    with refused(code, ParallelError, file="corpus.tsv", line=line):
        read_pairs("corpus.tsv", content)


def test_an_empty_file_is_refused():
    with refused("corpus.file-empty", ParallelError, file="corpus.tsv"):
        read_pairs("corpus.tsv", b"")


def test_files_of_different_length_are_refused():
    with refused("corpus.lengths-differ", ParallelError, n_source=2, n_target=1):
        read_moses(("c.en", b"one\ntwo\n"), ("c.de", b"eins\n"))


def test_cleaning_reports_excluded_pairs():
    content = "one\teins\none \teins\n\tzwei\nsame\tsame\n12\t13\nlong\t" + "x" * 5001 + "\n"
    kept, report = clean(read_pairs("c.tsv", content.encode()))
    assert kept == [("one", "eins")]
    assert (report.read, report.usable) == (6, 1)
    assert report.left_out == {
        "repeated": 1,
        "empty": 1,
        "equal": 1,
        "no-letter": 1,
        "long": 1,
    }
    assert report.examples["repeated"] == ["c.tsv:2"]


def test_what_is_kept_reads_back(data_dir: Path):
    path = data_dir / "parallel" / "en-zh.tatoeba.tsv"
    kept, report = clean(read_pairs(path.name, path.read_bytes()))
    assert report.read == 8000  # The README of the data.
    assert report.usable + sum(report.left_out.values()) == 8000
    assert parse_pairs(write_pairs(kept)) == kept
