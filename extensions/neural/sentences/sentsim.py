"""Compute SentSim of outputs against sources, with exact word mover's distances.

Parts are A, the cosine of two sentence vectors; B, the F1 of XBERTScore; W, the Euclidean word
mover's distance over the same token vectors without special tokens, with uniform weights, not
scaled to length 1; and the distance of mean vectors (SMD). The combinations of the scaled parts are
exp(A') + exp(B'), exp(A') + exp(1 - W'), and exp(A') + exp(B') + exp(1 - W'). WMDO is omitted,
because the counting of its chunks is not defined. A blank output or source gets A = 0, B = 0 and
the largest W that token vectors of their lengths can have, so it is never the best.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from extensions.neural.bertscore.xbertscore import match_pairs
from extensions.neural.encoding import encoders, precision
from extensions.neural.encoding.ahead import score_in_slices
from extensions.neural.encoding.token_vectors import UNIFORM, embed, fetch_states
from extensions.neural.on_encoder import OnEncoder, check_layer, encoder_fields
from extensions.neural.sentence_vectors import SentenceEncoder, cosine
from extensions.neural.sentences.options import PARTS, combine, find_ranges
from extensions.neural.static_vectors import Words, of_pieces
from extensions.neural.transport import transport_cost
from metrics import truncation
from metrics.base import (
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
)
from metrics.options import precision_of

# Increase it with every change that alters a value.
REVISION = 2


class SentSim(OnEncoder):
    """Score with the encoders, the layer and the ranges of the options."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info = info
        chosen = precision_of(info)
        self.sentences = SentenceEncoder(info.checkpoint, chosen)
        self.layer = int(info.option("layer"))
        self.encoder = encoders.get(str(info.option("encoder")), precision=chosen)
        check_layer(info, self.encoder, self.layer)
        self.ranges = find_ranges(dict(info.options))

    def signature(self) -> str:
        """Return everything that changes a value."""
        ends = [getattr(self.ranges, part) for part in PARTS] if self.ranges else []
        return format_signature(
            self.info.name,
            self.sentences.fields("sentence")
            | encoder_fields(self.encoder, "token")
            | {
                "layer": self.layer,
                **precision.signature_fields(self.precision),
                "ranges": ",".join(f"{low:.6g}..{high:.6g}" for low, high in ends) or "no",
                "revision": REVISION,
            },
        )

    @truncation.reported
    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return cosine, F1, -WMD and -SMD, (n, 4); with ranges (n, 7), the combinations last."""
        check_inputs(self.info, inputs)
        return score_in_slices(self._score, inputs, self.cut_ahead)

    def _score(self, inputs: Sequence[SegmentInput]) -> Scores:
        pairs = [(segment.hypothesis, segment.source) for segment in inputs]
        texts = [text for pair in pairs for text in pair]
        sentences = self.sentences.encode(texts)
        found = embed(self.encoder, texts, [self.layer])
        a = np.array([cosine(*(sentences[text] for text in pair)) for pair in pairs])
        b = match_pairs(found, pairs, self.layer, UNIFORM, self.encoder.budget)[:, 2]
        states = fetch_states(found, self.layer)
        words = {text: (of_pieces(found[text], each), each) for text, each in states.items()}
        distances = np.array(
            [_distances(words[output], words[source]) for output, source in pairs]
        ).reshape(-1, 2)
        parts = np.column_stack([a, b, -distances])
        if self.ranges is None:
            return parts
        return np.hstack([parts, combine(a, b, distances[:, 0], self.ranges)])


Array = NDArray[np.float64]


def _distances(output: tuple[Words, Array], source: tuple[Words, Array]) -> tuple[float, float]:
    """Return WMD and SMD of two texts from their words and all their states."""
    left, right = output[0].vectors, source[0].vectors
    if len(left) and len(right):
        return word_movers_distance(left, right), mean_distance(left, right)
    largest = largest_distance(output[1], source[1])
    return largest, largest


def word_movers_distance(left: Array, right: Array) -> float:
    """Return the exact Euclidean transport cost of (m, d) onto (n, d) vectors of equal weights."""
    return transport_cost(cdist(left, right))


def mean_distance(left: Array, right: Array) -> float:
    """Return the Euclidean distance of the two mean vectors (SMD)."""
    return float(np.linalg.norm(left.mean(axis=0) - right.mean(axis=0)))


def largest_distance(left: Array, right: Array) -> float:
    """Return mean |x| + mean |y|, the largest possible cost, as distance of a blank text."""
    lengths = [float(np.linalg.norm(vectors, axis=1).mean()) for vectors in (left, right)]
    return sum(lengths)
