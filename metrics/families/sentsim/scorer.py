"""SentSim of outputs against sources, with exact word mover's distances.

Parts: A, cosine of two sentence vectors; B, XBERTScore's F1; W, word mover's distance over the
same token vectors without special tokens, Euclidean, with uniform weights, not scaled to length 1;
and the distance of mean vectors (SMD). The combinations, of parts scaled to their ranges, are
exp(A') + exp(B'), exp(A') + exp(1 - W'), and exp(A') + exp(B') + exp(1 - W'). WMDO is left out: how
its chunks are counted is not defined. A blank output or source gets A = 0, B = 0 and the largest W
that token vectors of their lengths can have, so it is never the best.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from metrics import truncation
from metrics.base import (
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
)
from metrics.encoding import encoders, precision
from metrics.encoding.token_vectors import Embedded, embed
from metrics.families.on_encoder import OnEncoder, check_layer, encoder_fields
from metrics.families.sentence_vectors import SentenceEncoder, cosine
from metrics.families.sentsim.combine import PARTS, combine
from metrics.families.sentsim.distance import largest_distance, mean_distance, word_movers_distance
from metrics.families.sentsim.options import find_ranges
from metrics.families.slices import score_in_slices
from metrics.families.token_vectors import of_pieces
from metrics.families.xbertscore.idf import UNIFORM
from metrics.families.xbertscore.scorer import match_pairs
from metrics.options import precision_of

# To be raised whenever a change here alters a value.
REVISION = 2


class SentSim(OnEncoder):
    """Both encoders, the layer and the ranges are those of the options."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info = info
        chosen = precision_of(info)
        self.sentences = SentenceEncoder(info.checkpoint, chosen)
        self.layer = int(info.option("layer"))
        self.encoder = encoders.get(str(info.option("encoder")), precision=chosen)
        check_layer(info, self.encoder, self.layer)
        self.ranges = find_ranges(dict(info.options))

    def signature(self) -> str:
        """Everything that changes a value."""
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
        """Return (n, 4) cosine, F1, -WMD, -SMD; with ranges (n, 7), the combinations last."""
        check_inputs(self.info, inputs)
        return score_in_slices(self._score, inputs)

    def _score(self, inputs: Sequence[SegmentInput]) -> Scores:
        pairs = [(segment.hypothesis, segment.source) for segment in inputs]
        texts = [text for pair in pairs for text in pair]
        sentences = self.sentences.encode(texts)
        found = embed(self.encoder, texts, [self.layer])
        a = np.array([cosine(*(sentences[text] for text in pair)) for pair in pairs])
        b = match_pairs(found, pairs, self.layer, UNIFORM, self.encoder.budget)[:, 2]
        distances = np.array([self._distances(found, *pair) for pair in pairs]).reshape(-1, 2)
        parts = np.column_stack([a, b, -distances])
        if self.ranges is None:
            return parts
        return np.hstack([parts, combine(a, b, distances[:, 0], self.ranges)])

    def _distances(
        self, found: Mapping[str, Embedded], output: str, source: str
    ) -> tuple[float, float]:
        left, right = (of_pieces(found[text], self.layer).vectors for text in (output, source))
        if len(left) and len(right):
            return word_movers_distance(left, right), mean_distance(left, right)
        states = [found[text].states[self.layer] for text in (output, source)]
        largest = largest_distance(*(each.double().cpu().numpy() for each in states))
        return largest, largest
