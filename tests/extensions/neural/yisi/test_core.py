"""YiSi's core against the literal checks, and against a plain reading of its definition."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from extensions.neural.yisi import core
from extensions.neural.yisi.core import LexicalWeights, by_letters, combine, precision_recall
from tests.extensions.neural.reference_free import read_check


def test_n_grams_and_alpha(data_dir: Path) -> None:
    check = read_check(data_dir, "A6")
    values = np.array(check["inputs"]["similarity_rows_source_cols_hyp"])
    left, right = (np.array(check["inputs"][f"{side}_weights"]) for side in ("source", "hyp"))
    for name, expected in check["expected"].items():
        order, alpha = (part.split("=")[1] for part in name.split(","))
        precision, recall = precision_recall(values, left, right, int(order))
        value = combine(precision, recall, float(alpha))
        assert value == pytest.approx(expected, abs=check["tolerance"]), name


def test_lexical_weights(data_dir: Path) -> None:
    check = read_check(data_dir, "A7")
    names = {"B_uppercase": "B", "unseen": "never"}
    units = [names.get(key, key) for key in check["expected"]]
    weights = LexicalWeights(check["inputs"]["sentences"]).of(units)
    np.testing.assert_allclose(weights, list(check["expected"].values()), atol=check["tolerance"])


def test_equal_to_loops_over_n_grams() -> None:
    """The definition, n-gram by n-gram."""
    random = np.random.default_rng(3)
    for m, n, order in product((1, 2, 5), (1, 3, 6), (1, 2, 4)):
        values, left, right = random.random((m, n)), random.random(m), random.random(n)
        size = min(order, m, n)
        rows, columns = range(m - size + 1), range(n - size + 1)

        def share(i: int, j: int, weights, offset: int, s=values, size=size) -> float:  # type: ignore[no-untyped-def]
            steps = range(size)
            total = sum(weights[offset + k] for k in steps)
            return sum(weights[offset + k] * s[i + k, j + k] for k in steps) / total

        w_left = [left[i : i + size].sum() for i in rows]
        w_right = [right[j : j + size].sum() for j in columns]
        recall = sum(w_left[i] * max(share(i, j, left, i) for j in columns) for i in rows) / sum(
            w_left
        )
        precision = sum(
            w_right[j] * max(share(i, j, right, j) for i in rows) for j in columns
        ) / sum(w_right)
        assert precision_recall(values, left, right, order) == pytest.approx((precision, recall))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_a_side_without_units_scores_zero(shape: tuple[int, int]) -> None:
    found = precision_recall(np.zeros(shape), np.ones(shape[0]), np.ones(shape[1]), 3)
    assert combine(*found, 0.8) == 0


def test_longest_common_substring_in_bytes() -> None:
    # "bour" of "harbour" and "bourse"; 港口 and 海口 share the three bytes of 口 and no more.
    rows = by_letters(["harbour", "港口"], ["bourse", "海口", "x"])
    np.testing.assert_allclose(rows, [[8 / 13, 0, 0], [0, 6 / 12, 0]])


def test_words_that_come_again_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of 5,000 words has a few hundred kinds: a pair of texts took 21 s."""
    left, right = ["a\0", "harbour", "a", "harbour"] * 50, ["bourse", "a", "bourse"] * 50
    seen: list[tuple[str, str]] = []
    shared = core._shared
    monkeypatch.setattr(core, "_shared", lambda *pair: (seen.append(pair), shared(*pair))[1])
    rows = core.by_letters(left, right)
    share = {"harbour": (8 / 13, 2 / 8), "a": (0, 1), "a\0": (0, 2 / 3)}
    assert rows.tolist() == [[share[a][b == "a"] for b in right] for a in left]
    assert len(seen) == 6


@pytest.mark.parametrize(("left", "right"), [([], ["a"]), (["a"], []), ([], [])])
def test_no_words_no_similarities(left: list[str], right: list[str]) -> None:
    assert by_letters(left, right).shape == (len(left), len(right))
