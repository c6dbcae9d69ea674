"""From pairs of sentences to pairs of vectors, a projection, and how well it does. Numpy only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extensions.neural.mover.mapping import About, Kind, Mapping, fit
from metaeval.messages import plural
from training.contract import JobError
from training.remap.alignment import Links

MOST_WORDS = 100
LEAST_VECTORS = 2
# Vector pairs of the held-out text that are compared with each other.
MOST_COMPARED = 1_000
SIZES = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)
# Single precision, in which encoders give them.
Array = NDArray[Any]
Words = tuple[str, ...]
# A pair of sentences as words.
Split = tuple[Words, Words]


@dataclass(frozen=True)
class Vectors:
    """Rows of both sides that belong together, (pairs, width) each."""

    source: Array
    target: Array

    def __len__(self) -> int:
        return len(self.source)


def usable(pairs: Sequence[Split]) -> list[int]:
    """Return which pairs have 1 to 99 words on both sides, as published."""
    return [
        number
        for number, (source, target) in enumerate(pairs)
        if 0 < len(source) < MOST_WORDS and 0 < len(target) < MOST_WORDS
    ]


def word_vectors(
    pairs: Sequence[Split], links: Sequence[Links], vectors: dict[Words, Array]
) -> Vectors:
    """Return a row for every link between words that have vectors, in the order of the text."""
    left, right = [], []
    for (source, target), found in zip(pairs, links, strict=True):
        if source not in vectors or target not in vectors:
            continue
        rows = [(vectors[source][i], vectors[target][j]) for i, j in sorted(found)]
        kept = [(x, z) for x, z in rows if x.any() and z.any()]
        left += [x for x, _ in kept]
        right += [z for _, z in kept]
    return _stack(left, right)


def sentence_vectors(pairs: Sequence[Split], vectors: dict[Words, Array]) -> Vectors:
    """Return a row for every pair of sentences: the means of their words' vectors."""
    known = [(s, t) for s, t in pairs if s in vectors and t in vectors]
    means = [(vectors[s].mean(axis=0), vectors[t].mean(axis=0)) for s, t in known]
    kept = [(x, z) for x, z in means if x.any() and z.any()]
    return _stack([x for x, _ in kept], [z for _, z in kept])


def _stack(left: Sequence[Array], right: Sequence[Array]) -> Vectors:
    return Vectors(np.array(left), np.array(right)) if left else NONE


NONE = Vectors(np.zeros((0, 1)), np.zeros((0, 1)))


def fit_to(kind: Kind, about: About, vectors: Vectors) -> Mapping:
    """Fit; raises JobError if there are too few vectors."""
    if len(vectors) < LEAST_VECTORS:
        raise JobError(
            plural(
                "remap.too-few-vectors",
                "{n} pair of vectors is too few for a fit. Use more text, or text whose words can "
                "be aligned.",
                "{n} pairs of vectors are too few for a fit. Use more text, or text whose words "
                "can be aligned.",
                n=len(vectors),
            )
        )
    return fit(kind, about, vectors.source, vectors.target)


def measure(mapping: Mapping | None, held: Vectors) -> dict[str, Any]:
    """Measure how similar held-out vectors of a pair are, mapped or not.

    ``cosine`` is their mean cosine, ``cosine_of_others`` that of vectors that do not belong
    together, ``found`` the share whose own target is the nearest of all compared: a cosine alone
    may grow only because a mapping brings everything together.
    """
    rows = np.linspace(0, len(held) - 1, min(len(held), MOST_COMPARED)).round().astype(int)
    source, target = held.source[rows], held.target[rows]
    if mapping is not None:
        source, target = mapping.apply(source), mapping.apply_to_target(target)
    cosines = _unit(source) @ _unit(target).T
    own = np.diag(cosines)
    others = (cosines.sum() - own.sum()) / max(1, cosines.size - len(own))
    return {
        "compared": len(rows),
        "cosine": float(own.mean()),
        "cosine_of_others": float(others),
        "found": float((cosines.argmax(axis=1) == np.arange(len(rows))).mean()),
    }


def _unit(rows: Array) -> Array:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Array = rows / np.where(lengths == 0, 1, lengths)
    return unit


def sizes_of_curve(available: int) -> list[int]:
    """Return the numbers of sentence pairs that the curve is drawn at: all of them last."""
    most = min(available, SIZES[-1])
    return [*(size for size in SIZES if size < most), most]
