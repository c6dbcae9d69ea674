"""What a supervised head reads of a source and an output under a frozen encoder."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from metrics.encoding.encoders import Encoder
from metrics.encoding.token_vectors import Embedded, embed
from metrics.families.xbertscore.idf import UNIFORM
from metrics.families.xbertscore.scorer import match_pairs

Array = NDArray[np.float64]
Pair = tuple[str, str]


def names(layers: Sequence[int]) -> list[str]:
    """Name the features, in the order of the columns."""
    matched = [f"{side}-{layer}" for layer in layers for side in ("P", "R", "F1")]
    return [*matched, "cosine", "log-length", "log-length-ratio"]


def read(encoder: Encoder, pairs: Sequence[Pair], layers: Sequence[int]) -> Array:
    """Return (pairs, features) of (output, source) texts.

    Precision, recall and F1 of greedy matching at each layer; the cosine of both mean vectors at
    the highest one; the logarithm of the output's pieces + 1, and of its quotient by the source's.
    """
    found = embed(encoder, [text for pair in pairs for text in pair], layers)
    matched = [match_pairs(found, pairs, layer, UNIFORM, encoder.budget) for layer in layers]
    top = max(layers)
    cosines = np.array([_cosine(found, pair, top) for pair in pairs])
    lengths = np.log1p([[_pieces(found[text]) for text in pair] for pair in pairs]).reshape(-1, 2)
    ratios = lengths[:, 0] - lengths[:, 1]
    return np.column_stack([*matched, cosines, lengths[:, 0], ratios])


def _cosine(found: Mapping[str, Embedded], pair: Pair, layer: int) -> float:
    left, right = (found[text].states[layer].double().mean(dim=0) for text in pair)
    return float(torch.cosine_similarity(left, right, dim=0).item())


def _pieces(embedded: Embedded) -> int:
    return sum(not special for special in embedded.is_special)
