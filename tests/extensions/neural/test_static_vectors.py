"""Files of word vectors: found without reading them whole, and what is broken is named."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extensions.neural import static_vectors
from metrics.base import MetricError
from tests.refusals import refused


def write(tmp_path: Path, text: str | bytes, name: str = "words.vec") -> str:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def test_words_are_found_as_they_are_then_lower_cased(tmp_path: Path) -> None:
    # fastText ends its lines with a blank.
    path = write(tmp_path, "4 2\nthe 1 2 \nThe 3 4 \n港口 -0.5 1e-2 \nthe 9 9 \n")
    vectors = static_vectors.load(path)
    assert (len(vectors), vectors.width) == (4, 2)
    for word, expected in {
        "the": [1, 2],
        "The": [3, 4],
        "THE": [1, 2],
        "港口": [-0.5, 0.01],
    }.items():
        np.testing.assert_array_equal(vectors.find(word), expected)
    assert vectors.find("absent") is None


def test_no_more_is_kept_than_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static_vectors, "KEPT", 3)
    vectors = static_vectors.load(write(tmp_path, "".join(f"w{n} {n}\n" for n in range(9))))
    assert [float(vectors.find(f"w{n}")[0]) for n in range(9)] == list(range(9))
    assert len(vectors._parsed) <= 3


def test_equal_to_a_plain_reader(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    table = {f"word{number}": random.standard_normal(7).round(4) for number in range(500)}
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in table.items()]
    vectors = static_vectors.load(write(tmp_path, "\n".join(lines)))  # no header, no last newline
    assert len(vectors) == 500
    for word, row in table.items():
        np.testing.assert_array_equal(vectors.find(word), row)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "3 2\na 1 2\nb 1\nc 1 2\n",
            {"line": 3, "problem": "vectors.width", "width": 2, "actual": 1},
        ),
        ("a 1 2\nb 1 2 3\n", {"line": 2, "problem": "vectors.width", "width": 2, "actual": 3}),
        ("a 1 2\n\nb 1 2\n", {"line": 2, "problem": "vectors.width", "width": 2, "actual": 0}),
        (
            "5 2\na 1 2\nb 1 2\n",
            {"line": 1, "problem": "vectors.word-count", "stated": 5, "actual": 2},
        ),
        ("word\n", {"line": 1, "problem": "vectors.width", "width": 0}),
    ],
)
def test_a_broken_file_is_refused_by_line(tmp_path: Path, text: str, facts: dict[str, Any]) -> None:
    path = write(tmp_path, text)
    with refused("vectors.line", kind=MetricError, path=str(path), **facts) as caught:
        static_vectors.load(path)
    assert caught.value.permanent


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "")
    with refused("vectors.empty", kind=MetricError, path=str(path)) as caught:
        static_vectors.load(path)
    assert caught.value.permanent


@pytest.mark.parametrize(
    ("field", "problem"),
    [("x", "vectors.not-a-number"), ("nan", "vectors.not-finite")],
)
def test_a_broken_number_is_named_where_its_word_is_asked_for(
    tmp_path: Path, field: str, problem: str
) -> None:
    vectors = static_vectors.load(write(tmp_path, f"a 1 2\nb 1 {field}\n"))
    assert vectors.find("a") is not None
    with refused("vectors.line", kind=MetricError, line=2, problem=problem):
        vectors.find("b")


def test_a_missing_file(tmp_path: Path) -> None:
    with refused("file.unreadable", kind=MetricError, path=str(tmp_path / "absent.vec")):
        static_vectors.load(str(tmp_path / "absent.vec"))


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    first = static_vectors.load(write(tmp_path, "a 1 2\n"))
    second = static_vectors.load(write(tmp_path, "a 1 2\nb 3 4\n"))
    assert first.digest != second.digest
    assert second.find("b") is not None
