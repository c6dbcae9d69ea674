"""A guesser that learns from some items what others are: how much a page tells besides its texts.

A look at a screen is a set of tokens. The guesser ranks the tokens by how unevenly they fall on
the two labels in one half of the items, keeps the few most uneven ones, and guesses the other half
by naive Bayes; then the halves change places. What it guesses right is compared with chance by
Fisher's exact test, which holds for any share of labels and any habit of guessing.
"""

import math
import zlib
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass

from scipy.stats import fisher_exact

KEPT = 8
# A token of a few looks only says little of others.
LEAST = 4
# Some hundred guesses are made in all: with this bound, one in a thousand runs of them would call
# leaking what is at chance. The runs themselves are seeded and repeat to the digit.
BOUND = 1e-5


@dataclass(frozen=True)
class Look:
    """What was received with one item; `group` is the item, however many people got it."""

    group: int
    label: bool
    tokens: Set[str]


@dataclass(frozen=True)
class Guesses:
    """How well held-out labels were guessed, and the tokens that were relied on."""

    right: int
    n: int
    accuracy: float  # mean of both labels: .5 is chance
    pvalue: float
    tokens: tuple[str, ...]

    @property
    def is_chance(self) -> bool:
        """Whether this many right guesses come of themselves."""
        return self.pvalue > BOUND

    def __str__(self) -> str:
        return f"{self.accuracy:.2f} of {self.n}, p {self.pvalue:.1e}: {'; '.join(self.tokens)}"


def guess(looks: Sequence[Look]) -> Guesses:
    """Guess the labels of each half of the items from the other half."""
    table = Counter[tuple[bool, bool]]()
    used: list[str] = []
    for half in (0, 1):
        weights = _learn([look for look in looks if _half(look) != half])
        used += weights
        for look in looks:
            if _half(look) == half:
                table[look.label, _score(weights, look.tokens) > 0] += 1
    hits, misses = table[True, True], table[True, False]
    alarms, rejections = table[False, True], table[False, False]
    if not (hits + misses and alarms + rejections):
        raise ValueError("Looks of one label only: there is nothing to guess.")
    rates = hits / (hits + misses), rejections / (alarms + rejections)
    test = fisher_exact([[hits, misses], [alarms, rejections]], alternative="greater")
    return Guesses(
        right=hits + rejections,
        n=len(looks),
        accuracy=sum(rates) / 2,
        pvalue=float(test.pvalue),
        tokens=tuple(dict.fromkeys(used)),
    )


def _half(look: Look) -> int:
    """Which half an item is in: by nothing that its number could have to do with."""
    return zlib.crc32(str(look.group).encode()) % 2


def _learn(looks: Sequence[Look]) -> dict[str, float]:
    """Return the log odds of the most telling tokens, present against absent being one weight."""
    sizes = Counter(look.label for look in looks)
    counts = {label: Counter[str]() for label in (True, False)}
    for look in looks:
        counts[look.label].update(look.tokens)
    ranked = sorted(
        (-_unevenness(counts, sizes, token), token)
        for token in {*counts[True], *counts[False]}
        if counts[True][token] + counts[False][token] >= LEAST
    )
    kept = [token for unevenness, token in ranked[:KEPT] if unevenness < 0]
    return {token: _log_odds(counts, sizes, token) for token in kept} | _base(counts, sizes, kept)


def _share(
    counts: dict[bool, Counter[str]], sizes: Counter[bool], token: str, label: bool
) -> float:
    return (counts[label][token] + 0.5) / (sizes[label] + 1)


def _unevenness(counts: dict[bool, Counter[str]], sizes: Counter[bool], token: str) -> float:
    """The square of the score statistic for two shares."""
    n = sizes[True] + sizes[False]
    pooled = (counts[True][token] + counts[False][token]) / n
    if not 0 < pooled < 1 or not sizes[True] or not sizes[False]:
        return 0.0
    difference = counts[True][token] / sizes[True] - counts[False][token] / sizes[False]
    return difference**2 / (pooled * (1 - pooled) * (1 / sizes[True] + 1 / sizes[False]))


def _log_odds(counts: dict[bool, Counter[str]], sizes: Counter[bool], token: str) -> float:
    with_it = [_share(counts, sizes, token, label) for label in (True, False)]
    return math.log(with_it[0] / with_it[1]) - math.log((1 - with_it[0]) / (1 - with_it[1]))


def _base(
    counts: dict[bool, Counter[str]], sizes: Counter[bool], tokens: Sequence[str]
) -> dict[str, float]:
    """The weight of a look without any of the tokens; both labels are as likely beforehand."""
    shares = [[_share(counts, sizes, token, label) for token in tokens] for label in (True, False)]
    return {"": sum(math.log((1 - p) / (1 - q)) for p, q in zip(*shares, strict=True))}


def _score(weights: dict[str, float], tokens: Set[str]) -> float:
    return sum(weight for token, weight in weights.items() if not token or token in tokens)
