"""Files for altering texts: contents, and errors with file, line and field."""

import pytest

from tests.training.doing import refused
from training.perturbations.files import (
    GivenFile,
    LineError,
    read_alignments,
    read_dictionary,
    read_texts,
)


def test_the_first_translation_counts() -> None:
    content = "\ufeffHafen\tharbour\r\nHafen\tport\n\nSchiff \t ship\n".encode()
    dictionary = read_dictionary(GivenFile("words.tsv", content))
    assert dictionary.entries == {"Hafen": "harbour", "Schiff": "ship"}
    assert dictionary.longest == 6


@pytest.mark.parametrize(
    ("content", "code", "parameters"),
    [
        (b"a\tb\nc d\n", "dictionary-columns", {"line": 2, "columns": 1}),
        (b"a\tb\tc\n", "dictionary-columns", {"line": 1, "columns": 3}),
        (b"a\tb\n\n \tb\n", "word-empty", {"line": 3}),
        (b"a\t\n", "translation-empty", {"line": 1}),
        (b"\n", "dictionary-empty", {}),
        (b"", "dictionary-empty", {}),
        (b"a\tb\nc\td\ncaf\xe9\tb\n", "not-utf8", {"line": 3}),
        (b"\xef\xbb\xbfa\tb\nc\xe9\tb\n", "not-utf8", {"line": 2}),
        (b"a\tb\na\0\tb\n", "nul", {"line": 2}),
    ],
)
def test_wrong_dictionaries(content: bytes, code: str, parameters: dict[str, int]) -> None:
    with refused(f"file.{code}", LineError, file="words.tsv", **parameters):
        read_dictionary(GivenFile("words.tsv", content))


@pytest.mark.parametrize(
    ("line", "number", "text"), [("0-0 1", 2, "1"), ("a-b", 1, "a-b"), ("0-0-0", 1, "0-0-0"),
                                 ("0-0 1-1 2--1", 3, "2--1"), ("0-0 ١-1", 2, "١-1")],
)  # fmt: skip
def test_wrong_alignments(line: str, number: int, text: str) -> None:
    with refused("file.link", LineError, file="links", line=3, number=number, text=text):
        read_alignments(GivenFile("links", f"0-0 1-1\n\n{line}\n".encode()))


def test_one_line_a_segment() -> None:
    assert read_alignments(GivenFile("links", b"0-0 1-2\n\n")) == [[(0, 0), (1, 2)], []]
    texts = GivenFile("texts", "one\u2028text\n\n two \n".encode())
    assert read_texts(texts) == ["one\u2028text", None, "two"]
