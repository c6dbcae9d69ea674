"""The encoder that is trained: cut at its layer, forward in groups of like length, saved whole."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from extensions.neural.encoding import encoders
from extensions.neural.encoding.encoders import Encoder, EncoderSpec
from extensions.neural.encoding.precision import computing
from extensions.neural.encoding.token_vectors import tokenize
from metaeval.messages import message
from metaeval.reasons import reason_of
from metrics.base import MetricError
from metrics.checkpoints import places
from metrics.options import count_layers
from training.contract import JobError
from training.perturbations.rules import tokens

# Token ids of many texts at once: by the fast tokenizer, where it cuts them as the slow one
# does. The metric that comes of a training reads texts with the slow one, as bert-score does.

# Number of texts whose encodings by the fast tokenizer are in memory at a time.
SLICE = 1_000
# Number of texts that both tokenizers cut before the fast one is trusted.
COMPARED = 200
# Words repeat; what is longer is a text without blanks.
MOST_WORDS, LONGEST_WORD = 200_000, 40
BARE = {"return_attention_mask": False, "return_token_type_ids": False}
Ids = list[int]


class Pieces:
    """Cuts texts, to `limit` ids at most, and words as the encoder in a folder does."""

    def __init__(self, slow: Any, folder: str, limit: int) -> None:
        self.slow, self.limit = slow, limit
        self.fast = slow if slow.is_fast else _fast(slow, folder)
        self._is_trusted = slow.is_fast
        self._words: dict[str, Ids] = {}

    def of_texts(self, texts: Sequence[str]) -> list[Ids]:
        """Return the ids of each text, special ones included."""
        self._compare(texts)
        if self.fast is None:
            return [self._slowly(text) for text in texts]
        found = list[Ids]()
        for start in range(0, len(texts), SLICE):
            found += self._at_once(texts[start : start + SLICE])
        return found

    def of_words(self, words: Sequence[str]) -> list[Ids]:
        """Return the ids of each single word, without special ones."""
        self._compare(words)
        new = [word for word in dict.fromkeys(words) if word not in self._words]
        found = dict(zip(new, _cut(self.fast or self.slow, new), strict=True))
        ids = [found[word] if word in found else self._words[word] for word in words]
        self._keep({word: cut for word, cut in found.items() if len(word) <= LONGEST_WORD})
        return ids

    def _keep(self, found: dict[str, Ids]) -> None:
        if len(self._words) + len(found) > MOST_WORDS:
            self._words.clear()
        self._words |= found

    def _slowly(self, text: str) -> Ids:
        return tokenize(self.slow, text, self.limit)

    def _at_once(self, texts: Sequence[str]) -> list[Ids]:
        stripped = [text.strip() for text in texts]
        cut = self.fast(stripped, max_length=self.limit, truncation=True, **BARE)["input_ids"]
        empty = self._slowly("")
        return [list(ids) if text else empty for text, ids in zip(stripped, cut, strict=True)]

    def _compare(self, texts: Sequence[str]) -> None:
        """Give the fast one up where it cuts one of the first texts, or a word of them, otherwise;
        those differ where an encoder's authors changed one of the two."""
        if self._is_trusted or self.fast is None or not texts:
            return
        sample = texts[:COMPARED]
        words = list(dict.fromkeys(word for text in sample for word in text.split()))
        is_same = self._at_once(sample) == [self._slowly(text) for text in sample]
        is_same = is_same and _cut(self.fast, words) == _cut(self.slow, words)
        self._is_trusted, self.fast = is_same, self.fast if is_same else None


def _cut(tokenizer: Any, words: list[str]) -> list[Ids]:
    found = list[Ids]()
    for start in range(0, len(words), SLICE):
        found += tokenizer(words[start : start + SLICE], add_special_tokens=False, **BARE)[
            "input_ids"
        ]
    return found


def _fast(slow: Any, folder: str) -> Any:
    """Load the fast tokenizer of a folder; None where there is none."""
    from transformers import AutoTokenizer, GPT2Tokenizer, RobertaTokenizer

    tokenizers: Any = AutoTokenizer
    is_spaced = isinstance(slow, GPT2Tokenizer | RobertaTokenizer)
    spaced = {"add_prefix_space": True} if is_spaced else {}
    try:
        return tokenizers.from_pretrained(
            folder, use_fast=True, local_files_only=True, trust_remote_code=False, **spaced
        )
    except Exception:
        return None


