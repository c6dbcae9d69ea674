"""Count the n-grams that texts share with their references, for many texts at once."""

from collections.abc import Hashable, Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]
# Tokens of one block: bounds the memory, never the results.
CELLS = 2**16
# Larger than the code of any n-gram, which has at most 62 bits.
NOTHING = np.iinfo(np.int64).max


def of_characters(texts: Sequence[str]) -> tuple[Integers, Integers]:
    """Return a number for each character, as `of_words` does for words."""
    octets = "".join(texts).encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(octets, np.uint32).astype(np.int64)
    number = np.cumsum(np.bincount(points) > 0) - 1
    return number[points], np.array([*map(len, texts)], np.int64)


def of_words(texts: Sequence[Sequence[Hashable]]) -> tuple[Integers, Integers]:
    """Return the number of each word of all texts, from 0, and the length of each text."""
    words = [*chain.from_iterable(texts)]
    number = {word: place for place, word in enumerate(dict.fromkeys(words))}
    codes = np.fromiter(map(number.__getitem__, words), np.int64, len(words))
    return codes, np.array([*map(len, texts)], np.int64)


def totals(lengths: Integers, order: int) -> Integers:
    """Return the number of n-grams of texts of these lengths: texts x orders 1 to ``order``."""
    return np.maximum(lengths[:, None] - np.arange(order), 0)


def matches(
    tokens: tuple[Integers, Integers], sizes: Integers, references: Integers, order: int
) -> Integers:
    """Return matched n-grams, texts x orders 1 to ``order``; 0 for references.

    An n-gram counts as often as the text has it, but at most as often as the reference that has it
    most often.

    Parameters
    ----------
    tokens
        The tokens of all texts one after another, and the length of each text.
    sizes, references
        How many texts each group has, and how many of these, the first, are the references of the
        others.
    """
    codes, lengths = tokens
    found = np.zeros((len(lengths), order), np.int64)
    distinct = int(codes.max(initial=0)) + 1
    first = np.cumsum(sizes) - sizes
    text_of = np.repeat(np.arange(len(lengths)), lengths)
    # Tokens from this one to the end of its text.
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(codes))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    begins = starts[first]
    widths = starts[first + sizes] - begins
    by_width = np.argsort(widths, kind="stable")
    place = 0
    while place < len(sizes):
        # Groups of about one width; the widest of those that fit into a block is the last.
        stop = place + 1
        while stop < len(sizes) and (stop + 1 - place) * widths[by_width[stop]] <= CELLS:
            stop += 1
        groups = by_width[place:stop]
        place = stop
        if not widths[groups[-1]]:
            continue
        # One column more than tokens, so that each row of n-grams ends with nothing.
        columns = np.arange(widths[groups[-1]] + 1)
        inside = columns < widths[groups][:, None]
        at = (begins[groups][:, None] + columns)[inside]
        cells, which, rest = np.zeros((3, *inside.shape), np.int64)
        cells[inside] = codes[at]
        which[inside] = text_of[at] - np.repeat(first[groups], widths[groups])
        rest[inside] = left[at]
        members = np.arange(sizes[groups].max()) < sizes[groups][:, None]
        texts = (first[groups][:, None] + np.arange(members.shape[1]))[members]
        for n, counts in enumerate(
            _matches(cells, which, rest, distinct, members.shape, references[groups], order)
        ):
            found[texts, n] = counts[members]
    return found


def _matches(
    cells: Integers,
    which: Integers,
    rest: Integers,
    distinct: int,
    shape: tuple[int, int],
    references: Integers,
    order: int,
) -> list[Integers]:
    """Return, for each order, groups x texts; a row of cells has the texts of one group.

    Sorted, equal n-grams of a group follow each other, text by text.
    """
    bits = max(shape[1] - 1, 1).bit_length()
    codes, n_codes, counts = cells, distinct, []
    # No row has n-grams of more tokens than columns.
    for n in range(1, min(order, cells.shape[1]) + 1):
        if n > 1:
            if n_codes * distinct >= 2 ** (62 - bits):
                _, inverse = np.unique(codes, return_inverse=True)
                codes, n_codes = inverse.reshape(codes.shape), int(inverse.max()) + 1
            codes = codes[:, :-1] * distinct + cells[:, n - 1 :]
            n_codes *= distinct
        width = codes.shape[1]
        keys = np.where(rest[:, :width] >= n, codes << bits | which[:, :width], NOTHING)
        keys.sort(axis=1)
        flat = keys.ravel()
        runs = np.flatnonzero(np.concatenate([[True], flat[1:] != flat[:-1]]))
        lengths = np.diff(runs, append=len(flat))
        key, row = flat[runs], runs // width
        text = np.where(key == NOTHING, 0, key & (2**bits - 1))
        is_reference = text < references[row]
        ngrams = np.flatnonzero(np.concatenate([[True], np.diff(key >> bits) != 0]))
        most = np.maximum.reduceat(np.where(is_reference, lengths, 0), ngrams)
        most = np.repeat(most, np.diff(ngrams, append=len(key)))
        common = np.where(is_reference | (key == NOTHING), 0, np.minimum(lengths, most))
        size = shape[0] * shape[1]
        counts.append(
            np.bincount(row * shape[1] + text, common, size).astype(np.int64).reshape(shape)
        )
    return counts
