"""Compute similarities of units for YiSi (Lo 2019): from vectors or from letters."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from extensions.neural.static_vectors import Words

Array = NDArray[np.float64]


def by_vectors(left: Words, right: Words) -> Array:
    """Return cosines, (m, n), at least 0."""
    return np.maximum(left.unit_vectors @ right.unit_vectors.T, 0)


def by_words(left: Words, right: Words, *, same_language: bool) -> Array:
    """Return cosines of static vectors, (m, n), at least 0; equal lower-cased words have 1.

    Across languages, equal words have 1 only if the vocabulary of one side lacks the word. Other
    unknown words have 0.
    """
    equal = np.array([[a.lower() == b.lower() for b in right.forms] for a in left.forms])
    counts = equal.reshape(len(left.forms), len(right.forms))
    if not same_language:
        counts = counts & ~(left.known[:, None] & right.known[None, :])
    return np.where(counts, 1.0, by_vectors(left, right))


def by_letters(left: Sequence[str], right: Sequence[str]) -> Array:
    """Return 2 l / (|a| + |b|), (m, n); l is the longest common substring, lengths in bytes."""
    (rows, row_of), (columns, column_of) = _distinct(left), _distinct(right)
    shares = np.empty((len(rows), len(columns)))
    for row, a in enumerate(rows):
        shares[row] = [_shared(*sorted((a, b))) for b in columns]
    return np.asarray(shares[np.ix_(row_of, column_of)])


def _distinct(words: Sequence[str]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the distinct words, and the index of every word among them."""
    places = {word: place for place, word in enumerate(dict.fromkeys(words))}
    return list(places), np.array([places[word] for word in words], dtype=np.intp)


@lru_cache(maxsize=2**17)
def _shared(a: str, b: str) -> float:
    short, long = sorted((a.encode(), b.encode()), key=len)
    longest, start = 0, 0
    while start + longest < len(short):
        if short[start : start + longest + 1] in long:
            longest += 1
        else:
            start += 1
    return 2 * longest / (len(short) + len(long))