Tensor = torch.Tensor
# Ids, and the word of each.
WordIds = tuple[list[int], list[int]]
# A group of texts is cut where padding would exceed this share of its tokens.
MOST_PADDING = 0.15


@dataclass(frozen=True)
class Encoded:
    """Texts under the encoder: (texts, pieces, width) vectors, and which pieces are there and
    which of them count (no special pieces)."""

    states: Tensor
    mask: Tensor
    counts: Tensor


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
        self.pieces = Pieces(self.tokenizer, places.find(checkpoint), self.max_pieces)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return token ids of texts, cut to the recipe's length, with their last special piece."""
        return self.pieces.of_texts(texts)

    def word_ids(self, texts: Sequence[tuple[str, str]]) -> list[WordIds]:
        """Return token ids of (text, language), tokenised word by word, with each piece's word.

        Special pieces have the word −1. Text in a script without blanks is tokenised as a whole, as
        the metric will do, and every piece is a word.
        """
        read = [(tokens(text, language), text) for text, language in texts]
        units = [(found if glue else [text], glue) for (found, glue), text in read]
        cut = iter(self.pieces.of_words([unit for found, _ in units for unit in found]))
        return [self._joined([next(cut) for _ in found], bool(glue)) for found, glue in units]

    def _joined(self, parts: Sequence[list[int]], glue: bool) -> WordIds:
        numbered = [(piece, number) for number, part in enumerate(parts) for piece in part]
        kept = numbered[: self.max_pieces - 2]
        ids = self.tokenizer.build_inputs_with_special_tokens([piece for piece, _ in kept])
        words = [number if glue else place for place, (_, number) in enumerate(kept)]
        return list(ids), [-1, *words, -1]

    def encode(self, ids: Sequence[Sequence[int]]) -> Encoded:
        """Encode texts with gradients, in groups of like length; rows come in the given order."""
        longest = max(map(len, ids))
        width = int(self.model.config.hidden_size)
        rows: list[Tensor] = [torch.empty(0)] * len(ids)
        for group in groups([len(each) for each in ids]):
            vectors = self._forward([ids[place] for place in group])
            self.n_computed += vectors.shape[0] * vectors.shape[1]
            padded = torch.nn.functional.pad(vectors, (0, 0, 0, longest - vectors.shape[1]))
            for row, place in enumerate(group):
                rows[place] = padded[row]
        self.n_real += sum(map(len, ids))
        mask, counts = self._masks(ids, longest)
        return Encoded(torch.stack(rows).view(len(ids), longest, width), mask, counts)

    def _forward(self, ids: Sequence[Sequence[int]]) -> Tensor:
        longest = max(map(len, ids))
        filled = torch.full((len(ids), longest), self.padding)
        mask = torch.zeros((len(ids), longest), dtype=torch.long)
        for row, text in enumerate(ids):
            filled[row, : len(text)] = torch.tensor(text)
            mask[row, : len(text)] = 1
        with computing(self.device, self.precision):
            states = self.model(filled.to(self.device), attention_mask=mask.to(self.device))
        return torch.as_tensor(states.last_hidden_state).float()

    def _masks(self, ids: Sequence[Sequence[int]], longest: int) -> tuple[Tensor, Tensor]:
        mask = torch.zeros((len(ids), longest), dtype=torch.bool)
        counts = torch.zeros((len(ids), longest), dtype=torch.bool)
        for row, text in enumerate(ids):
            mask[row, : len(text)] = True
            counts[row, : len(text)] = torch.tensor([token not in self.special for token in text])
        return mask.to(self.device), counts.to(self.device)

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


def groups(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Put texts of like length together, so that at most MOST_PADDING of a group is padding."""
    group: list[int] = []
    real = 0
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        computed = (len(group) + 1) * lengths[place]
        if group and (real + lengths[place]) < (1 - MOST_PADDING) * computed:
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
