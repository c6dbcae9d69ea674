"""Words or pieces of a text with their vectors, whatever gave them: an encoder or a file."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metrics.families.static_vectors import StaticVectors
from metrics.families.words import WordTokenizer

if TYPE_CHECKING:
    from metrics.encoding.token_vectors import Embedded

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Words:
    """Units of a text in order: ``forms`` (n), ``vectors`` (n, width), ``known`` (n,) bool.

    The vector of an unknown unit is 0.
    """

    forms: tuple[str, ...]
    vectors: Array
    known: NDArray[np.bool_]

    @property
    def unit_vectors(self) -> Array:
        """The vectors at length 1; a zero vector stays 0, and what is no number none."""
        norms = np.linalg.norm(self.vectors, axis=1, keepdims=True)
        return np.divide(self.vectors, norms, where=norms != 0, out=np.zeros_like(self.vectors))


def of_pieces(found: "Embedded", layer: int) -> Words:
    """Take an encoder's pieces at a layer, special ones left out."""
    kept = ~np.array(found.is_special)
    vectors = found.states[layer].double().cpu().numpy()[kept]
    forms = tuple(piece for piece, is_kept in zip(found.pieces, kept, strict=True) if is_kept)
    return Words(forms, vectors, np.ones(len(forms), dtype=bool))


def of_words(texts: Iterable[str], vectors: StaticVectors, cut: WordTokenizer) -> dict[str, Words]:
    """Look up the words of every distinct text."""
    return {text: _look_up(cut(text), vectors) for text in dict.fromkeys(texts)}


def _look_up(forms: tuple[str, ...], vectors: StaticVectors) -> Words:
    rows = [vectors.find(form) for form in forms]
    found = np.zeros((len(forms), vectors.width))
    for position, row in enumerate(rows):
        if row is not None:
            found[position] = row
    return Words(forms, found, np.array([row is not None for row in rows], dtype=bool))
