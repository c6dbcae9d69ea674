"""Compute weights of pieces: 1, or the inverse document frequency over the sentences of a file.

The sentences are in a file, whose digest is in the signature, so a value does not depend on the
other texts of a batch.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from extensions.neural import files
from extensions.neural.encoding.token_vectors import Embedded, tokenize

# Compute inverse document frequencies of pieces from a fixed corpus. The releases count over
# the evaluated texts, so that a segment's score depends on the others; here the corpus is a
# separate file with one sentence per line.

Piece = TypeVar("Piece", bound=Hashable)


@dataclass(frozen=True)
class IdfTable(Generic[Piece]):
    """Hold ln((N + 1)/(df + 1)) of each piece over N documents, and ln(N + 1) for unseen ones.

    ``digest`` identifies the corpus in signatures by twelve characters.
    """

    values: Mapping[Piece, float]
    unseen: float
    digest: str = ""

    def weigh(self, pieces: Sequence[Piece]) -> NDArray[np.float64]:
        """Return weights, (pieces,)."""
        return np.array([self.values.get(piece, self.unseen) for piece in pieces])


def count(documents: Iterable[Sequence[Piece]], digest: str = "") -> IdfTable[Piece]:
    """Count for each piece how many documents contain it (Zhao et al. 2019, section 3.1)."""
    n_documents, frequencies = 0, Counter[Piece]()
    for document in documents:
        n_documents += 1
        frequencies.update(set(document))
    values = {piece: math.log((n_documents + 1) / (df + 1)) for piece, df in frequencies.items()}
    return IdfTable(values, math.log(n_documents + 1), digest)


def read(path: str, tokenize: Callable[[str], Sequence[Piece]]) -> IdfTable[Piece]:
    """Count over the lines of a UTF-8 file; errors as :func:`extensions.neural.files.read`."""
    file = files.read(path)
    return count(map(tokenize, file.lines), file.digest)


@dataclass(frozen=True)
class Weights:
    """Hold weights by token id; ``unseen`` is that of all others. Special tokens have weight 0."""

    table: Mapping[int, float] = field(default_factory=dict)
    unseen: float = 1.0
    digest: str = ""

    def of(self, text: Embedded) -> torch.Tensor:
        """Return float32 weights, (pieces,)."""
        pairs = zip(text.ids, text.is_special, strict=True)
        weights = [0.0 if special else self.table.get(each, self.unseen) for each, special in pairs]
        return torch.tensor(weights)


UNIFORM = Weights()


def load_weights(path: str, tokenizer: Any) -> Weights:
    """Read the sentences of a file; without a path every piece has weight 1."""
    if not path:
        return UNIFORM
    file = files.read(path)
    return fit_weights([tokenize(tokenizer, line) for line in file.lines], file.digest)


def fit_weights(sentences: list[list[int]], digest: str) -> Weights:
    """Return the weights ln((N + 1) / (df + 1)), as in bert-score.

    df of the N sentences contain the piece.
    """
    found = count(sentences, digest)
    return Weights(found.values, found.unseen, digest)
