"""Load LASER2 as an encoder: a bidirectional LSTM whose states' maximum is the sentence vector.

Artetxe and Schwenk 2019, Massively multilingual sentence embeddings for zero-shot cross-lingual
transfer and beyond; LASER2 is Heffernan et al. 2022. Its folder has two files as published,
``laser2.pt`` (5 layers of 512 states per direction over 50,004 pieces) and ``laser2.spm``. The
first is loaded without running code from it. Texts become pieces as in the package laser_encoders:
Moses' punctuation for English, lower case, SentencePiece, and an end token. Nothing is truncated.

LASER1 (2018) is not supported, because its pieces need Moses' tokenizer, jieba and fastBPE; neither
is LASER3, whose checkpoints are objects of fairseq. Imports torch: workers only.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from sentencepiece import SentencePieceProcessor

from extensions.neural.encoding import encoders, memory
from extensions.neural.encoding.encoders import NO_LIMIT, Encoder, EncoderSpec
from extensions.neural.encoding.memory import ModelSpec
from extensions.neural.encoding.pieces import Pieces
from extensions.neural.encoding.precision import computing
from metaeval.messages import message
from metaeval.reasons import reason_of
from metrics.base import MetricError
from metrics.checkpoints import places

BEGIN, PADDING, END, UNKNOWN = range(4)
MODEL, PIECES = places.LASER
# Substitutions in their order, from Moses' normalize-punctuation.perl for English, as sacremoses
# has them.
_PUNCTUATION = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        *((r"\r", ""), (r"\(", " ("), (r"\)", ") "), (" +", " "), (r"\) ([.!:?;,])", r")\1")),
        *((r"\( ", "("), (r" \)", ")"), (r"(\d) %", r"\1%"), (" :", ":"), (" ;", ";")),
        *(("`", "'"), ("''", ' " '), ("[„“”]", '"'), ("–", "-"), ("—", " - "), (" +", " ")),
        *(("´", "'"), ("([a-zA-Z])‘([a-zA-Z])", r"\1'\2"), ("([a-zA-Z])’([a-zA-Z])", r"\1'\2")),
        *(("[‘‚’]", "'"), ("''", '"'), ("´´", '"'), ("…", "...")),
        *(("\u00a0«\u00a0", '"'), ("«\u00a0", '"'), ("«", '"')),
        *(("\u00a0»\u00a0", '"'), ("\u00a0»", '"'), ("»", '"')),
        *(("\u00a0%", "%"), ("nº\u00a0", "nº "), ("\u00a0:", ":"), ("\u00a0ºC", " ºC")),
        *(("\u00a0cm", " cm"), (r"\u00a0\?", "?"), ("\u00a0!", "!"), ("\u00a0;", ";")),
        *((",\u00a0", ", "), (" +", " "), ('"([,.]+)', r'\1"'), ("(\\d)\u00a0(\\d)", r"\1.\2")),
    )
]


def normalize(text: str) -> str:
    """Return a text with the punctuation that LASER2 reads, in lower case."""
    for pattern, replacement in _PUNCTUATION:
        text = pattern.sub(replacement, text)
    return text.strip().lower()


class Tokenizer:
    """Turn texts into ids, with the names that tokenizers of transformers have."""

    cls_token_id, pad_token_id, sep_token_id = BEGIN, PADDING, END
    model_max_length, is_fast = NO_LIMIT, False

    def __init__(self, pieces: SentencePieceProcessor, dictionary: Mapping[str, int]) -> None:
        self.pieces = pieces
        special = {"<s>": BEGIN, "<pad>": PADDING, "</s>": END, "<unk>": UNKNOWN}
        self.ids = {**dictionary, **special}
        self.names = {number: piece for piece, number in self.ids.items()}

    def encode(self, text: str, **limits: Any) -> list[int]:
        """Return the ids of a text's pieces and of the end."""
        pieces = " ".join(self.pieces.encode(normalize(text), out_type=str)).split()
        return [*(self.ids.get(piece, UNKNOWN) for piece in pieces), END]

    def build_inputs_with_special_tokens(self, ids: Sequence[int]) -> list[int]:
        """Return ids with the end."""
        return [*ids, END]

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str]:
        """Return the pieces of ids."""
        return [self.names.get(number, "<unk>") for number in ids]


class Network(torch.nn.Module):
    """Hold the weights under the names that they have in the file."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        super().__init__()
        width, states = int(params.get("embed_dim", 320)), int(params.get("hidden_size", 512))
        self.embed_tokens = torch.nn.Embedding(int(params["num_embeddings"]), width, PADDING)
        self.lstm = torch.nn.LSTM(
            width,
            states,
            num_layers=int(params.get("num_layers", 1)),
            bidirectional=bool(params.get("bidirectional", False)),
        )


class Laser(Encoder):
    """Hold LASER2 on a device; its layers are the embedding, 0, and the last of the LSTM, 1."""

    def __init__(self, spec: EncoderSpec, tokenizer: Tokenizer, model: Network) -> None:
        self.spec, self.tokenizer, self.model = spec, tokenizer, model
        self.budget, self.n_layers = encoders.tokens_per_batch(spec.device), 2
        self.pieces = Pieces(tokenizer)

    @torch.inference_mode()
    def compute(self, padded: Any) -> tuple[list[torch.Tensor], Any]:
        """Return (texts, longest, width) states of both layers, and the mask of real tokens."""
        tokens, mask = padded
        tokens, lengths = tokens.to(self.spec.device), mask.sum(1)
        with computing(self.spec.device, self.spec.precision):
            embedded = self.model.embed_tokens(tokens)
            packed = torch.nn.utils.rnn.pack_padded_sequence(
                embedded, lengths, batch_first=True, enforce_sorted=False
            )
            states, _ = torch.nn.utils.rnn.pad_packed_sequence(
                self.model.lstm(packed)[0], batch_first=True
            )
        return [embedded, states], mask.to(self.spec.device)


def is_laser(folder: str | Path) -> bool:
    """Return True if a checkpoint is LASER's."""
    return (Path(folder) / MODEL).is_file()


def get(checkpoint: str, precision: str = "float32") -> Laser:
    """Return the resident LASER2; load it if needed.

    Raises a permanent :class:`MetricError` if a file is missing or of another kind, and for a lower
    precision, which the LSTM does not have.
    """
    if precision != "float32":
        problem = message("laser.precision", "LASER computes in float32 only.")
        raise MetricError(problem, permanent=True)
    folder, device = places.find(checkpoint), encoders.best_device()
    spec = EncoderSpec(checkpoint, precision, device, places.fingerprint(folder))
    key = ModelSpec("laser", checkpoint, precision, device, spec.weights)
    return memory.get(key, folder, lambda: _load(spec, Path(folder)))


def _load(spec: EncoderSpec, folder: Path) -> Laser:
    try:
        stored = torch.load(folder / MODEL, map_location="cpu", weights_only=True)
        model = Network(stored["params"])
        model.load_state_dict(stored["model"])
        pieces = SentencePieceProcessor(model_proto=(folder / PIECES).read_bytes())
        tokenizer = Tokenizer(pieces, dict(stored["dictionary"]))
    except Exception as error:
        problem = message(
            "laser.not-loaded",
            "The checkpoint {checkpoint} cannot be loaded as LASER2, which has {files}: {error}",
            checkpoint=spec.checkpoint,
            files=[MODEL, PIECES],
            error=reason_of(error),
        )
        raise MetricError(problem, permanent=True) from error
    return Laser(spec, tokenizer, model.to(spec.device).eval())
