"""Vectors of words in their sentences, from a resident encoder. Imports torch: workers only."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extensions.neural.encoding import encoders
from extensions.neural.encoding.encoders import Encoder
from extensions.neural.encoding.token_vectors import alike, stop_after

# Zhao et al. 2020 dropped longer sentences.
MOST_PIECES = 175
Array = NDArray[np.float32]
Words = tuple[str, ...]


@dataclass(frozen=True)
class _Text:
    """A sentence as the encoder reads it; ``spans`` are the pieces of each word."""

    words: Words
    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]


def encode(
    encoder: Encoder,
    sentences: Iterable[Words],
    layer: int,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> dict[Words, Array]:
    """Return (words, width) vectors of each distinct sentence: means of the words' pieces.

    Sentences of more than 175 pieces are excluded. A word without pieces has a vector of zeros.
    The encoder stops at the layer.
    """
    distinct = list(dict.fromkeys(sentences))
    vocabulary = dict.fromkeys(word for words in distinct for word in words)
    pieces = {word: _pieces(encoder.tokenizer, word) for word in vocabulary}
    texts = [_read(encoder.tokenizer, words, pieces) for words in distinct]
    by_ids: dict[tuple[int, ...], list[_Text]] = {}
    for text in texts:
        if len(text.ids) <= min(MOST_PIECES, encoder.tokenizer.model_max_length):
            by_ids.setdefault(text.ids, []).append(text)
    found: dict[Words, Array] = {}
    total = sum(map(len, by_ids.values()))
    for group in alike(by_ids):
        for ids, states in _states(encoder, group, layer):
            found |= {text.words: _means(states, text.spans) for text in by_ids[ids]}
        report(len(found), total)
    return found


def _read(tokenizer: Any, words: Words, pieces: Mapping[str, list[int]]) -> _Text:
    """Join the pieces of words into a sentence; each word is split alone, as published."""
    plain = [piece for word in words for piece in pieces[word]]
    ids = list(tokenizer.build_inputs_with_special_tokens(plain))
    start = next(n for n in range(len(ids) + 1) if ids[n : n + len(plain)] == plain)
    spans = []
    for word in words:
        spans.append((start, start + len(pieces[word])))
        start += len(pieces[word])
    return _Text(words, tuple(ids), tuple(spans))


def _pieces(tokenizer: Any, word: str) -> list[int]:
    from transformers import GPT2Tokenizer, RobertaTokenizer

    is_spaced = isinstance(tokenizer, GPT2Tokenizer | RobertaTokenizer)
    spaced = {"add_prefix_space": True} if is_spaced else {}
    return list(tokenizer.encode(word, add_special_tokens=False, **spaced))


def _states(encoder: Encoder, group: Sequence[tuple[int, ...]], layer: int) -> Any:
    def work(batch: list[tuple[int, ...]]) -> list[Array]:
        with stop_after(encoder.model, layer):
            states = encoder.hidden_states(batch)[0][layer].cpu().numpy()
        return [states[row, : len(ids)] for row, ids in enumerate(batch)]

    for batch, found in encoders.in_batches(encoder, group, length=len, work=work):
        yield from zip(batch, found, strict=True)


def _means(states: Array, spans: Sequence[tuple[int, int]]) -> Array:
    means = np.zeros((len(spans), states.shape[1]), dtype=np.float32)
    for row, (start, end) in enumerate(spans):
        if end > start:
            means[row] = states[start:end].mean(axis=0)
    return means
