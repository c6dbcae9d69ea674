"""Split texts into sentences, and align the sentences of two texts by their lengths.

Pure: neither Django nor torch. A sentence ends at a line break, at an end mark of its script, or
at ``.``, ``!``, ``?`` or ``…`` before a blank, unless a lower-case letter follows. Abbreviations
such as “Dr. Smith” are split; Thai has no end mark.

Alignment is that of Gale and Church (1993): one or two sentences with one or two, or with none, by
dynamic programming over numbers of characters, with their probabilities and variance. The expected
ratio of lengths is that of the two texts, so that it suits pairs such as Chinese and English. No
meaning is compared.
"""

import math
import re
from collections.abc import Sequence

# End marks of Chinese, Hindi, Khmer, Burmese, Ethiopic, Tibetan, Armenian, Urdu and Arabic need no
# blank after them.
_ENDS = re.compile(
    r"""[。！？｡।॥។៕။።།։۔؟]+["'”’»」』）)\]]*|(?<![.!?…])[.!?…]++["'”’»」』）)\]]*+(?=\s+[^\sa-zа-я])|\n+"""
)
_LN2 = math.log(2)
_VARIANCE = 6.8
# Costs of aligning these numbers of sentences.
_PRIORS = {
    (1, 1): -math.log(0.89),
    (1, 0): -math.log(0.0099),
    (0, 1): -math.log(0.0099),
    (2, 1): -math.log(0.089),
    (1, 2): -math.log(0.089),
    (2, 2): -math.log(0.011),
}
# Numbers of sentences by which two texts may be apart; it bounds the time for very long ones.
_BAND = 200
# Beyond it, the tail of the normal distribution is 0 in floating point.
_FARTHEST = 37.0
Span = tuple[int, int]


def split(text: str) -> list[Span]:
    """Return where each sentence begins and ends, without the blanks around it."""
    spans, start = [], 0
    for end in [*(found.end() for found in _ENDS.finditer(text)), len(text)]:
        sentence = text[start:end]
        if sentence.strip():
            first = start + len(sentence) - len(sentence.lstrip())
            spans.append((first, first + len(sentence.strip())))
        start = end
    return spans


def align(left: Sequence[int], right: Sequence[int]) -> list[tuple[int, int]]:
    """Return after which sentences, (left, right), both texts may be cut, in order.

    Takes the lengths of the sentences of two texts, which are not 0. The last pair is the end of
    both. Sentences without a counterpart are on the same side of every cut as those before them, at
    the beginning as those after them. Without a sentence on one side there is no cut.
    """
    if not left or not right:
        return []
    ratio = sum(right) / sum(left)
    sums = [[0], [0]]
    for total, lengths in zip(sums, (left, right), strict=True):
        for length in lengths:
            total.append(total[-1] + length)
    best = {(0, 0): (0.0, (0, 0))}
    band = _BAND + len(right) // len(left) + 1
    for i in range(len(left) + 1):
        middle = i * len(right) // len(left)
        for j in range(max(0, middle - band), min(len(right), middle + band) + 1):
            ways = []
            for (m, n), prior in _PRIORS.items():
                if before := best.get((i - m, j - n)):
                    sides = sums[0][i] - sums[0][i - m], sums[1][j] - sums[1][j - n]
                    ways.append((before[0] + prior + _cost(*sides, ratio), (i - m, j - n)))
            if ways:
                best[i, j] = min(ways)
    path = [(len(left), len(right))]
    while path[-1] != (0, 0):
        path.append(best[path[-1]][1])
    # Of cuts after the same sentence, the last one leaves the other side's with those before.
    last_right = dict(reversed(path))
    last_left = {j: i for i, j in last_right.items() if i and j}
    return [(i, j) for j, i in last_left.items()]


def _cost(left: int, right: int, ratio: float) -> float:
    """Return −ln of how probable it is that the lengths differ so much or more."""
    mean = (left + right / ratio) / 2
    far = abs(left * ratio - right) / math.sqrt(mean * _VARIANCE)
    if far > _FARTHEST:
        return far**2 / 2 + math.log(far * math.sqrt(2 * math.pi)) - _LN2
    return -math.log(math.erfc(far / math.sqrt(2)))
