"""Likelihood as a metric: Prism (Thompson and Post 2020) and BARTScore (Yuan et al. 2021).

ln p of a text with its end, given another, under any checkpoint with an encoder and a decoder:
of the output given the source or a reference, of the reference given the output, or both. As
in Prism, a token that names the language is given and does not count; as in BARTScore, a begin
token that the model writes does. Texts are cut to 512 pieces. A model with a length control
gets the length of the text.

Prism's own checkpoint and BARTScore's ``bart.pth`` are files of other programs, and do not load:
take a multilingual model (NLLB, mBART-50, M2M-100), or convert them.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from extensions.neural.encoding import encoders, memory, precision
from extensions.neural.encoding.memory import ModelSpec, placed
from metaeval.messages import message
from metrics import truncation
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
from training.contract import JobError
from training.translation.decoding import checkpoints
from training.translation.decoding.checkpoints import Checkpoint, has_length_tokens
from training.translation.decoding.generating import Row, log_probabilities_at_once
from training.translation.options import (
    BOTH,
    FAITHFULNESS,
    PRECISION_OF,
    RECALL,
    SUM,
)

# 2: int8 rounds weights; before, it was float32.
REVISION = 2
# Tokens of one forward pass: logits are as wide as the vocabulary, a quarter of a million in mT5.
TOKENS_PER_BATCH = {"cpu": 1_024, "cuda": 8_192}
Pair = tuple[str, str]


class Likelihood(MeanOfSegments):
    """The checkpoint, its direction and what becomes of lengths are those of the description."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info, self.precision = info, precision_of(info)
        self.direction, self.is_sum = str(info.option("direction")), info.option("length") == SUM
        first = source_language if self.direction == FAITHFULNESS else target_language
        self.languages = (first, target_language)
        self.loaded = get(info.checkpoint, self.languages, self.precision)
        self.device = str(self.loaded.device)
        self.budget = TOKENS_PER_BATCH[torch.device(self.device).type]
        self.begin = _begin(self.loaded)

    def signature(self) -> str:
        """Return a signature of everything that changes a value."""
        own = self.loaded.preprocessing
        fields: dict[str, str | int] = {
            "checkpoint": self.info.checkpoint,
            "weights": self.loaded.weights,
            **({"preprocessing": own} if own else {}),
            **precision.signature_fields(self.precision),
            "languages": "-".join(self.languages),
            "direction": self.direction,
            "tokens": "sum" if self.is_sum else "mean",
            "log": "e",
            "longest": self.loaded.limit,
            **references.field(self.info),
            "revision": REVISION,
        }
        return format_signature(self.info.name, fields)

    @truncation.reported
    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, 1) natural logarithms of probabilities."""
        check_inputs(self.info, inputs)
        if self.direction == FAITHFULNESS:
            return self._score([(each.source, each.hypothesis) for each in inputs])
        singles, rows = references.apart(self.info, inputs)
        there = [(each.references[0], each.hypothesis) for each in singles]
        back = [(output, reference) for reference, output in there]
        ways = {PRECISION_OF: [there], RECALL: [back], BOTH: [there, back]}[self.direction]
        scores = sum(map(self._score, ways), start=np.zeros((len(singles), 1))) / len(ways)
        return references.pool(self.info, len(inputs), rows, scores)

    def _score(self, pairs: Sequence[Pair]) -> Scores:
        """Return (pairs, 1) of ln p(second | first)."""
        distinct = list(dict.fromkeys(pairs))
        read = {pair: self._read(pair) for pair in distinct}
        found: dict[Pair, float] = {}
        for batch, values in encoders.in_batches(
            self,
            distinct,
            length=lambda pair: max(len(read[pair][0].source), len(read[pair][1]) + 4),
            work=lambda batch: self._forward([read[pair] for pair in batch]),
        ):
            found.update(zip(batch, values, strict=True))
        return np.array([found[pair] for pair in pairs], dtype=np.float64).reshape(-1, 1)

    def _read(self, pair: Pair) -> tuple[Row, list[int]]:
        """Return the pieces of both texts, cut to the model's limit; the first keeps its end."""
        given, longest = self.loaded.read(pair[0]), self.loaded.limit
        if len(given) > longest:
            truncation.note(pair[0])
            given = [*given[: longest - 1], given[-1]]
        room = longest - len(self.loaded.prefix) - len(self.begin) - 2
        written = self.loaded.pieces(pair[1])
        if len(written) > room:
            truncation.note(pair[1])
            written = written[:room]
        return Row(tuple(given), self._target_length(len(written))), [*self.begin, *written]

    def _target_length(self, length: int) -> int | None:
        """Return the length of the text for a model with a length control."""
        if not self.loaded.has_control:
            return None
        cap = int(self.loaded.control["cap"])
        return max(1, min(length, cap)) if has_length_tokens(self.loaded) else length

    def _forward(self, read: Sequence[tuple[Row, list[int]]]) -> list[float]:
        rows, outputs = [row for row, _ in read], [output for _, output in read]
        with precision.computing(self.device, self.precision):
            totals = log_probabilities_at_once(self.loaded, rows, outputs)
        if self.is_sum:
            return totals
        return [total / (len(output) + 1) for total, output in zip(totals, outputs, strict=True)]


def _begin(checkpoint: Checkpoint) -> list[int]:
    """Return the begin token of models that write one (BART)."""
    around = checkpoint.tokenizer.build_inputs_with_special_tokens([])
    begin = checkpoint.tokenizer.bos_token_id
    return [int(begin)] if begin is not None and around[:1] == [begin] else []


def get(name: str, languages: Pair, chosen: str = "float32") -> Checkpoint:
    """Return the resident model for a pair of languages, loading it where needed.

    Raises a permanent :class:`MetricError` for one that is missing, damaged, has no encoder or does
    not know the pair. Errors of :func:`extensions.neural.encoding.precision.check`.
    """
    device = encoders.best_device()
    precision.check(device, chosen)
    folder = places.find(name)
    kind = f"likelihood {'-'.join(languages)}"
    key = ModelSpec(kind, name, chosen, device, places.fingerprint(folder))
    return memory.get(key, folder, lambda: _load(name, languages, device, chosen))


def _load(name: str, languages: Pair, device: str, chosen: str) -> Checkpoint:
    try:
        found = checkpoints.load(name, *languages, "cpu")
    except JobError as error:
        raise MetricError(error.message, permanent=True) from error
    if found.is_causal:
        no_encoder = message(
            "likelihood.no-encoder",
            "{model} has no encoder, so its likelihood is not that of a translation.",
            model=name,
        )
        raise MetricError(no_encoder, permanent=True)
    return replace(found, model=placed(found.model, device, chosen))
