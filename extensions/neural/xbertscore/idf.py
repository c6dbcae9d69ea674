"""Weights of pieces: 1, or the inverse document frequency over the sentences of a file.

The table belongs to a set of sentences, not to a batch: a file holds them, and its digest stands
in the signature. So a value does not depend on what is scored with it.
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
    """Weights by token id; ``unseen`` is that of all others, special tokens weigh 0."""

    table: Mapping[int, float] = field(default_factory=dict)
    unseen: float = 1.0
    digest: str = ""

    def of(self, text: Embedded) -> torch.Tensor:
        """Return (pieces,) float32 weights."""
        pairs = zip(text.ids, text.is_special, strict=True)
        weights = [0.0 if special else self.table.get(each, self.unseen) for each, special in pairs]
        return torch.tensor(weights)


UNIFORM = Weights()


def load_weights(path: str, tokenizer: Any) -> Weights:
    """Read the sentences of a file; without a path every piece weighs 1."""
    if not path:
        return UNIFORM
    file = files.read(path)
    return fit_weights([tokenize(tokenizer, line) for line in file.lines], file.digest)


def fit_weights(sentences: list[list[int]], digest: str) -> Weights:
    """Weigh a piece by ln((N + 1) / (df + 1)), df of the N sentences having it, as bert-score."""
    found = idf.count(sentences, digest)
    return Weights(found.values, found.unseen, digest)
