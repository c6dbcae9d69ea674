"""Free searches of small Marian models by CTranslate2, on processors: what transformers would find.

CTranslate2 has no rewards and no forced ends, and only what was compared is served: Marian with
one vocabulary for both languages, plain or with length tokens. The rest goes by transformers.
"""

import tempfile
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import ctranslate2
import torch
from ctranslate2.converters.transformers import BartLoader
from transformers import MarianMTModel

from training.translation.decoding.checkpoints import Checkpoint, has_length_tokens
from training.translation.decoding.generating import Beam, Found, Row, limit_of, search

# CTranslate2 takes what it has once this many times the beam is finished; transformers go on until
# nothing better can come. With 10 they differ where a model that has hardly learned repeats itself.
PATIENCE = 10.0
BATCH = 64


class Served:
    """A checkpoint's weights as CTranslate2 holds them, and the names of its pieces."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.pieces: list[str] = checkpoint.tokenizer.convert_ids_to_tokens(
            range(checkpoint.model.config.vocab_size)
        )
        self.ids = {piece: n for n, piece in enumerate(self.pieces)}
        with tempfile.TemporaryDirectory() as folder:
            _specification(checkpoint, self.pieces).save(folder)
            self.translator: Any = ctranslate2.Translator(
                folder, device="cpu", compute_type="float32", intra_threads=torch.get_num_threads()
            )

    def names(self, ids: Sequence[int]) -> list[str]:
        """Return the pieces of numbers."""
        return [self.pieces[n] for n in ids]


def best(checkpoint: Checkpoint, rows: Sequence[Row], beam: Beam) -> list[Found]:
    """Return the best output of each row."""
    found = (
        _search(checkpoint, rows, beam) if serves(checkpoint, rows, beam) else [None] * len(rows)
    )
    left = [n for n, own in enumerate(found) if own is None]
    rest = dict(zip(left, search(checkpoint, [rows[n] for n in left], beam), strict=True))
    return [rest[n][0] if own is None else own for n, own in enumerate(found)]


def serves(checkpoint: Checkpoint, rows: Sequence[Row], beam: Beam) -> bool:
    """Return whether CTranslate2 finds the outputs of rows."""
    config = checkpoint.model.config
    return (
        type(checkpoint.model) is MarianMTModel
        and config.share_encoder_decoder_embeddings
        and config.vocab_size == len(checkpoint.tokenizer)
        and str(checkpoint.device) == "cpu"
        and beam.penalty == 1.0
        and all(row.forced is None and not row.reward for row in rows)
    )


def _search(checkpoint: Checkpoint, rows: Sequence[Row], beam: Beam) -> list[Found | None]:
    """Search with CTranslate2; None for rows that transformers must decode.

    These are outputs that reach their own limit, because the limit here is that of all rows, and
    outputs with a hypothesis that has a forbidden piece.
    """
    served, limits = _served(checkpoint), [limit_of(checkpoint, row) for row in rows]
    has_tokens = has_length_tokens(checkpoint)
    first = [
        served.names([checkpoint.length_token(row.target_length or 0)]) if has_tokens else []
        for row in rows
    ]
    banned = set(served.names(checkpoint.banned))
    results = served.translator.translate_batch(
        [served.names(row.source) for row in rows],
        target_prefix=first,
        beam_size=beam.size,
        num_hypotheses=beam.size,
        patience=PATIENCE if beam.size > 1 else 1.0,
        max_batch_size=BATCH,
        max_input_length=0,
        max_decoding_length=max(limits) + 1,
        return_scores=True,
    )
    found = [_best(served, own, len(start)) for own, start in zip(results, first, strict=True)]
    return [
        None if len(own.pieces) >= n or _holds(banned, result, len(start)) else own
        for own, n, result, start in zip(found, limits, results, first, strict=True)
    ]


# By model; a model that learns on would have to be served anew.
_KNOWN: WeakKeyDictionary[Any, Served] = WeakKeyDictionary()


def _served(checkpoint: Checkpoint) -> Served:
    if checkpoint.model not in _KNOWN:
        _KNOWN[checkpoint.model] = Served(checkpoint)
    return _KNOWN[checkpoint.model]


def _best(served: Served, result: Any, n_first: int) -> Found:
    """Return the best output; CTranslate2 divides by a length that includes the prefix."""
    found = [
        Found(
            tuple(served.ids[piece] for piece in pieces[n_first:]),
            score * (len(pieces) + 1) / (len(pieces) + 1 - n_first),
        )
        for pieces, score in zip(result.hypotheses, result.scores, strict=True)
    ]
    return max(found, key=lambda own: own.score)


def _holds(banned: set[str], result: Any, n_first: int) -> bool:
    return any(banned.intersection(pieces[n_first:]) for pieces in result.hypotheses)


def _specification(checkpoint: Checkpoint, pieces: list[str]) -> Any:
    """Return the model for CTranslate2, read as BART.

    CTranslate2's reader of Marian models would remove the row of the padding, with which outputs
    begin; training changes that row if input and output share weights.
    """
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    model.config.normalize_before = model.config.normalize_embedding = False
    spec = BartLoader().get_model_spec(model)
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.eos_token = tokenizer.eos_token
    spec.config.unk_token = tokenizer.unk_token
    spec.config.decoder_start_token = tokenizer.convert_ids_to_tokens(
        model.config.decoder_start_token_id
    )
    spec.validate()
    spec.optimize(quantization="float32")
    return spec
