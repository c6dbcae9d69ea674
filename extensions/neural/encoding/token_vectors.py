"""Compute token vectors of texts; encode each text once per encoder for all metrics.

Every family that compares token vectors uses this module. Imports torch: workers only.
"""

import math
import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from extensions.neural import files
from extensions.neural.encoding import encoders
from extensions.neural.encoding.encoders import NO_LIMIT, Encoder, EncoderSpec, is_longer
from metrics.truncation import note

# Cached vectors, in MiB; 1,000 texts of 40 pieces × 768 numbers take 117 MiB.
KEPT_MIB = int(os.environ.get("EMBEDDING_CACHE_MB", "1024"))
Key = tuple[EncoderSpec, int, tuple[int, ...]]


@dataclass(frozen=True)
class Embedded:
    """Hold one text under one encoder.

    ``ids`` are its token ids, special tokens included, ``pieces`` the same as strings, and
    ``is_special`` marks special tokens: those at begin and end as in bert-score, and all tokens of
    an empty text. ``states[layer]`` is (pieces, width) in float32 on the encoder's device; layer 0
    is the embedding.
    """

    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    is_special: tuple[bool, ...]
    states: dict[int, torch.Tensor]


class _VectorCache:
    """Cache vectors by encoder, layer and token ids; drop the least used ones when full."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit, self.size = limit_bytes, 0
        self.vectors: OrderedDict[Key, torch.Tensor] = OrderedDict()

    def find(self, key: Key) -> torch.Tensor | None:
        found = self.vectors.get(key)
        if found is not None:
            self.vectors.move_to_end(key)
        return found

    def keep(self, key: Key, vectors: torch.Tensor) -> None:
        if key in self.vectors:
            return
        self.vectors[key] = vectors
        self.size += vectors.nbytes
        while self.size > self.limit and len(self.vectors) > 1:
            _, dropped = self.vectors.popitem(last=False)
            self.size -= dropped.nbytes

    def forget(self) -> None:
        self.vectors.clear()
        self.size = 0


_cache = _VectorCache(KEPT_MIB * 2**20)


def forget() -> None:
    """Drop all cached vectors."""
    _cache.forget()


def embed(
    encoder: Encoder,
    texts: Iterable[str],
    layers: Sequence[int],
    limit: int = NO_LIMIT,
    *,
    spaced: bool = True,
) -> dict[str, Embedded]:
    """Return every distinct text under an encoder at some layers, tokenised by :func:`tokenize`.

    Texts with cached vectors are not encoded again. The encoder stops at the highest requested
    layer. Raises ValueError for a layer that the encoder does not have.
    """
    wanted = sorted(set(layers))
    if not wanted or wanted[0] < 0 or wanted[-1] >= encoder.n_layers:
        raise ValueError(f"layers must be within 0 to {encoder.n_layers - 1}, not {wanted}")
    cut = tokenize_all(encoder, texts, limit, spaced=spaced)
    ids = {text: tuple(each) for text, each in cut.items()}
    states = {each: _find(encoder.spec, wanted, each) for each in ids.values()}
    missing = [each for each, found in states.items() if len(found) < len(wanted)]
    for each, found in _encode(encoder, missing, wanted):
        states[each] = found
        for layer, vectors in found.items():
            _cache.keep((encoder.spec, layer, each), vectors)
    return {
        text: _embedded(encoder.tokenizer, text, each, states[each]) for text, each in ids.items()
    }


def _find(
    spec: EncoderSpec, layers: Sequence[int], ids: tuple[int, ...]
) -> dict[int, torch.Tensor]:
    found = {layer: _cache.find((spec, layer, ids)) for layer in layers}
    return {layer: vectors for layer, vectors in found.items() if vectors is not None}


def alike(texts: Iterable[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
    """Group token ids by length, so that padding adds at most a fifth to the tokens of a group."""
    group: list[tuple[int, ...]] = []
    n_tokens = 0
    for ids in sorted(texts, key=len, reverse=True):
        n_padded = len(group[0]) * (len(group) + 1) if group else 0
        if n_padded > encoders.MOST_PADDED * (n_tokens + len(ids)):
            yield group
            group, n_tokens = [], 0
        group.append(ids)
        n_tokens += len(ids)
    if group:
        yield group


def _encode(
    encoder: Encoder, texts: Sequence[tuple[int, ...]], layers: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], dict[int, torch.Tensor]]]:
    def prepare(batch: list[tuple[int, ...]]) -> tuple[list[tuple[int, ...]], Any]:
        return batch, encoder.pad(batch)

    def work(given: tuple[list[tuple[int, ...]], Any]) -> list[dict[int, torch.Tensor]]:
        batch, padded = given
        with stop_after(encoder.model, layers[-1]):
            states, _ = encoder.compute(padded)
        found: list[dict[int, torch.Tensor]] = [{} for _ in batch]
        for layer in layers:
            views = [states[layer][row, : len(ids)] for row, ids in enumerate(batch)]
            kept = [torch.empty_like(view) for view in views]
            torch._foreach_copy_(kept, views)  # a kernel for many texts
            for each, vectors in zip(found, kept, strict=True):
                each[layer] = vectors
        return found

    for batch, found in encoders.in_batches(encoder, texts, length=len, work=work, prepare=prepare):
        yield from zip(batch, found, strict=True)


def fetch(tensors: Sequence[torch.Tensor]) -> list[NDArray[Any]]:
    """Copy tensors to the host, from a GPU in one transfer."""
    if not tensors or not tensors[0].is_cuda:
        return [each.numpy() for each in tensors]
    flat = torch.cat([each.reshape(-1) for each in tensors]).cpu().numpy()
    ends = np.cumsum([each.numel() for each in tensors])[:-1]
    parts = np.split(flat, ends)
    return [part.reshape(each.shape) for part, each in zip(parts, tensors, strict=True)]


def fetch_states(found: Mapping[str, Embedded], layer: int) -> dict[str, NDArray[np.float64]]:
    """Return the (pieces, width) vectors of every text at a layer, in double precision."""
    states = fetch([each.states[layer] for each in found.values()])
    return {text: each.astype(np.float64) for text, each in zip(found, states, strict=True)}


@contextmanager
def stop_after(model: Any, layer: int) -> Iterator[None]:
    """Make an encoder compute no layer above ``layer``; one of unknown structure computes all."""
    stack = getattr(model, "encoder", model)
    name = next((each for each in ("layer", "layers") if hasattr(stack, each)), None)
    if name is None or layer == 0 or layer >= len(getattr(stack, name)):
        yield
        return
    whole = getattr(stack, name)
    setattr(stack, name, whole[:layer])
    try:
        yield
    finally:
        setattr(stack, name, whole)


def _embedded(
    tokenizer: Any, text: str, ids: tuple[int, ...], states: dict[int, torch.Tensor]
) -> Embedded:
    special = {tokenizer.cls_token_id, tokenizer.sep_token_id}
    pieces = tuple(tokenizer.convert_ids_to_tokens(list(ids)))
    is_empty = not text.strip() or list(ids) == empty_ids(tokenizer)
    return Embedded(ids, pieces, tuple(is_empty or token in special for token in ids), states)


def empty_ids(tokenizer: Any) -> list[int]:
    """Return the ids of an empty text: the special tokens, or a padding token."""
    special = list(tokenizer.build_inputs_with_special_tokens([]))
    # Some tokenizers have no special tokens, but an encoder needs at least one token.
    return special or [int(tokenizer.pad_token_id or 0)]


def tokenize(tokenizer: Any, text: str, limit: int = NO_LIMIT, *, spaced: bool = True) -> list[int]:
    """Turn a text into token ids as bert-score does, truncated to the encoder's limit.

    ``limit`` truncates further; truncation is recorded (:mod:`metrics.truncation`). If ``spaced``,
    tokenizers like those of GPT-2 and RoBERTa treat the first word as if a space preceded it;
    sentence encoders were trained without.
    """
    from transformers import GPT2Tokenizer, RobertaTokenizer

    given, text = text, text.strip()
    if not text:
        return empty_ids(tokenizer)
    is_spaced = spaced and isinstance(tokenizer, GPT2Tokenizer | RobertaTokenizer)
    before = {"add_prefix_space": True} if is_spaced else {}
    # Some tokenizers state a limit that overflows, which means no limit.
    limit = min(tokenizer.model_max_length, limit)
    ids = list(tokenizer.encode(text, max_length=limit, truncation=True, **before))
    if len(ids) >= limit and is_longer(tokenizer, text, limit=limit, **before):
        note(given)
    return ids


def tokenize_all(
    encoder: Encoder, texts: Iterable[str], limit: int = NO_LIMIT, *, spaced: bool = True
) -> dict[str, list[int]]:
    """Return the ids of every distinct text as :func:`tokenize` does, many texts at once."""
    found = dict[str, list[int]]()
    for text, (ids, is_truncated) in encoder.pieces.of_texts(texts, limit, spaced=spaced).items():
        found[text] = ids if text.strip() else empty_ids(encoder.tokenizer)
        if is_truncated:
            note(text)
    return found


# Weights of pieces are 1, or inverse document frequencies over the sentences of a file, one in each
# line. The releases count over the evaluated texts, so that a score depends on the others. Here it
# does not, and the digest of the file is in the signature.

Piece = TypeVar("Piece", bound=Hashable)


@dataclass(frozen=True)
class IdfTable(Generic[Piece]):
    """Hold ln((N + 1)/(df + 1)) of each piece over N documents, and ln(N + 1) for unseen ones.

    ``digest`` identifies the corpus in signatures by twelve characters.
    """

    values: Mapping[Piece, float]
    unseen: float
    digest: str = ""

    def weigh(self, pieces: Sequence[Piece]) -> NDArray[np.float64]:
        """Return weights, (pieces,)."""
        return np.array([self.values.get(piece, self.unseen) for piece in pieces])


def count_documents(documents: Iterable[Sequence[Piece]], digest: str = "") -> IdfTable[Piece]:
    """Count for each piece how many documents contain it (Zhao et al. 2019, section 3.1)."""
    n_documents, frequencies = 0, Counter[Piece]()
    for document in documents:
        n_documents += 1
        frequencies.update(set(document))
    values = {piece: math.log((n_documents + 1) / (df + 1)) for piece, df in frequencies.items()}
    return IdfTable(values, math.log(n_documents + 1), digest)


def read_table(path: str, tokenize: Callable[[str], Sequence[Piece]]) -> IdfTable[Piece]:
    """Count over the lines of a UTF-8 file; errors as :func:`extensions.neural.files.read`."""
    file = files.read(path)
    return count_documents(map(tokenize, file.lines), file.digest)


@dataclass(frozen=True)
class Weights:
    """Hold weights by token id; ``unseen`` is that of all others. Special tokens have weight 0."""

    table: Mapping[int, float] = field(default_factory=dict)
    unseen: float = 1.0
    digest: str = ""

    def of(self, text: Embedded) -> torch.Tensor:
        """Return float32 weights, (pieces,)."""
        pairs = zip(text.ids, text.is_special, strict=True)
        weights = [0.0 if special else self.table.get(each, self.unseen) for each, special in pairs]
        return torch.tensor(weights)


UNIFORM = Weights()


def load_weights(path: str, encoder: Encoder) -> Weights:
    """Read the sentences of a file; without a path every piece has weight 1."""
    if not path:
        return UNIFORM
    file = files.read(path)
    ids = tokenize_all(encoder, file.lines)
    return fit_weights([ids[line] for line in file.lines], file.digest)


def fit_weights(sentences: list[list[int]], digest: str) -> Weights:
    """Return the weights ln((N + 1) / (df + 1)), as in bert-score.

    df of the N sentences contain the piece.
    """
    found = count_documents(sentences, digest)
    return Weights(found.values, found.unseen, digest)
