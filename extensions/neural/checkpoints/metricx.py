"""Score with MetricX-23 and -24 (Juraska et al. 2023, 2024).

Equal to the published class within 1e-5 on small checkpoints of its format, for any batch (tests);
the release cannot batch texts of unequal lengths. The texts become one input, truncated to 1,024
tokens (2023) or 1,536 (2024), without its end token. mT5 generates one step from token 0, and the
error is the logit of ``<extra_id_10>``, limited to 0 to 25. The released class has only the weights
of mT5, under mT5's names. MetricX-25 has no public weights.

In bfloat16 the weights are loaded in bfloat16, as the release does with its checkpoints of that
name; in float32 those are computed in float32.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from extensions.neural.encoding import encoders, memory, precision
from extensions.neural.encoding.memory import ModelSpec, placed
from metaeval.messages import message
from metaeval.reasons import reason_of
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
LONGEST = {"23": 1_024, "24": 1_536}
SCORE_TOKEN = 250_089
WORST = 25.0


@dataclass
class MetricXModel:
    """Hold a model in memory with its tokenizer and its budget of tokens."""

    tokenizer: Any
    model: Any
    device: str
    weights: str
    pieces: str
    budget: int


class MetricX(MeanOfSegments):
    """Score with the checkpoint of the description, for any languages."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info, self.release = info, str(info.option("release"))
        self.precision = precision_of(info)
        self.loaded = get(info.checkpoint, str(info.option("tokenizer")), self.precision)
        self.device = self.loaded.device
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
            "tokenizer": self.loaded.pieces,
            **precision.signature_fields(self.precision),
            "input": self.release,
            "reference": self.info.references or "none",
            "revision": REVISION,
        }
        return format_signature(self.info.name, fields)

    @torch.inference_mode()
    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, 1) errors from 0 to 25."""
        check_inputs(self.info, inputs)
        if not self.info.needs_reference:
            scores, is_cut = self._score_texts([self._text(each) for each in inputs])
            self.truncated = set(np.flatnonzero(is_cut).tolist())
            return scores
        singles, rows = references.apart(self.info, inputs)
        scores, is_cut = self._score_texts([self._text(each) for each in singles])
        self.truncated = set(rows[is_cut].tolist())
        return references.pool(self.info, len(inputs), rows, scores)

    def _text(self, segment: SegmentInput) -> str:
        """Return the input of the model for a segment, in the order of its training."""
        source, output = f"source: {segment.source}", f"candidate: {segment.hypothesis}"
        if not self.info.needs_reference:
            return f"{source} {output}" if self.release == "24" else f"{output} {source}"
        parts = [output, f"reference: {segment.references[0]}"]
        return " ".join([source, *parts] if self.release == "24" else parts)

    def _score_texts(self, texts: Sequence[str]) -> tuple[Scores, NDArray[np.bool_]]:
        """Return errors (texts, 1), and whether each was truncated (texts,)."""
        distinct = list(dict.fromkeys(texts))
        tokens = {text: self._tokenize(text) for text in distinct}
        ids = {text: each for text, (each, _) in tokens.items()}
        found: dict[str, float] = {}
        for batch, errors in encoders.in_batches(
            self.loaded,
            distinct,
            length=lambda text: len(ids[text]),
            work=lambda batch: self._forward([ids[text] for text in batch]),
        ):
            found.update(zip(batch, errors, strict=True))
        scores = np.array([found[text] for text in texts], dtype=np.float64).reshape(-1, 1)
        return scores, np.array([tokens[text][1] for text in texts], dtype=bool)

    def _tokenize(self, text: str) -> tuple[list[int], bool]:
        """Return the ids of a text without end token, truncated, and whether it was truncated."""
        longest = LONGEST[self.release]
        ids = list(self.loaded.tokenizer(text, verbose=False)["input_ids"])
        return ids[: min(longest, len(ids)) - 1], len(ids) > longest

    def _forward(self, ids: Sequence[Sequence[int]]) -> list[float]:
        tokens, mask = (encoders.moved(each, self.device) for each in encoders.padded(ids, 0))
        first = torch.zeros((len(ids), 1), dtype=torch.long, device=self.device)
        # In bfloat16 the weights set the precision; autocast would only round further.
        exact = "float32" if self.precision == "bfloat16" else self.precision
        with precision.computing(self.device, exact):
            logits = self.loaded.model(
                tokens, attention_mask=mask.long(), decoder_input_ids=first, use_cache=False
            ).logits
        errors = logits[:, 0, SCORE_TOKEN].float().clamp(0, WORST)
        found: list[float] = errors.tolist()
        return found


def get(checkpoint: str, tokenizer: str, chosen: str = "float32") -> MetricXModel:
    """Return the resident model in a precision; load it if needed.

    Raises a permanent :class:`MetricError` if the checkpoint or tokenizer is missing, damaged, or
    not an mT5 model, and the errors of :func:`extensions.neural.encoding.precision.check`.
    """
    device = encoders.best_device()
    precision.check(device, chosen)
    folder, words = places.find(checkpoint), places.find(tokenizer)
    weights = places.fingerprint(folder)
    pieces = places.fingerprint(words, weights=False)
    key = ModelSpec("metricx", checkpoint, chosen, device, f"{weights} {pieces}")

    def load() -> MetricXModel:
        read = _tokenizer(tokenizer, words)
        model = placed(_model(checkpoint, folder, chosen), device, chosen)
        budget = encoders.tokens_per_batch(device)
        return MetricXModel(read, model, device, weights, pieces, budget)

    return memory.get(key, folder, load)


def _tokenizer(name: str, folder: str) -> Any:
    from transformers import AutoTokenizer

    places.check(name, folder)
    tokenizers: Any = AutoTokenizer
    try:
        return tokenizers.from_pretrained(folder, local_files_only=True)
    except Exception as error:
        problem = message(
            "checkpoint.tokenizer-not-loaded",
            "The tokenizer of {checkpoint} cannot be loaded: {error}",
            checkpoint=name,
            error=reason_of(error),
        )
        raise MetricError(problem, permanent=True) from error


def _model(name: str, folder: str, chosen: str) -> Any:
    from transformers import MT5ForConditionalGeneration

    places.check(name, folder)
    models: Any = MT5ForConditionalGeneration
    try:
        model, report = models.from_pretrained(
            folder,
            local_files_only=True,
            weights_only=True,
            output_loading_info=True,
            dtype=torch.bfloat16 if chosen == "bfloat16" else torch.float32,
        )
    except Exception as error:
        problem = message(
            "metricx.not-loaded",
            "The checkpoint {checkpoint} cannot be loaded as MetricX: {error}",
            checkpoint=name,
            error=reason_of(error),
        )
        raise MetricError(problem, permanent=True) from error
    encoders.require_weights(name, model, report["missing_keys"])
    _require_score(name, model)
    return model


def _require_score(name: str, model: Any) -> None:
    size = int(model.config.vocab_size)
    if size <= SCORE_TOKEN:
        problem = message(
            "metricx.no-score-token",
            "{checkpoint} is not a MetricX model: with {size} tokens it lacks the token of the "
            "score.",
            checkpoint=name,
            size=size,
        )
        raise MetricError(problem, permanent=True)
