"""What a sentinel knows of segments. Imports torch only where an encoder is asked for."""

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from metrics.families.sentinels.options import LENGTHS, SOURCE, Array

if TYPE_CHECKING:
    from metrics.families.sentence_vectors import SentenceEncoder

# Source and output.
Texts = Sequence[tuple[str, str]]


def digest(source: str) -> str:
    """Return what names a source in a file that does not hold it: 16 digits of its SHA-256."""
    return sha256(source.encode()).hexdigest()[:16]


def read(reads: str, texts: Texts, encoder: "SentenceEncoder | None") -> Array:
    """Return the (n, width) features: a text's sentence vector, or three numbers of lengths.

    These are ln(1 + characters) of source and of output, and the square of their difference.
    """
    if reads == LENGTHS or encoder is None:
        sizes = np.log1p([[len(text) for text in pair] for pair in texts]).reshape(-1, 2)
        return np.column_stack([sizes, (sizes[:, 0] - sizes[:, 1]) ** 2])
    chosen = [source if reads == SOURCE else output for source, output in texts]
    vectors = encoder.encode(chosen)
    return np.array([vectors[text] for text in chosen], dtype=np.float64)
