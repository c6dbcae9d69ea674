"""The objective of an extract (Schumann et al. 2020), and the search for the best ones.

Many restarts of many sentences move in step. A sentence's draws come from a generator of its own,
so that its extract is the same whichever sentences are searched beside it. Written from the
published formulas; numpy alone.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
# Their exponents of fluency and similarity, and what fluency is divided into.
FLUENCY_POWER, SIMILARITY_POWER, FLUENCY_SCALE = 1.0, 12.0, 10_000.0
# Steps and restarts per word and squared length.
STEP_SHARE, RESTART_SHARE = 0.1, 0.035


@dataclass(frozen=True)
class Budget:
    """How long to search for `length` of `n` words; small problems are searched through."""

    steps: int
    restarts: int
    combinations: int

    @property
    def is_exhaustive(self) -> bool:
        """Whether there are no more extracts than proposals."""
        return self.steps * self.restarts >= self.combinations


def budget(n: int, length: int) -> Budget:
    """Return the search's steps and restarts."""
    size = n * length**2
    steps, restarts = (max(1, int(size * share)) for share in (STEP_SHARE, RESTART_SHARE))
    return Budget(steps, restarts, math.comb(n, length))


def objective(nll: ArrayLike, cosine: ArrayLike) -> Floats:
    """Return fluency times similarity.

    `nll` is the mean −ln p of a word or piece with the end; where two directions are known, their
    mean. `cosine` is between the vectors of extract and sentence.
    """
    fluency = (FLUENCY_SCALE / np.exp(np.asarray(nll, dtype=float))) ** FLUENCY_POWER
    similarity = ((np.asarray(cosine, dtype=float) + 1.0) / 2.0) ** SIMILARITY_POWER
    return np.asarray(fluency * similarity)


Mask = NDArray[np.bool_]
# Scores of extracts: pairs of a sentence's number and a mask over its words.
Score = Callable[[Sequence[tuple[int, Mask]]], Floats]
# The extracts of a search are scored in parts of this size.
PART = 4096


@dataclass(frozen=True)
class Sentence:
    """`length` of `n` words are wanted, fewer than there are; `seed` draws."""

    n: int
    length: int
    seed: int


@dataclass
class _Best:
    """The best extract that was seen; the first one on ties."""

    score: float = -np.inf
    mask: Mask = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def see(self, score: float, mask: Mask) -> None:
        if score > self.score:
            self.score, self.mask = score, mask.copy()


def search(sentences: Sequence[Sentence], score: Score) -> list[Mask]:
    """Return the best extract that was seen of each sentence."""
    known = _Known(score)
    best = [_Best() for _ in sentences]
    _search_through(sentences, known, best)
    _climb(sentences, known, best)
    return [each.mask for each in best]


def extracts(n: int, length: int) -> Iterator[Mask]:
    """Return all extracts of a length, in the order of their words."""
    for chosen in combinations(range(n), length):
        mask = np.zeros(n, dtype=bool)
        mask[list(chosen)] = True
        yield mask


class _Known:
    """Scores each extract once."""

    def __init__(self, score: Score) -> None:
        self.score, self.scores = score, dict[tuple[int, bytes], float]()

    def __call__(self, asked: Sequence[tuple[int, Mask]]) -> list[float]:
        keys = [(number, np.packbits(mask).tobytes()) for number, mask in asked]
        new = {key: each for key, each in zip(keys, asked, strict=True) if key not in self.scores}
        if new:
            found = self.score(list(new.values()))
            self.scores.update(zip(new, map(float, found), strict=True))
        return [self.scores[key] for key in keys]


def _search_through(sentences: Sequence[Sentence], known: _Known, best: Sequence[_Best]) -> None:
    """Score all extracts of those sentences that have few."""
    asked: list[tuple[int, Mask]] = []
    for number, each in enumerate(sentences):
        if budget(each.n, each.length).is_exhaustive:
            asked += ((number, mask) for mask in extracts(each.n, each.length))
    for start in range(0, len(asked), PART):
        part = asked[start : start + PART]
        for (number, mask), value in zip(part, known(part), strict=True):
            best[number].see(value, mask)


class _Climb:
    """The restarts of one sentence: where each stands, and the draws of its steps."""

    def __init__(self, sentence: Sentence) -> None:
        self.sentence, self.budget = sentence, budget(sentence.n, sentence.length)
        self.rng = np.random.default_rng(sentence.seed)
        order = self.rng.random((self.budget.restarts, sentence.n)).argsort(axis=1)
        self.masks: Mask = order.argsort(axis=1) < sentence.length
        self.scores = np.full(self.budget.restarts, -np.inf)

    def propose(self, step: int) -> Mask:
        """Return the first extracts, later each with one word replaced by another."""
        if not step:
            return self.masks
        out, into = self.rng.random((2, *self.masks.shape))
        rows = np.arange(len(self.masks))
        proposed = self.masks.copy()
        # The largest draw among the words that are in, and among those that are out.
        proposed[rows, np.where(self.masks, out, -1.0).argmax(axis=1)] = False
        proposed[rows, np.where(self.masks, -1.0, into).argmax(axis=1)] = True
        return proposed

    def take(self, proposed: Mask, scores: Floats) -> None:
        """Keep what is at least as good."""
        better = scores >= self.scores
        self.masks = np.where(better[:, None], proposed, self.masks)
        self.scores = np.where(better, scores, self.scores)


def _climb(sentences: Sequence[Sentence], known: _Known, best: Sequence[_Best]) -> None:
    climbs = {
        number: _Climb(each)
        for number, each in enumerate(sentences)
        if not budget(each.n, each.length).is_exhaustive
    }
    step = 0
    while climbs:
        proposed = {number: each.propose(step) for number, each in climbs.items()}
        asked = [(number, mask) for number, masks in proposed.items() for mask in masks]
        scores = iter(known(asked))
        for number, masks in proposed.items():
            own = np.array([next(scores) for _ in masks])
            climbs[number].take(masks, own)
            first = int(own.argmax())
            best[number].see(own[first], masks[first])
        step += 1
        climbs = {number: each for number, each in climbs.items() if step <= each.budget.steps}
