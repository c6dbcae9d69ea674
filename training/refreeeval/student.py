"""The encoder that is trained: cut at its layer, forward in groups of like length, saved whole."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from extensions.neural.encoding import encoders
from extensions.neural.encoding.encoders import Encoder, EncoderSpec
from extensions.neural.encoding.precision import computing
from extensions.neural.encoding.token_vectors import empty_ids
from metaeval.messages import message
from metaeval.reasons import reason_of
from metrics.base import MetricError
from metrics.checkpoints import places
from metrics.options import count_layers
from training.contract import JobError
from training.perturbations.rules import tokens

Tensor = torch.Tensor
# Read ahead for an update, and again in it.
_tokens = lru_cache(maxsize=4_096)(tokens)
# Ids, and the word of each.
WordIds = tuple[list[int], list[int]]
# A group of texts is cut where padding would exceed this share of its tokens.
MOST_PADDING = 0.15
# A group of fewer padded tokens is not cut: a GPU computes them in the time that a pass takes to
# be launched.
LEAST_TOKENS = {"cpu": 0, "cuda": 4_096}


@dataclass(frozen=True)
class Encoded:
    """Texts under the encoder: (texts, pieces, width) vectors, and which pieces are there and
    which of them count (no special pieces)."""

    states: Tensor
    mask: Tensor
    counts: Tensor

    def part(self, rows: slice, longest: int) -> "Encoded":
        """Return some of the texts, of at most ``longest`` pieces."""
        return Encoded(*(each[rows, :longest] for each in (self.states, self.mask, self.counts)))


class Student:
    """An encoder of ``layer`` layers with its tokenizer, on the best device."""

    def __init__(
        self, checkpoint: str, layer: int, max_pieces: int, *, checkpointing: bool = False
    ) -> None:
        encoder = _load(checkpoint, layer)
        self.tokenizer, self.model = encoder.tokenizer, encoder.model
        # No value depends on the pooler; one that a checkpoint lacks would be saved at random.
        self.model.pooler = None
        if checkpointing:
            self.model.gradient_checkpointing_enable({"use_reentrant": False})
        self.device, self.precision = encoder.spec.device, encoder.spec.precision
        self.layer, self.padding = layer, encoder.padding
        self.max_pieces = min(max_pieces, self.tokenizer.model_max_length)
        self.special = {self.tokenizer.cls_token_id, self.tokenizer.sep_token_id}
        self.n_real = self.n_computed = 0
        self.pieces = encoder.pieces

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return token ids of texts, cut to the recipe's length, with their last special piece."""
        found = self.pieces.of_texts(texts, self.max_pieces)
        empty = empty_ids(self.tokenizer)
        return [found[text][0] if text.strip() else empty for text in texts]

    def word_ids(self, texts: Sequence[tuple[str, str]]) -> list[WordIds]:
        """Return token ids of (text, language), tokenised word by word, with each piece's word.

        Special pieces have the word −1. Text in a script without blanks is tokenised as a whole, as
        the metric will do, and every piece is a word.
        """
        read = [(_tokens(text, language), text) for text, language in texts]
        units = [(found if glue else [text], glue) for (found, glue), text in read]
        cut = self.pieces.of_words(unit for found, _ in units for unit in found)
        return [self._joined([cut[unit] for unit in found], bool(glue)) for found, glue in units]

    def _joined(self, parts: Sequence[list[int]], glue: bool) -> WordIds:
        numbered = [(piece, number) for number, part in enumerate(parts) for piece in part]
        kept = numbered[: self.max_pieces - 2]
        ids = self.tokenizer.build_inputs_with_special_tokens([piece for piece, _ in kept])
        words = [number if glue else place for place, (_, number) in enumerate(kept)]
        return list(ids), [-1, *words, -1]

    def encode(self, ids: Sequence[Sequence[int]]) -> Encoded:
        """Encode texts with gradients, in groups of like length; rows come in the given order."""
        longest = max(map(len, ids))
        states, order = list[Tensor](), list[int]()
        for group in groups(
            [len(each) for each in ids], LEAST_TOKENS[torch.device(self.device).type]
        ):
            vectors = self._forward([ids[place] for place in group])
            self.n_computed += vectors.shape[0] * vectors.shape[1]
            states.append(torch.nn.functional.pad(vectors, (0, 0, 0, longest - vectors.shape[1])))
            order += group
        self.n_real += sum(map(len, ids))
        tokens, mask = encoders.padded(ids, self.padding)
        counts = mask & ~torch.isin(tokens, torch.tensor(sorted(self.special)))
        mask, counts = (encoders.moved(each, self.device) for each in (mask, counts))
        # One gather: the gradient of a row taken alone would be as large as all of them.
        places = encoders.moved(torch.tensor(order).argsort(), self.device)
        return Encoded(torch.cat(states).index_select(0, places), mask, counts)

    def _forward(self, ids: Sequence[Sequence[int]]) -> Tensor:
        given = encoders.padded(ids, self.padding)
        tokens, mask = (encoders.moved(each, self.device) for each in given)
        with computing(self.device, self.precision):
            states = self.model(tokens, attention_mask=mask.long())
        return torch.as_tensor(states.last_hidden_state).float()

    @property
    def n_bytes(self) -> int:
        """What its weights take on disk."""
        return sum(each.numel() * each.element_size() for each in self.model.parameters())

    def save(self, folder: Path, meta: dict[str, Any]) -> None:
        """Write the encoder in Hugging Face format, with ``meta.json`` beside it."""
        self.model.save_pretrained(folder, safe_serialization=True)
        self.tokenizer.save_pretrained(folder)
        text = json.dumps({"layer": self.layer, **meta}, ensure_ascii=False, indent=1)
        (folder / "meta.json").write_text(text + "\n", encoding="utf-8")


