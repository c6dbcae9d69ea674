"""Files that say how texts are altered: what they hold, and errors with name, line and field."""

import pytest

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
    ("content", "message"),
    [
        (b"a\tb\nc d\n", "words.tsv, line 2: expected word, tab, translation; found 1 columns."),
        (b"a\tb\tc\n", "words.tsv, line 1: expected word, tab, translation; found 3 columns."),
        (b"a\tb\n\n \tb\n", "words.tsv, line 3, word: empty."),
        (b"a\t\n", "words.tsv, line 1, translation: empty."),
        (b"\n", "words.tsv: the dictionary is empty."),
        (b"", "words.tsv: the dictionary is empty."),
        (b"a\tb\nc\td\ncaf\xe9\tb\n", "words.tsv, line 3: this is not UTF-8."),
        (b"\xef\xbb\xbfa\tb\nc\xe9\tb\n", "words.tsv, line 2: this is not UTF-8."),
        (b"a\tb\na\0\tb\n", "words.tsv, line 2: holds a NUL character."),
    ],
)
def test_dictionaries_that_are_none(content: bytes, message: str) -> None:
    with pytest.raises(LineError) as found:
        read_dictionary(GivenFile("words.tsv", content))
    assert str(found.value) == message


@pytest.mark.parametrize(
    ("line", "link"), [("0-0 1", "2: '1'"), ("a-b", "1: 'a-b'"), ("0-0-0", "1: '0-0-0'"),
                       ("0-0 1-1 2--1", "3: '2--1'"), ("0-0 ١-1", "2: '١-1'")],
)  # fmt: skip
def test_alignments_that_are_none(line: str, link: str) -> None:
    with pytest.raises(LineError) as found:
        read_alignments(GivenFile("links", f"0-0 1-1\n\n{line}\n".encode()))
    assert str(found.value) == f"links, line 3, link {link} is no pair of places such as 0-2."


def test_one_line_a_segment() -> None:
    assert read_alignments(GivenFile("links", b"0-0 1-2\n\n")) == [[(0, 0), (1, 2)], []]
    texts = GivenFile("texts", "one\u2028text\n\n two \n".encode())
    assert read_texts(texts) == ["one\u2028text", None, "two"]
