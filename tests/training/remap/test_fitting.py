"""Fitting recovers what made the data; what is too little is refused."""

import numpy as np
import pytest

from extensions.neural.mover.mapping import About
from tests.training.doing import refused
from training.remap import fitting
from training.remap.fitting import Vectors

ABOUT = About("clp", "acme/x", "f", 1, "zh", "en", 0, "h")


def rotation(width: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(3).normal(size=(width, width)))[0]


def sentences(n: int) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [((f"s{k}", "x"), (f"t{k}", "y")) for k in range(n)]


@pytest.fixture
def rotated() -> tuple[Vectors, np.ndarray]:
    """Sources are rotated targets, through words and links."""
    generator, turn = np.random.default_rng(1), rotation(6)
    pairs, vectors = sentences(40), {}
    for source, target in pairs:
        vectors[target] = generator.normal(size=(2, 6))
        vectors[source] = vectors[target][::-1] @ turn.T
    crossed = [{(0, 1), (1, 0)}] * len(pairs)
    return fitting.word_vectors(pairs, crossed, vectors), turn


def test_a_known_rotation_is_recovered(rotated: tuple[Vectors, np.ndarray]) -> None:
    vectors, turn = rotated
    for kind in ("clp", "clp-unconstrained"):
        mapping = fitting.fit_to(kind, ABOUT, vectors)
        np.testing.assert_allclose(mapping.array, turn, atol=1e-8)
        assert (mapping.about.kind, mapping.about.n_pairs) == (kind, 80)


def test_a_known_shift_is_removed() -> None:
    """UMD's direction is the one in which the sides differ."""
    target = np.random.default_rng(2).normal(size=(50, 5))
    shift = np.array([0.0, 3.0, 0.0, 4.0, 0.0])
    mapping = fitting.fit_to("umd", ABOUT, Vectors(target + shift, target))
    np.testing.assert_allclose(mapping.array, shift / 5, atol=1e-10)


def test_held_out_pairs_are_found_after_the_turn(rotated: tuple[Vectors, np.ndarray]) -> None:
    vectors, _ = rotated
    mapping = fitting.fit_to("clp", ABOUT, vectors)
    before, after = fitting.measure(None, vectors), fitting.measure(mapping, vectors)
    assert after["cosine"] == pytest.approx(1)
    assert after["found"] == 1.0 > before["found"]
    assert after["cosine_of_others"] < 0.2


def test_sentences_are_means_of_their_words() -> None:
    pairs = [(("a", "b"), ("c",))]
    vectors = {("a", "b"): np.array([[1.0, 3.0], [3.0, 5.0]]), ("c",): np.array([[7.0, 7.0]])}
    found = fitting.sentence_vectors(pairs, vectors)
    np.testing.assert_array_equal(found.source, [[2.0, 4.0]])
    np.testing.assert_array_equal(found.target, [[7.0, 7.0]])


def test_pairs_have_1_to_99_words_as_published() -> None:
    def words(n: int) -> tuple[str, ...]:
        return ("w",) * n

    sizes = [(1, 1), (0, 5), (99, 99), (100, 5), (5, 100), (5, 0)]
    assert fitting.usable([(words(a), words(b)) for a, b in sizes]) == [0, 2]


def test_words_without_vectors_are_left_out() -> None:
    pairs = sentences(2)
    vectors = {pairs[0][0]: np.array([[1.0], [0.0]]), pairs[0][1]: np.array([[2.0], [3.0]])}
    found = fitting.word_vectors(pairs, [{(0, 0), (1, 1)}] * 2, vectors)
    assert (found.source.tolist(), found.target.tolist()) == ([[1.0]], [[2.0]])


def test_too_little_is_refused() -> None:
    with refused("remap.too-few-vectors", n=0):
        fitting.fit_to("clp", ABOUT, fitting.NONE)


def test_the_curve_ends_with_all_there_is() -> None:
    assert fitting.sizes_of_curve(700) == [100, 200, 500, 700]
    assert fitting.sizes_of_curve(90) == [90]
    assert fitting.sizes_of_curve(30_000)[-2:] == [5_000, 10_000]
