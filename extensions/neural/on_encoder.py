"""Share signatures, logs and greedy matching between metrics on one encoder."""

from collections.abc import Sequence

import torch

from extensions.neural.encoding.encoders import Encoder
from extensions.neural.encoding.precision import computing
from metaeval.messages import message
from metrics.base import MeanOfSegments, MetricError, MetricInfo, SegmentInput
from metrics.families import references

Tensor = torch.Tensor


class OnEncoder(MeanOfSegments):
    """Base of metrics that compute with ``encoder``."""

    encoder: Encoder
    info: MetricInfo

    @property
    def device(self) -> str:
        """Return the device of the encoder."""
        return self.encoder.spec.device

    @property
    def precision(self) -> str:
        """Return the precision of the encoder's forward pass."""
        return self.encoder.spec.precision

    @property
    def budget(self) -> int:
        """Return the padded tokens of a batch."""
        return self.encoder.budget

    def cut_ahead(self, inputs: Sequence[SegmentInput]) -> None:
        """Cut the texts of a slice into pieces before it is scored."""
        self.encoder.pieces.keep(
            text
            for each in inputs
            for text in (each.hypothesis, *references.others(self.info, each))
        )


def encoder_fields(encoder: Encoder, name: str = "checkpoint") -> dict[str, str | int]:
    """Return the fields of an encoder for a signature."""
    return {name: encoder.spec.checkpoint, f"{name}-weights": encoder.spec.weights}


def check_layer(info: MetricInfo, encoder: Encoder, layer: int) -> None:
    """Raise a permanent :class:`MetricError` if an encoder does not have the layer."""
    if not 0 <= layer < encoder.n_layers:
        problem = message(
            "encoder.no-such-layer",
            "{metric} needs layer {layer}, but {checkpoint} has layers 0 to {last}.",
            metric=info.label,
            layer=layer,
            checkpoint=encoder.spec.checkpoint,
            last=encoder.n_layers - 1,
        )
        raise MetricError(problem, permanent=True)


# The most numbers in one similarity tensor, which limits the memory of a slice of pairs.
NUMBERS_PER_SLICE = 2**24


def greedy_match(
    states: Tensor, mask: Tensor, weights: Tensor, hypotheses: Tensor, references: Tensor
) -> Tensor:
    """Return precision, recall and F1, (pairs, 3).

    ``states`` is (texts, tokens, width), ``mask`` and ``weights`` are (texts, tokens), and a pair
    is a row of ``hypotheses`` and ``references``, which index texts. Special tokens have weight 0
    but can be matched. A text whose weights are all 0 scores 0. Padding is never matched, so a
    value does not depend on the batch; bert-score counts padding as similarity 0, which matters if
    all similarities are negative.
    """
    unit = torch.nn.functional.normalize(states, dim=-1)
    size = max(1, NUMBERS_PER_SLICE // (states.shape[1] * max(states.shape[1], states.shape[2])))
    slices = zip(torch.split(hypotheses, size), torch.split(references, size), strict=True)
    with computing(states.device.type, "float32"):
        return torch.cat([_match(unit, mask, weights, left, right) for left, right in slices])


def _match(unit: Tensor, mask: Tensor, weights: Tensor, left: Tensor, right: Tensor) -> Tensor:
    similarity = unit[left] @ unit[right].transpose(1, 2)
    to_reference = similarity.masked_fill(~mask[right][:, None, :], -2).amax(dim=2)
    to_hypothesis = similarity.masked_fill(~mask[left][:, :, None], -2).amax(dim=1)
    precision = _weighted_mean(to_reference, weights[left])
    recall = _weighted_mean(to_hypothesis, weights[right])
    # An empty text on either side makes all three 0.
    defined = (weights[left].sum(1) > 0) & (weights[right].sum(1) > 0)
    total = precision + recall
    f1 = torch.where(total == 0, 0.0, 2 * precision * recall / total)
    return torch.where(defined[:, None], torch.stack([precision, recall, f1], dim=1), 0.0)


def _weighted_mean(values: Tensor, weights: Tensor) -> Tensor:
    # The sum is 0 only if all weights are; idf weights may sum to less than 1.
    return (values * weights).sum(1) / weights.sum(1).clamp_min(torch.finfo(weights.dtype).tiny)
