"""Word alignments from a file: found by text, refused by line."""

from pathlib import Path
from typing import Any

import pytest

from tests.training.doing import refused
from training.remap import alignment


def file(folder: Path, text: str) -> Path:
    path = folder / "links.tsv"
    path.write_text(text, encoding="utf-8")
    return path


def test_links_are_found_whatever_the_blanks(tmp_path: Path) -> None:
    found = alignment.read_links(file(tmp_path, "das Haus\tthe house .\t0-0 1-1\n"))
    chosen = alignment.choose_links(
        [("das Haus", "the house."), ("ein Buch", "a book")], found, False
    )
    assert chosen == [(["das", "Haus"], ["the", "house", "."], {(0, 0), (1, 1)}), None]


def test_a_corpus_turned_round_has_its_links_turned(tmp_path: Path) -> None:
    found = alignment.read_links(file(tmp_path, "gutes Haus\tgood old house\t0-0 1-2\n"))
    assert alignment.choose_links([("good old house", "gutes Haus")], found, True) == [
        (["good", "old", "house"], ["gutes", "Haus"], {(0, 0), (2, 1)})
    ]


@pytest.mark.parametrize(
    ("text", "code", "parameters"),
    [
        ("a\tb\t0-0\na b\tc\n", "columns", {"line": 2, "columns": 2}),
        ("a\tb\t0:0\n", "link", {"line": 1}),
        ("a\tb\t0-1\n", "no-words", {"line": 1, "link": "0-1"}),
        ("", "empty", {}),
    ],
)
def test_a_wrong_file_is_refused_by_line(
    tmp_path: Path, text: str, code: str, parameters: dict[str, Any]
) -> None:
    with refused(f"alignments.{code}", **parameters):
        alignment.read_links(file(tmp_path, text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with refused("alignments.unreadable", file=str(tmp_path / "nowhere")):
        alignment.read_links(tmp_path / "nowhere")
