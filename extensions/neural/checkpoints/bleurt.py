"""Score with BLEURT (Sellam et al. 2020, Pu et al. 2021), equal to bleurt-pytorch (tests).

A pair is encoded as ``[CLS] reference [SEP] output [SEP]``, so only equal pairs can share work.
Pairs are truncated to 512 tokens, or to the number of positions of the model, which may have any
number of layers. Values are equal within 1e-5. With several references the value is their mean
unless an option says otherwise: the released tool leaves this choice to its user.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import torch

from extensions.neural.encoding import encoders, memory, precision
from extensions.neural.encoding.encoders import reason, whole
from extensions.neural.encoding.memory import ModelSpec, placed
from metaeval.messages import message
from metrics.base import (
    MeanOfSegments,
    MetricError,
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
)
from metrics.checkpoints import places
from metrics.families import references
from metrics.options import precision_of

REVISION = 1
MAX_TOKENS = 512


@dataclass
class BleurtModel:
    """Hold a model in memory with its tokenizer and its budget of tokens."""

    tokenizer: Any
    model: Any
    device: str
    precision: str
    weights: str
    budget: int


class Bleurt(MeanOfSegments):
    """Score with the checkpoint of the description, for any languages."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info = info
        self.loaded = get(info.checkpoint, precision_of(info))
        self.device, self.precision = self.loaded.device, self.loaded.precision
        self.truncated: Collection[int] = ()

    @property
    def budget(self) -> int:
        """Return the padded tokens of a batch."""
        return self.loaded.budget

    def signature(self) -> str:
        """Return everything that changes a value."""
        fields: dict[str, str | int] = {
            "checkpoint": self.info.checkpoint,
            "weights": self.loaded.weights,
            **precision.signature_fields(self.precision),
            "references": self.info.references,
            "revision": REVISION,
        }
        return format_signature(self.info.name, fields)

    @torch.inference_mode()
    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, 1)."""
        check_inputs(self.info, inputs)
        singles, rows = references.apart(self.info, inputs)
        pairs = [(each.references[0], each.hypothesis) for each in singles]
        distinct = list(dict.fromkeys(pairs))
        found, is_cut = self._score_pairs(distinct)
        values = dict(zip(distinct, found, strict=True))
        cut = {pair for pair, is_long in zip(distinct, is_cut, strict=True) if is_long}
        self.truncated = {int(row) for row, pair in zip(rows, pairs, strict=True) if pair in cut}
        scores = np.array([values[pair] for pair in pairs]).reshape(-1, 1)
        return references.pool(self.info, len(inputs), rows, scores)

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> tuple[Scores, list[bool]]:
        """Return scores (pairs,), and which pairs were truncated."""
        longest = min(MAX_TOKENS, int(self.loaded.model.config.max_position_embeddings))
        tokenizer = self.loaded.tokenizer
        # Each text once: a reference is in the pairs of many outputs.
        ids = {
            text: tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text))
            for text in dict.fromkeys(chain.from_iterable(pairs))
        }
        n_special = tokenizer.num_special_tokens_to_add(pair=True)
        lengths = [sum(len(ids[text]) for text in pair) + n_special for pair in pairs]
        encoded = [
            tokenizer.prepare_for_model(
                *(ids[text] for text in pair), truncation=True, max_length=longest, verbose=False
            )
            for pair in pairs
        ]
        scores = np.empty(len(pairs))
        for batch, found in encoders.in_batches(
            self.loaded,
            range(len(pairs)),
            length=lambda index: len(encoded[index]["input_ids"]),
            prepare=lambda batch: tokenizer.pad(
                [encoded[index] for index in batch], padding=True, return_tensors="pt"
            ),
            work=self._forward,
        ):
            scores[batch] = found
        return scores, [length > longest for length in lengths]

    def _forward(self, padded: Any) -> Scores:
        given = {name: encoders.moved(each, self.device) for name, each in padded.items()}
        with precision.computing(self.device, self.precision):
            logits = self.loaded.model(**given).logits
        return np.asarray(logits.flatten().double().cpu().numpy())


def get(checkpoint: str, chosen: str = "float32") -> BleurtModel:
    """Return the resident model in a precision; load it if needed.

    Raises a permanent :class:`MetricError` if the checkpoint is missing, damaged, or not a BLEURT
    model, and the errors of :func:`extensions.neural.encoding.precision.check`.
    """
    device = encoders.best_device()
    precision.check(device, chosen)
    folder = places.find(checkpoint)
    weights = places.fingerprint(folder)
    key = ModelSpec("bleurt", checkpoint, chosen, device, weights)

    def load() -> BleurtModel:
        tokenizer, model = _load(checkpoint, folder)
        budget = encoders.tokens_per_batch(device)
        model = placed(model, device, chosen)
        return BleurtModel(tokenizer, model, device, chosen, weights, budget)

    return memory.get(key, folder, load)


def _load(checkpoint: str, folder: str) -> tuple[Any, Any]:
    from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer

    places.check(checkpoint, folder)
    try:
        tokenizer = whole(lambda: BleurtTokenizer.from_pretrained(folder, local_files_only=True))
        model, report = BleurtForSequenceClassification.from_pretrained(
            folder, local_files_only=True, weights_only=True, output_loading_info=True
        )
    except Exception as error:
        problem = message(
            "bleurt.not-loaded",
            "The checkpoint {checkpoint} cannot be loaded as BLEURT: {error}",
            checkpoint=checkpoint,
            error=reason(error, folder),
        )
        raise MetricError(problem, permanent=True) from error
    _require_one_score(checkpoint, model)
    encoders.require_weights(checkpoint, model, report["missing_keys"])
    return tokenizer, model


def _require_one_score(checkpoint: str, model: Any) -> None:
    if model.config.num_labels != 1:
        problem = message(
            "bleurt.several-values",
            "The checkpoint {checkpoint} returns {count} values per text instead of one.",
            checkpoint=checkpoint,
            count=model.config.num_labels,
        )
        raise MetricError(problem, permanent=True)