def groups(lengths: Sequence[int], least: int = 0) -> Iterator[list[int]]:
    """Put texts of like length together, so that at most MOST_PADDING of a group is padding.

    A group of at most ``least`` padded tokens may have more.
    """
    group: list[int] = []
    real = 0
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        computed = (len(group) + 1) * lengths[place]
        is_padded = (real + lengths[place]) < (1 - MOST_PADDING) * computed
        if group and is_padded and computed > least:
            yield group
            group, real = [], 0
        group.append(place)
        real += lengths[place]
    if group:
        yield group


def _precision(device: str) -> str:
    """Return ``bfloat16`` if the GPU supports it. The trained model scores in float32."""
    if device.startswith("cuda") and torch.cuda.is_bf16_supported(including_emulation=False):
        return "bfloat16"
    return "float32"


def _load(checkpoint: str, layer: int) -> Encoder:
    """Load only the layers that are used; others would be saved unchanged or at random."""
    device = encoders.best_device()
    try:
        folder = places.find(checkpoint)
        depth = count_layers(checkpoint) - 1
        if layer > depth:
            raise JobError(
                message(
                    "refreeeval.too-few-layers",
                    "{checkpoint} has {depth} layers, so layer {layer} does not exist.",
                    checkpoint=checkpoint,
                    depth=depth,
                    layer=layer,
                )
            )
        spec = EncoderSpec(checkpoint, _precision(device), device, layers=layer)
        encoder = encoders.load(spec, folder)
    except MetricError as error:
        raise JobError(error.message) from error
    except ValueError as error:
        raise JobError(reason_of(error)) from error
    if not hasattr(getattr(encoder.model, "encoder", None), "layer"):
        kind = type(encoder.model).__name__
        raise JobError(
            message(
                "refreeeval.not-an-encoder",
                "{checkpoint} is a {kind}, not an encoder like BERT or XLM-R.",
                checkpoint=checkpoint,
                kind=kind,
            )
        )
    return encoder
