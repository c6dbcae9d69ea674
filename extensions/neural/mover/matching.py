"""Compute word mover's scores from token vectors: n-grams, distances, transport.

Zhao et al. 2019, MoverScore, eq. 1–4; Zhao et al. 2020, On the limitations of cross-lingual
encoders, section 3. As in the released code, an n-gram vector is the average of adjacent tokens,
normalised after averaging.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from extensions.neural.encoding import token_vectors
from extensions.neural.encoding.encoders import Encoder, moved
from extensions.neural.encoding.token_vectors import Embedded, IdfTable, embed, fetch, tokenize
from extensions.neural.mover.options import Definition, Distance
from extensions.neural.transport import flow_dropout_cost, transport_cost
from metaeval.messages import plural
from metrics.base import MetricWarning
from metrics.options import Options

Tensor = torch.Tensor
Array = NDArray[np.float64]
# Below this squared distance, 2 − 2cos has too few digits for its root, even in double precision.
NEAR = 1e-4


@dataclass(frozen=True)
class Bag:
    """Hold the n-grams of one text.

    These are vectors (k, width), their lengths (k,) in double precision, and weights (k,), None for
    equal weights.
    """

    vectors: Tensor
    norms: Tensor
    weights: Array | None = None


def make_bag(vectors: Tensor, n: int, weights: Array | None = None) -> Bag:
    """Return the n-grams of consecutive vectors (tokens, width); a shorter text is one n-gram.

    With ``weights`` (tokens,) an n-gram's vector is their weighted mean and its weight their sum;
    if all weights are 0, they count as equal. Vectors are determined up to a factor. Raises
    ValueError for a text without vectors.
    """
    if not len(vectors):
        raise ValueError("vectors: a text needs at least one")
    size = min(n, len(vectors))
    if weights is None or not weights.sum():
        # The sum has the direction of the mean, and only directions are compared.
        grams = _sums(vectors, size)
        return Bag(grams, _lengths(grams))
    factors = moved(torch.as_tensor(weights, dtype=vectors.dtype), vectors.device)
    scaled = vectors * factors[:, None]
    summed = np.lib.stride_tricks.sliding_window_view(weights, size).sum(1)
    grams = _sums(scaled, size)
    return Bag(grams, _lengths(grams), summed)


def _lengths(vectors: Tensor) -> Tensor:
    lengths: Tensor = torch.linalg.vector_norm(vectors, dim=1, dtype=torch.float64)
    return lengths


def _sums(vectors: Tensor, size: int) -> Tensor:
    last = len(vectors) - size + 1
    total = vectors[:last]
    for shift in range(1, size):
        total = total + vectors[shift : shift + last]
    return total


def distances(pairs: Sequence[tuple[Bag, Bag]], kind: Distance) -> list[Array]:
    """Return the distances between vectors of length one for each pair, float64 (k, l).

    Products are computed on the vectors' device and fetched at once. They are in double precision,
    because 2 − 2cos in single precision would depend on the processor. Distances near zero are
    computed again from differences.
    """
    if not pairs:
        return []
    products = fetch([left.vectors.double() @ right.vectors.double().T for left, right in pairs])
    norms = {id(bag): bag.norms for pair in pairs for bag in pair}
    lengths = dict(zip(norms, fetch(list(norms.values())), strict=True))
    found = [
        _squared(product, lengths[id(left)], lengths[id(right)])
        for (left, right), product in zip(pairs, products, strict=True)
    ]
    _repair(found, pairs)
    return [np.sqrt(each, out=each) for each in found] if kind == "euclidean" else found


def _squared(product: Array, left: Array, right: Array) -> Array:
    """Return 2 − 2cos, in [0, 4]; a zero vector has cosine 0 with every vector."""
    scale = np.outer(_inverse(left), -2 * _inverse(right))
    scale *= product
    scale += 2
    clipped: Array = np.clip(scale, 0, 4, out=scale)
    return clipped


def _inverse(lengths: Array) -> Array:
    return np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def _repair(squared: Sequence[Array], pairs: Sequence[tuple[Bag, Bag]]) -> None:
    near = [np.nonzero(each < NEAR) for each in squared]
    marked = [number for number, (rows, _) in enumerate(near) if len(rows)]
    exact = [
        (_unit(pairs[n][0], near[n][0]) - _unit(pairs[n][1], near[n][1])).square().sum(dim=1)
        for n in marked
    ]
    for number, values in zip(marked, fetch(exact), strict=True):
        squared[number][near[number]] = values


def _unit(bag: Bag, rows: NDArray[np.int64]) -> Tensor:
    # A zero vector is orthogonal to all vectors.
    places = moved(torch.from_numpy(rows), bag.vectors.device)
    return bag.vectors[places].double() / bag.norms[places, None]


def transport(cost: Array, left: Bag, right: Bag, dropout: float = 0.0) -> float:
    """Return the transport cost between two bags, or its variant without small flows.

    Raises ValueError for dropout of weighted bags, because it is defined on integer flows only.
    """
    if not dropout:
        return transport_cost(cost, left.weights, right.weights)
    if left.weights is not None or right.weights is not None:
        raise ValueError("dropout is defined for equal weights only")
    return flow_dropout_cost(cost, dropout)


def score_pairs(pairs: Sequence[tuple[Bag, Bag]], definition: Definition) -> Array:
    """Return the scores of a definition, (pairs,); larger is better."""
    return _scores(distances(pairs, definition.distance), pairs, definition)


def _scores(
    costs: Sequence[Array], pairs: Sequence[tuple[Bag, Bag]], definition: Definition
) -> Array:
    totals = [
        transport(cost, left, right, definition.dropout)
        for cost, (left, right) in zip(costs, pairs, strict=True)
    ]
    return np.array([definition.score(total) for total in totals], dtype=np.float64)


# Score pairs of texts: encode each distinct text once; match a chunk while encoding more.

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

    @property
    def whole(self) -> dict[Pair, tuple[tuple[Bag, ...], tuple[Bag, ...]]]:
        """Return the bags of the pairs whose texts both have words."""
        sides = {pair: [self.bags[each] for each in _sides(*pair)] for pair in self.pairs}
        return {pair: (left, right) for pair, (left, right) in sides.items() if left and right}

    def columns(self, n_sizes: int) -> list[list[tuple[Bag, Bag]]]:
        """Return the bags of these pairs for each n."""
        both = self.whole.values()
        return [[(left[n], right[n]) for left, right in both] for n in range(n_sizes)]


def read_idf(encoder: Encoder, options: Options, left: str, right: str) -> Tables:
    """Read the corpora that two options name; None if one is empty."""

    def read(option: str) -> IdfTable[int] | None:
        path = str(options[option])
        return (
            token_vectors.read_table(path, lambda line: tokenize(encoder.tokenizer, line))
            if path
            else None
        )

    return read(left), read(right)


def score(
    task: Task,
    pairs: Sequence[Pair],
    before_matching: Callable[[Sequence[Pair]], None] = lambda _: None,
) -> Array:
    """Return scores, (pairs, sizes); each distinct pair is matched once.

    ``before_matching`` is called with some pairs before they are matched: what it asks of the
    device is computed while the processor matches. A pair with a text without pieces gets the
    definition's lowest score, and a :class:`MetricWarning` counts such pairs.
    """
    distinct = sorted(dict.fromkeys(pairs), key=lambda pair: len(pair[1]))
    found: dict[Pair, Array] = {}
    starts = range(0, len(distinct), PAIRS_PER_CHUNK)
    chunks = (distinct[start : start + PAIRS_PER_CHUNK] for start in starts)
    waiting = _launch(task, next(chunks)) if distinct else None
    while waiting is not None:
        # A GPU works asynchronously and in order: once the distances of a chunk were fetched, it
        # encodes the next chunk while the CPU solves this one. A thread would not help, because
        # POT holds the interpreter's lock.
        present, costs = waiting, _costs(task, waiting)
        following = next(chunks, None)
        waiting = None if following is None else _launch(task, following)
        before_matching(present.pairs)
        found |= _solve(task, present, costs)
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
        # Runs of pieces: a list of places would be copied to the device and waited for.
        runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
        vectors = torch.cat([vectors[:0], *(vectors[r[0] : r[-1] + 1] for r in runs if len(r))])
    table = task.idf[0 if side == "left" else 1]
    weights = None if table is None else table.weigh([text.ids[place] for place in places])
    return tuple(make_bag(vectors, size, weights) for size in task.sizes)


def _costs(task: Task, launched: _Launched) -> list[list[Array]]:
    """Return the distances of each n, when the device has computed them."""
    columns = launched.columns(len(task.sizes))
    return [distances(bags, task.definition.distance) for bags in columns]


def _solve(task: Task, launched: _Launched, costs: Sequence[list[Array]]) -> dict[Pair, Array]:
    found = {pair: np.full(len(task.sizes), task.definition.worst) for pair in launched.pairs}
    columns = zip(costs, launched.columns(len(task.sizes)), strict=True)
    scores = [_scores(each, bags, task.definition) for each, bags in columns]
    found |= zip(launched.whole, np.column_stack(scores), strict=True)
    if len(launched.whole) < len(launched.pairs):
        _warn(task, len(launched.pairs) - len(launched.whole))
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
