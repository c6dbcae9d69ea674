"""Compute inverse document frequencies of pieces from a fixed corpus.

The releases count over the evaluated texts, so that a segment's score depends on the others; here
the corpus is a separate file with one sentence per line.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from extensions.neural import files

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
