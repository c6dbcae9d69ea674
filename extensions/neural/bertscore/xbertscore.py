"""Compute XBERTScore: greedy matching of an output with its source (or references).

Zhang et al. 2020, eq. 1–3, at one layer. Special tokens have weight 0 but can be matched; padding
is never matched. Otherwise equal to bert-score 0.3.13 within 1e-5 (tests). Texts are truncated to
the limit of the encoder, 512 pieces for XLM-R. A text without words scores 0 on all three values. A
value depends on its two texts only, not on the batch. The encoder stops at the layer, and its
vectors are shared with all other metrics on the same encoder.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from extensions.neural.encoding import encoders, precision
from extensions.neural.encoding.ahead import score_in_slices
from extensions.neural.encoding.encoders import Encoder, moved
from extensions.neural.encoding.token_vectors import Embedded, Weights, embed, load_weights
from extensions.neural.on_encoder import (
    OnEncoder,
    check_layer,
    encoder_fields,
    greedy_match,
)
from metrics import truncation
from metrics.base import (
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
)
from metrics.families import references
from metrics.options import precision_of

# Increase it with every change that alters a value.
REVISION = 2
Pair = tuple[str, str]


class XBertScore(OnEncoder):
    """Score with the encoder, the layer and the idf table of the options."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info = info
        self.layer = int(info.option("layer"))
        self.encoder = self._load_encoder()
        check_layer(info, self.encoder, self.layer)
        self.weights = load_weights(str(info.option("idf")), self.encoder)

    def _load_encoder(self) -> Encoder:
        return encoders.get(self.info.checkpoint, precision=precision_of(self.info))

    def signature(self) -> str:
        """Return everything that changes a value."""
        return format_signature(
            self.info.name,
            encoder_fields(self.encoder)
            | {
                "layer": self.layer,
                **precision.signature_fields(self.precision),
                "against": str(self.info.option("compare")),
                "idf": self.weights.digest or "no",
            }
            | references.field(self.info)
            | {"revision": REVISION},
        )

    @truncation.reported
    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return precision, recall and F1, (n, 3)."""
        check_inputs(self.info, inputs)
        return score_in_slices(self._score, inputs, self.cut_ahead)

    def _score(self, inputs: Sequence[SegmentInput]) -> Scores:
        others = [references.others(self.info, segment) for segment in inputs]
        rows = [row for row, texts in enumerate(others) for _ in texts]
        pairs = [
            (segment.hypothesis, text)
            for segment, texts in zip(inputs, others, strict=True)
            for text in texts
        ]
        found = embed(self.encoder, [text for pair in pairs for text in pair], [self.layer])
        return references.pool(self.info, len(inputs), rows, self.match(found, pairs))

    def match(self, found: Mapping[str, Embedded], pairs: Sequence[Pair]) -> Scores:
        """Return precision, recall and F1 of embedded texts, (pairs, 3)."""
        return match_pairs(found, pairs, self.layer, self.weights, self.encoder.budget)


def match_pairs(
    found: Mapping[str, Embedded], pairs: Sequence[Pair], layer: int, weights: Weights, budget: int
) -> Scores:
    """Return precision, recall and F1 of (output, other text) pairs at a layer, (pairs, 3).

    ``budget`` limits the padded tokens that are compared at a time.
    """
    values = np.zeros((len(pairs), 3))
    lengths = np.array([max(len(found[text].ids) for text in pair) for pair in pairs], dtype=int)
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, budget // (2 * int(lengths[order[start]])))
        batch = order[start : start + size]
        values[batch] = _match(found, [pairs[index] for index in batch], layer, weights)
        start += size
    return values


@torch.inference_mode()
def _match(
    found: Mapping[str, Embedded], pairs: Sequence[Pair], layer: int, weights: Weights
) -> Scores:
    place = {text: number for number, text in enumerate(dict.fromkeys(t for p in pairs for t in p))}
    vectors = [found[text].states[layer] for text in place]
    device = vectors[0].device
    states = pad_sequence(vectors, batch_first=True)
    weighed = pad_sequence([weights.of(found[text]) for text in place], batch_first=True)
    mask = pad_sequence([torch.ones(len(each), dtype=torch.bool) for each in vectors], True)
    sides = torch.tensor([[place[pair[side]] for pair in pairs] for side in (0, 1)])
    mask, weighed, sides = (moved(each, device) for each in (mask, weighed, sides))
    matched = greedy_match(states, mask, weighed, *sides)
    return np.asarray(matched.double().cpu().numpy())
