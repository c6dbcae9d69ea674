"""BERTScore of outputs against references: texts are encoded once, all layers kept as scores.

Equal to bert-score 0.3.13 with ``all_layers=True`` within 1e-5 in float32 (tests). With several
references each value is the largest over them, as there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from metrics import encoders
from metrics.base import (
    MetricError,
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
    group_by_references,
)
from metrics.embeddings import tokenize
from metrics.encoders import Encoder
from metrics.families.bertscore.matching import greedy_match
from metrics.families.on_encoder import OnEncoder

# To be raised whenever a change here alters a value.
REVISION = 1


@dataclass(frozen=True)
class Unit:
    """Outputs with the same references: what has to be in memory together.

    ``hypotheses`` are the outputs of ``rows``.
    """

    references: tuple[str, ...]
    rows: tuple[int, ...]
    hypotheses: tuple[str, ...]

    @cached_property
    def texts(self) -> list[str]:
        """Every distinct text."""
        return list(dict.fromkeys([*self.references, *self.hypotheses]))

    def halves(self) -> list["Unit"]:
        """Return two units with half of the outputs each; itself where there is but one."""
        middle = len(self.rows) // 2
        if not middle:
            return [self]
        return [
            Unit(self.references, self.rows[part], self.hypotheses[part])
            for part in (slice(middle), slice(middle, None))
        ]


class BertScore(OnEncoder):
    """The checkpoint is that of the description; languages do not matter to it."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info = info
        self.encoder = encoders.get(info.checkpoint)
        expected = 3 * self.encoder.n_layers
        if info.width != expected:
            message = (
                f"{info.label} was described with {info.width // 3} layers, but "
                f"{info.checkpoint} has {self.encoder.n_layers}"
            )
            raise MetricError(message, permanent=True)

    def signature(self) -> str:
        """Everything that changes a value."""
        return format_signature(
            self.info.name,
            {
                "checkpoint": self.info.checkpoint,
                "weights": self.encoder.spec.weights,
                "precision": self.precision,
                "idf": "no",
                "rescaled": "no",
                "revision": REVISION,
            },
        )

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, 3 × layers): precision, recall and F1 of layer 0, of layer 1, …"""
        check_inputs(self.info, inputs)
        scores = np.full((len(inputs), self.info.width), -np.inf)
        units = _units(inputs)
        tokens = {text: tokenize(self.encoder.tokenizer, text) for text in _texts(units)}
        for _, (rows, values) in encoders.in_batches(
            self.encoder,
            units,
            length=lambda unit: max(len(tokens[text]) for text in unit.texts),
            size=lambda unit: len(unit.texts),
            work=lambda batch: self._score_together(batch, tokens),
            split=Unit.halves,
        ):
            np.maximum.at(scores, rows, values)
        return scores

    @torch.inference_mode()
    def _score_together(
        self, units: Sequence[Unit], tokens: dict[str, list[int]]
    ) -> tuple[list[int], Scores]:
        """Return the (pairs, 3 × layers) values of all pairs of some units, and their rows."""
        place = {text: number for number, text in enumerate(_texts(units))}
        pairs = [
            (row, place[hypothesis], place[reference])
            for unit in units
            for row, hypothesis in zip(unit.rows, unit.hypotheses, strict=True)
            for reference in unit.references
        ]
        values = _all_layers(self.encoder, [tokens[text] for text in place], pairs)
        return [row for row, _, _ in pairs], values


def _all_layers(
    encoder: Encoder, ids: Sequence[Sequence[int]], pairs: Sequence[tuple[int, int, int]]
) -> Scores:
    states, mask = encoder.hidden_states(ids)
    weights = _weights(encoder, ids, mask)
    hypotheses = torch.tensor([left for _, left, _ in pairs], device=mask.device)
    references = torch.tensor([right for _, _, right in pairs], device=mask.device)
    layers = []
    while states:
        # Each layer is let go once it is used.
        layers.append(greedy_match(states.pop(0), mask, weights, hypotheses, references))
    return np.asarray(torch.cat(layers, dim=1).double().cpu().numpy())


def _weights(encoder: Encoder, ids: Sequence[Sequence[int]], mask: torch.Tensor) -> torch.Tensor:
    """1 for words, 0 for the two special tokens, padding, and what stands for an empty text."""
    special = {encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id}
    weights = torch.zeros(mask.shape)
    for row, text in enumerate(ids):
        if list(text) == [encoder.padding]:
            continue
        weights[row, : len(text)] = torch.tensor([float(token not in special) for token in text])
    return weights.to(mask.device)


def _units(inputs: Sequence[SegmentInput]) -> list[Unit]:
    return [
        Unit(references, tuple(rows), tuple(inputs[row].hypothesis for row in rows))
        for references, rows in group_by_references(inputs).items()
    ]


def _texts(units: Sequence[Unit]) -> list[str]:
    return list(dict.fromkeys(text for unit in units for text in unit.texts))
