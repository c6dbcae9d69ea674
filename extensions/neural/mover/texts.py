"""Score pairs of texts: encode each distinct text once; match a chunk while encoding more."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from extensions.neural.encoding.encoders import Encoder
from extensions.neural.encoding.token_vectors import Embedded, embed, tokenize
from extensions.neural.mover import idf
from extensions.neural.mover.definition import Definition
from extensions.neural.mover.idf import IdfTable
from extensions.neural.mover.matching import Bag, Tensor, make_bag, score_pairs
from metaeval.messages import plural
from metrics.base import MetricWarning
from metrics.options import Options

Array = NDArray[np.float64]
Side = Literal["left", "right"]
Pair = tuple[str, str]
Tables = tuple[IdfTable[int] | None, IdfTable[int] | None]
# Pairs that are encoded while those before them are matched.
PAIRS_PER_CHUNK = 256


@dataclass(frozen=True)
class Task:
    """Define how texts become bags.

    ``vectors`` returns a text's vectors (pieces, width) on one side, ``sizes`` are the n of the
    n-grams, and ``idf`` is the table of each side, None for equal weights.
    """

    label: str
    encoder: Encoder
    layers: tuple[int, ...]
    definition: Definition
    sizes: tuple[int, ...]
    vectors: Callable[[Embedded, Side], Tensor]
    idf: Tables = (None, None)

    @property
    def idf_digests(self) -> str:
        """Return the digests of the corpora of both sides, for signatures."""
        return "/".join(table.digest if table else "no" for table in self.idf)


@dataclass(frozen=True)
class _Launched:
    """Hold the bags of a chunk by side and text, one per n; empty for a text without words."""

    pairs: list[Pair]
    bags: dict[tuple[Side, str], tuple[Bag, ...]]


def read_idf(encoder: Encoder, options: Options, left: str, right: str) -> Tables:
    """Read the corpora that two options name; None if one is empty."""

    def read(option: str) -> IdfTable[int] | None:
        path = str(options[option])
        return idf.read(path, lambda line: tokenize(encoder.tokenizer, line)) if path else None

    return read(left), read(right)


def score(task: Task, pairs: Sequence[Pair]) -> Array:
    """Return scores, (pairs, sizes); each distinct pair is matched once.

    A pair with a text without pieces gets the definition's lowest score, and a
    :class:`MetricWarning` counts such pairs.
    """
    distinct = sorted(dict.fromkeys(pairs), key=lambda pair: len(pair[1]))
    found: dict[Pair, Array] = {}
    waiting: _Launched | None = None
    for start in range(0, len(distinct), PAIRS_PER_CHUNK):
        # A GPU works asynchronously: it encodes this chunk while the CPU solves the previous
        # one. A thread would not help, because POT holds the interpreter's lock.
        launched = _launch(task, distinct[start : start + PAIRS_PER_CHUNK])
        if waiting is not None:
            found |= _solve(task, waiting)
        waiting = launched
    if waiting is not None:
        found |= _solve(task, waiting)
    return np.array([found[pair] for pair in pairs]).reshape(len(pairs), len(task.sizes))


def _launch(task: Task, pairs: list[Pair]) -> _Launched:
    embedded = embed(task.encoder, [text for pair in pairs for text in pair], task.layers)
    bags: dict[tuple[Side, str], tuple[Bag, ...]] = {}
    for left, right in pairs:
        for side, text in _sides(left, right):
            if (side, text) not in bags:
                bags[side, text] = _bags(task, embedded[text], side)
    return _Launched(pairs, bags)


def _sides(left: str, right: str) -> tuple[tuple[Side, str], tuple[Side, str]]:
    return ("left", left), ("right", right)


def _bags(task: Task, text: Embedded, side: Side) -> tuple[Bag, ...]:
    if all(text.is_special):
        return ()
    places = task.definition.chosen(text.pieces)
    vectors = task.vectors(text, side)
    if len(places) < len(text.pieces):
        vectors = vectors[places]
    table = task.idf[0 if side == "left" else 1]
    weights = None if table is None else table.weigh([text.ids[place] for place in places])
    return tuple(make_bag(vectors, size, weights) for size in task.sizes)


def _solve(task: Task, launched: _Launched) -> dict[Pair, Array]:
    found = {pair: np.full(len(task.sizes), task.definition.worst) for pair in launched.pairs}
    sides = {pair: [launched.bags[each] for each in _sides(*pair)] for pair in launched.pairs}
    whole = [pair for pair in launched.pairs if all(sides[pair])]
    for column in range(len(task.sizes)):
        bags = [(sides[pair][0][column], sides[pair][1][column]) for pair in whole]
        for pair, value in zip(whole, score_pairs(bags, task.definition), strict=True):
            found[pair][column] = value
    if len(whole) < len(launched.pairs):
        _warn(task, len(launched.pairs) - len(whole))
    return found


def _warn(task: Task, n_empty: int) -> None:
    warnings.warn(
        MetricWarning(
            plural(
                "mover.empty-texts",
                "{metric}: {n} pair has an empty text and got the lowest score, {lowest}.",
                "{metric}: {n} pairs have an empty text and got the lowest score, {lowest}.",
                n=n_empty,
                metric=task.label,
                lowest=task.definition.worst,
            )
        ),
        stacklevel=4,
    )
