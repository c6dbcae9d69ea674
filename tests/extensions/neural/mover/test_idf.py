"""idf weights against the literal check, and corpora that are none."""

from pathlib import Path

import pytest

from extensions.neural.encoding import token_vectors
from metrics.base import MetricError
from tests.extensions.neural.mover.published import CHECKS
from tests.refusals import refused


def test_published_weights(tmp_path: Path) -> None:
    documents, expected = CHECKS["C7"]["inputs"]["documents"], CHECKS["C7"]["expected"]
    values = list(expected.values())
    table = token_vectors.count_documents(documents)
    assert table.weigh(list(expected)) == pytest.approx(values, abs=1e-6)
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(" ".join(each) for each in documents) + "\n\n  \n")
    read = token_vectors.read_table(str(corpus), str.split)
    assert read.weigh(list(expected)) == pytest.approx(values, abs=1e-6)


def test_another_corpus_has_another_digest(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("a b")
    first = token_vectors.read_table(str(corpus), str.split).digest
    corpus.write_text("a c")
    assert token_vectors.read_table(str(corpus), str.split).digest != first


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "file.no-sentence"),
        (b" \n\n", "file.no-sentence"),
        (b"\xff\xfe caf\xe9", "words.not-utf-8"),
    ],
)
def test_a_corpus_that_is_none(tmp_path: Path, content: bytes, code: str) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_bytes(content)
    with refused(code, kind=MetricError, path=str(corpus)) as caught:
        token_vectors.read_table(str(corpus), str.split)
    assert caught.value.permanent


def test_a_corpus_that_is_missing() -> None:
    with refused("file.unreadable", kind=MetricError, path="/nowhere/corpus.txt"):
        token_vectors.read_table("/nowhere/corpus.txt", str.split)
