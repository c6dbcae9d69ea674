"""Definitions, n-grams and distances against the literal checks and plain computations."""

import numpy as np
import pytest
import torch

from extensions.neural.mover import matching
from extensions.neural.mover.matching import make_bag, score_pairs
from extensions.neural.mover.options import VARIANTS, Definition
from extensions.neural.transport import flow_dropout_cost, integer_flow, transport_cost
from tests.extensions.neural.mover.published import CHECKS

CHECK = CHECKS["C4"]
INPUTS, EXPECTED = CHECK["inputs"], CHECK["expected"]
PAPER, V1, V2 = (VARIANTS[name].definition for name in ("paper", "release-2020", "head-2022"))
V2_DROPOUT = Definition(False, "euclidean", "inverse", dropout=0.3)


def bags(definition: Definition, n: int) -> tuple[matching.Bag, matching.Bag]:
    sides = []
    for side in ("source", "hyp"):
        places = definition.chosen(INPUTS[f"{side}_tokens"])
        vectors = torch.tensor(INPUTS[f"{side}_embeddings"], dtype=torch.float32)[places]
        sides.append(make_bag(vectors, n))
    return sides[0], sides[1]


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize(
    ("definition", "key"),
    [(V1, "v1_n{}_squared_distance"), (PAPER, "paper_n{}_euclidean_distance_same_tokens")],
)
def test_published_scores(definition: Definition, key: str, n: int) -> None:
    (score,) = score_pairs([bags(definition, n)], definition)
    assert score == pytest.approx(EXPECTED[key.format(n)], abs=2e-6)


@pytest.mark.parametrize("n", [1, 2])
def test_published_score_of_the_later_head(n: int) -> None:
    expected = EXPECTED[f"v2_n{n}_exact_flows"]
    pair = bags(V2, n)
    (cost,) = matching.distances([pair], "euclidean")
    assert transport_cost(cost) == pytest.approx(expected["flow_cost_full"], abs=2e-6)
    assert flow_dropout_cost(cost) == pytest.approx(expected["cost_after_drop"], abs=2e-6)
    assert integer_flow(cost).tolist() == expected["integer_flow"]
    assert score_pairs([pair], V2_DROPOUT)[0] == pytest.approx(expected["score"], abs=2e-6)
    exact = 1 / (1 + expected["flow_cost_full"])
    assert score_pairs([pair], V2)[0] == pytest.approx(exact, abs=2e-6)


def test_pieces_of_the_first_release() -> None:
    pieces = ["[CLS]", "der", "##e", ".", "...", "。", "a##b", "[SEP]"]
    assert V1.chosen(pieces) == [0, 1, 4, 5, 7]
    assert V2.chosen(pieces) == list(range(8))


# In double precision, whatever the kernel: a product of 768 numbers is off by less than 1e-13, and
# the root of what is left, 1e-4 at the least, by at most fifty times as much.
EXACT = 1e-11


def unit_rows(vectors: torch.Tensor) -> np.ndarray:
    rows = vectors.numpy().astype(np.float64)
    return rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]


def plain_distances(left: torch.Tensor, right: torch.Tensor) -> np.ndarray:
    """Distances of unit vectors by their differences: no product, so no BLAS and no digits lost."""
    apart = unit_rows(left)[:, None] - unit_rows(right)[None]
    return np.sqrt(np.einsum("ijk,ijk->ij", apart, apart))


@pytest.mark.parametrize("apart", [0.0, 1e-6, 1e-3, 1e-2, 0.1, 1.0])
def test_distances_of_near_vectors_keep_their_digits(apart: float) -> None:
    generator = torch.Generator().manual_seed(3)
    left = torch.randn(40, 768, generator=generator)
    right = left[:30] + apart * torch.randn(30, 768, generator=generator)
    pair = make_bag(left, 1), make_bag(right, 1)
    expected = plain_distances(left, right)
    (found,) = matching.distances([pair], "euclidean")
    np.testing.assert_allclose(found, expected, rtol=0, atol=EXACT)
    (squared,) = matching.distances([pair], "squared")
    np.testing.assert_allclose(squared, expected**2, rtol=0, atol=EXACT)


def test_distances_of_vectors_with_a_large_part_in_common() -> None:
    """As encoders' vectors are: most of their length points the same way."""
    generator = torch.Generator().manual_seed(5)
    shared = 10 * torch.randn(768, generator=generator)
    left, right = (shared + torch.randn(k, 768, generator=generator) for k in (12, 9))
    pair = make_bag(left, 1), make_bag(right, 1)
    (found,) = matching.distances([pair], "euclidean")
    np.testing.assert_allclose(found, plain_distances(left, right), rtol=0, atol=EXACT)


def test_weighted_ngrams_are_weighted_means() -> None:
    vectors = torch.tensor([[1.0, 0], [0, 1], [2, 2]])
    bag = make_bag(vectors, 2, np.array([1.0, 3, 0]))
    assert bag.weights is not None
    assert bag.weights.tolist() == [4, 3]
    directions = torch.nn.functional.normalize(bag.vectors, dim=1)
    expected = torch.nn.functional.normalize(torch.tensor([[1.0, 3], [0, 3]]), dim=1)
    torch.testing.assert_close(directions, expected)
    assert make_bag(vectors, 2, np.zeros(3)).weights is None


def test_equal_weights_give_what_no_weights_give() -> None:
    generator = torch.Generator().manual_seed(4)
    left, right = (torch.randn(k, 8, generator=generator) for k in (5, 8))
    for n in (1, 2):
        plain = make_bag(left, n), make_bag(right, n)
        weighted = make_bag(left, n, np.full(5, 2.0)), make_bag(right, n, np.full(8, 0.1))
        assert score_pairs([weighted], V1) == pytest.approx(score_pairs([plain], V1), abs=1e-6)


def test_a_text_shorter_than_n_is_one_ngram() -> None:
    vectors = torch.tensor([[1.0, 0], [0, 1]])
    bag = make_bag(vectors, 3)
    torch.testing.assert_close(bag.vectors, torch.tensor([[1.0, 1.0]]))
    with pytest.raises(ValueError, match="at least one"):
        make_bag(vectors[:0], 1)


def test_a_vector_of_length_zero_is_at_right_angles_to_all() -> None:
    pair = make_bag(torch.zeros(1, 4), 1), make_bag(torch.eye(4), 1)
    (found,) = matching.distances([pair], "squared")
    assert found.tolist() == [[2.0] * 4]


def test_dropout_is_for_equal_weights() -> None:
    left, right = torch.eye(3), torch.eye(3)[:2]
    pair = make_bag(left, 1, np.array([1.0, 2, 3])), make_bag(right, 1)
    with pytest.raises(ValueError, match="equal weights"):
        score_pairs([pair], V2_DROPOUT)


def test_no_pairs() -> None:
    assert score_pairs([], V1).shape == (0,)
    assert matching.distances([], "squared") == []


@pytest.mark.parametrize(("definition", "worst"), [(V1, -3), (PAPER, -1), (V2, 1 / 3)])
def test_worst_is_that_of_opposite_vectors(definition: Definition, worst: float) -> None:
    pair = make_bag(torch.eye(2)[:1], 1), make_bag(-torch.eye(2)[:1], 1)
    assert score_pairs([pair], definition)[0] == pytest.approx(worst)
    assert definition.worst == pytest.approx(worst)
