"""Compute weights of pieces: 1, or the inverse document frequency over the sentences of a file.

The sentences are in a file, whose digest is in the signature, so a value does not depend on the
other texts of a batch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from extensions.neural import files
from extensions.neural.encoding.token_vectors import Embedded, tokenize
from extensions.neural.mover import idf


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
    found = idf.count(sentences, digest)
    return Weights(found.values, found.unseen, digest)
