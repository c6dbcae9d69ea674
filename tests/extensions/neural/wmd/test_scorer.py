"""Word mover's distance over word vectors, against a linear program."""

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from extensions.neural.moverscore.static import ngram_vectors
from metrics.base import SegmentInput
from tests.extensions.neural.reference_free import make

WORDS = ["a", "b", "c", "d", "e"]


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, dict[str, np.ndarray]]:
    random = np.random.default_rng(11)
    found = {}
    for side in ("source", "output"):
        table = {word: random.standard_normal(6).round(3) for word in WORDS}
        lines = [f"{word} {' '.join(map(str, row))}" for word, row in table.items()]
        (tmp_path / side).write_text("\n".join(lines))
        found[side] = table
    return found


def solve(cost: np.ndarray) -> float:
    """The least cost of uniform weights, by a linear program over all flows."""
    m, n = cost.shape
    rows = np.kron(np.eye(m), np.ones(n))
    columns = np.kron(np.ones(m), np.eye(n))
    masses = np.concatenate([np.full(m, 1 / m), np.full(n, 1 / n)])
    done = linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=masses)
    assert done.success
    return float(done.fun)


@pytest.mark.parametrize("cost", ["squared", "euclidean"])
@pytest.mark.parametrize(
    ("left", "right"), [("a b c", "c d e"), ("a b zzz c d", "e a"), ("a", "b")]
)
def test_equal_to_a_linear_program(
    tables: dict[str, dict[str, np.ndarray]], tmp_path: Path, cost: str, left: str, right: str
) -> None:
    metric = make(
        "wmd", vectors=str(tmp_path / "output"), source_vectors=str(tmp_path / "source"),
        cost=cost, tokenizer="whitespace",
    )  # fmt: skip
    unit = {
        side: np.array([table[word] for word in text.split() if word in table])
        for text, (side, table) in zip((left, right), tables.items(), strict=True)
    }
    unit = {side: x / np.linalg.norm(x, axis=1, keepdims=True) for side, x in unit.items()}
    between = np.linalg.norm(unit["source"][:, None] - unit["output"][None], axis=2)
    expected = 1 - solve(between**2 if cost == "squared" else between)
    value = metric.score([SegmentInput(left, right, ())])[0, 0]
    assert value == pytest.approx(expected, abs=1e-9)


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(("cost", "least"), [("squared", -3), ("euclidean", -1)])
def test_a_side_without_known_words_has_the_least_score(
    tmp_path: Path, cost: str, least: float
) -> None:
    path = str(tmp_path / "output")
    metric = make("wmd", vectors=path, source_vectors=path, cost=cost, tokenizer="whitespace")
    texts = [("", "a"), ("a", ""), ("", ""), ("zzz", "a"), ("a", "a")]
    values = metric.score([SegmentInput(source, output, ()) for source, output in texts])[:, 0]
    np.testing.assert_allclose(values, [least] * 4 + [1], atol=1e-12)


def test_n_grams_are_means_at_length_one() -> None:
    vectors = np.array([[3.0, 0], [0, 4], [0, 4]])
    np.testing.assert_allclose(ngram_vectors(vectors, 2), [[0.6, 0.8], [0, 1]])
    np.testing.assert_allclose(ngram_vectors(vectors[:1], 2), [[1, 0]])
