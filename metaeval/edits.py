"""Compute the translation edit rate: edits, including shifts of blocks, between two texts.

Snover et al. 2006, with the limits and the choices among equals of tercom as sacrebleu's
``sentence_score`` has them, to whose counts these are equal. The distances of all shifts that are
tried in a round are computed together; one by one, in Python, a rewritten sentence of 150
characters takes seconds.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

Tokens = NDArray[np.int32]
# tercom's limits: longest block, longest shift and beam width around the diagonal.
LONGEST_BLOCK, FARTHEST, BEAM = 10, 50, 25
# sacrebleu's limit on the number of shifts that are tried.
MOST_SHIFTS = 1_000
# Texts whose distances are computed together. More take more memory and are not faster.
TOGETHER = 256
UNREACHED = 2**30


@dataclass(frozen=True)
class Alignment:
    """Alignment of the tokens: the place of each reference token, and which are wrong."""

    place: dict[int, int]
    wrong_reference: list[int]
    wrong_text: list[int]


@dataclass(frozen=True)
class Shift:
    """A shift of the block of `length` tokens at `start` to before the token at `target`."""

    length: int
    start: int
    target: int

    def of(self, tokens: Tokens) -> Tokens:
        """Return the shifted tokens."""
        block = tokens[self.start : self.start + self.length]
        rest = np.concatenate([tokens[: self.start], tokens[self.start + self.length :]])
        # Within the block the target counts from the block's start in what is left.
        is_after = self.target > self.start + self.length
        at = self.target - self.length if is_after else self.target
        return np.concatenate([rest[:at], block, rest[at:]])


def edit_count(text: Sequence[str], reference: Sequence[str]) -> int:
    """Return how many tokens of a text are inserted, deleted, replaced or shifted as blocks.

    >>> edit_count("c d a b".split(), "a b c d".split())
    1
    """
    if not reference or text == reference:
        return 0 if reference else len(text)
    numbers: dict[str, int] = {}
    hyp, ref = (
        np.array([numbers.setdefault(token, len(numbers)) for token in tokens], dtype=np.int32)
        for tokens in (text, reference)
    )
    return _Rounds(ref).count(hyp)


class _Rounds:
    """Shifts towards one reference; each round makes the best shift."""

    def __init__(self, reference: Tokens) -> None:
        self.reference = reference
        self.places: Mapping[int, list[int]] = defaultdict(list)
        for place, token in enumerate(reference.tolist()):
            self.places[token].append(place)

    def count(self, hyp: Tokens) -> int:
        shifts = tried = 0
        while True:
            rows = list(_rows(hyp[None], self.reference))
            distance = int(rows[-1][1][0, -1])
            aligned = _aligned(rows, hyp, self.reference)
            found = list(self._shifts(hyp, aligned, MOST_SHIFTS - tried))
            tried += len(found)
            if not found or tried >= MOST_SHIFTS:
                return shifts + distance
            best, least = self._best(hyp, found)
            if least >= distance:
                return shifts + distance
            hyp, shifts = best.of(hyp), shifts + 1

    def _shifts(self, hyp: Tokens, aligned: Alignment, most: int) -> Iterator[Shift]:
        """Yield the shifts that tercom tries, with its repetitions, up to the limit."""
        wrong_text, wrong_reference = (
            [0, *accumulate(part)] for part in (aligned.wrong_text, aligned.wrong_reference)
        )
        tried = 0
        for start, at, length in self._equal_blocks(hyp):
            if wrong_text[start + length] == wrong_text[start]:
                continue
            if wrong_reference[at + length] == wrong_reference[at]:
                continue
            if start <= aligned.place[at] < start + length:
                continue
            for target in _targets(aligned.place, at, length):
                tried += 1
                yield Shift(length, start, target)
            if tried >= most:
                return

    def _equal_blocks(self, hyp: Tokens) -> Iterator[tuple[int, int, int]]:
        """Yield blocks of the text that the reference contains: (start, place there, length)."""
        tokens, reference = hyp.tolist(), self.reference.tolist()
        for start, token in enumerate(tokens):
            places = self.places.get(token, [])
            near = bisect_left(places, start - FARTHEST), bisect_right(places, start + FARTHEST)
            for at in places[slice(*near)]:
                most = min(LONGEST_BLOCK, len(tokens) - start, len(reference) - at)
                for length in range(1, most + 1):
                    if tokens[start + length - 1] != reference[at + length - 1]:
                        break
                    yield start, at, length

    def _best(self, hyp: Tokens, found: Sequence[Shift]) -> tuple[Shift, int]:
        """Return the shift that leaves fewest edits, and their number; ties: longest, first."""
        shifts = list(dict.fromkeys(found))
        left: list[int] = []
        for begin in range(0, len(shifts), TOGETHER):
            texts = np.stack([each.of(hyp) for each in shifts[begin : begin + TOGETHER]])
            *_, (_, row) = _rows(texts, self.reference)
            left += row[:, -1].tolist()
        return min(
            zip(shifts, left, strict=True),
            key=lambda one: (one[1], -one[0].length, one[0].start, one[0].target),
        )


def _targets(place: Mapping[int, int], at: int, length: int) -> Iterator[int]:
    """Yield the tokens before which a block may move that the reference has from `at` on."""
    before = -1
    for offset in range(at - 1, at + length):
        if offset >= 0 and offset not in place:
            return
        target = place[offset] + 1 if offset >= 0 else 0
        if target != before:
            yield target
        before = target


def _rows(texts: Tokens, reference: Tokens) -> Iterator[tuple[int, Tokens]]:
    """Yield the rows of the distances of (n, length) texts: the first column, and (n, columns).

    Only what is near the diagonal is computed; in the last row all to its right.
    """
    n, length = texts.shape
    width = len(reference) + 1
    slope = len(reference) / length if length else 1.0
    beam = ceil(slope / 2 + BEAM) if slope / 2 > BEAM else BEAM
    low, row = 0, np.tile(np.arange(width, dtype=np.int32), (n, 1))
    yield low, row
    for number in range(1, length + 1):
        middle = floor(number * slope)
        begin = max(0, middle - beam)
        end = width if number == length else min(width, middle + beam)
        above = _cut(row, low, begin - 1, end)
        low, row = begin, _next(above, texts[:, number - 1], reference, begin, end)
        yield low, row


def _cut(row: Tokens, low: int, begin: int, end: int) -> Tokens:
    """Return the columns from `begin` to `end` of a row that begins at `low`."""
    found = np.full((len(row), end - begin), UNREACHED, dtype=np.int32)
    first, last = max(low, begin), min(low + row.shape[1], end)
    if first < last:
        found[:, first - begin : last - begin] = row[:, first - low : last - low]
    return found


def _next(above: Tokens, token: Tokens, reference: Tokens, begin: int, end: int) -> Tokens:
    """Return a row from the one above it, which has one column more to the left."""
    best = above[:, 1:] + 1
    first = 1 if begin == 0 else 0
    replaced = above[:, first:-1] + (token[:, None] != reference[begin + first - 1 : end - 1])
    np.minimum(best[:, first:], replaced, out=best[:, first:])
    steps = np.arange(end - begin, dtype=np.int32)
    return np.asarray(np.minimum.accumulate(best - steps, axis=1) + steps, dtype=np.int32)


def _aligned(rows: Sequence[tuple[int, Tokens]], hyp: Tokens, reference: Tokens) -> Alignment:
    """Go back through the distances of one text; what is equal or replaced goes before the rest."""
    tokens, wanted = hyp.tolist(), reference.tolist()
    lows, lines = [low for low, _ in rows], [row[0].tolist() for _, row in rows]

    def at(i: int, j: int) -> int:
        inside = 0 <= j - lows[i] < len(lines[i])
        return lines[i][j - lows[i]] if inside else UNREACHED

    i, j = len(tokens), len(wanted)
    steps: list[tuple[bool, bool, bool]] = []  # of the text, of the reference, wrong
    while i or j:
        differs = bool(i and j) and tokens[i - 1] != wanted[j - 1]
        if i and j and at(i - 1, j - 1) + differs == at(i, j):
            steps.append((True, True, differs))
            i, j = i - 1, j - 1
        elif i and at(i - 1, j) + 1 == at(i, j):
            steps.append((True, False, True))
            i -= 1
        else:
            steps.append((False, True, True))
            j -= 1
    return _alignment(steps[::-1])


def _alignment(steps: Sequence[tuple[bool, bool, bool]]) -> Alignment:
    place: dict[int, int] = {}
    wrong_reference: list[int] = []
    wrong_text: list[int] = []
    for of_text, of_reference, is_wrong in steps:
        if of_text:
            wrong_text.append(int(is_wrong))
        if of_reference:
            place[len(wrong_reference)] = len(wrong_text) - 1
            wrong_reference.append(int(is_wrong))
    return Alignment(place, wrong_reference, wrong_text)
