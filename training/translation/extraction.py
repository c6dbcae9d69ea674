"""Translate-then-Summarize: the best words of a plain translation, as many as are asked for.

The objective of an extract and the search are those of Schumann et al. 2020, written from the
published formulas; fluency and vectors are those of a causal language model. Many restarts of many
sentences move in step. A sentence's draws come from a generator of its own, so that its extract is
the same whichever sentences are searched beside it.
"""

import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import regex  # type: ignore[import-untyped]
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from core.languages import is_character_based
from extensions.neural.encoding.encoders import best_device
from metaeval.messages import message
from metaeval.reasons import reason_of
from metrics.base import MetricError
from metrics.checkpoints import places
from training.contract import JobError
from training.translation.requests import not_loaded

Floats = NDArray[np.float64]
# The paper's exponents of fluency and similarity, and what fluency is divided into.
FLUENCY_POWER, SIMILARITY_POWER, FLUENCY_SCALE = 1.0, 12.0, 10_000.0
# Steps and restarts per word and squared length.
STEP_SHARE, RESTART_SHARE = 0.1, 0.035


@dataclass(frozen=True)
class Budget:
    """How long to search for `length` of `n` words; small problems are searched through."""

    steps: int
    restarts: int
    combinations: int

    @property
    def is_exhaustive(self) -> bool:
        """Whether there are no more extracts than proposals."""
        return self.steps * self.restarts >= self.combinations


def budget(n: int, length: int) -> Budget:
    """Return the search's steps and restarts."""
    size = n * length**2
    steps, restarts = (max(1, int(size * share)) for share in (STEP_SHARE, RESTART_SHARE))
    return Budget(steps, restarts, math.comb(n, length))


def objective(nll: ArrayLike, cosine: ArrayLike) -> Floats:
    """Return fluency times similarity.

    `nll` is the mean −ln p of a word or piece with the end; where two directions are known, their
    mean. `cosine` is between the vectors of extract and sentence.
    """
    fluency = (FLUENCY_SCALE / np.exp(np.asarray(nll, dtype=float))) ** FLUENCY_POWER
    similarity = ((np.asarray(cosine, dtype=float) + 1.0) / 2.0) ** SIMILARITY_POWER
    return np.asarray(fluency * similarity)


Mask = NDArray[np.bool_]
# Scores of extracts: pairs of a sentence's number and a mask over its words.
Score = Callable[[Sequence[tuple[int, Mask]]], Floats]
# The extracts of a search are scored in parts of this size.
PART = 4096


@dataclass(frozen=True)
class Sentence:
    """`length` of `n` words are wanted, fewer than there are; `seed` draws."""

    n: int
    length: int
    seed: int


@dataclass
class _Best:
    """The best extract that was seen; the first one on ties."""

    score: float = -np.inf
    mask: Mask = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def see(self, score: float, mask: Mask) -> None:
        if score > self.score:
            self.score, self.mask = score, mask.copy()


def search(sentences: Sequence[Sentence], score: Score) -> list[Mask]:
    """Return the best extract that was seen of each sentence."""
    known = _Known(score)
    best = [_Best() for _ in sentences]
    _search_through(sentences, known, best)
    _climb(sentences, known, best)
    return [each.mask for each in best]


def extracts(n: int, length: int) -> Iterator[Mask]:
    """Return all extracts of a length, in the order of their words."""
    for chosen in combinations(range(n), length):
        mask = np.zeros(n, dtype=bool)
        mask[list(chosen)] = True
        yield mask


class _Known:
    """Scores each extract once."""

    def __init__(self, score: Score) -> None:
        self.score, self.scores = score, dict[tuple[int, bytes], float]()

    def __call__(self, asked: Sequence[tuple[int, Mask]]) -> list[float]:
        keys = [(number, np.packbits(mask).tobytes()) for number, mask in asked]
        new = {key: each for key, each in zip(keys, asked, strict=True) if key not in self.scores}
        if new:
            found = self.score(list(new.values()))
            self.scores.update(zip(new, map(float, found), strict=True))
        return [self.scores[key] for key in keys]


def _search_through(sentences: Sequence[Sentence], known: _Known, best: Sequence[_Best]) -> None:
    """Score all extracts of those sentences that have few."""
    asked: list[tuple[int, Mask]] = []
    for number, each in enumerate(sentences):
        if budget(each.n, each.length).is_exhaustive:
            asked += ((number, mask) for mask in extracts(each.n, each.length))
    for start in range(0, len(asked), PART):
        part = asked[start : start + PART]
        for (number, mask), value in zip(part, known(part), strict=True):
            best[number].see(value, mask)


class _Climb:
    """The restarts of one sentence: where each stands, and the draws of its steps."""

    def __init__(self, sentence: Sentence) -> None:
        self.sentence, self.budget = sentence, budget(sentence.n, sentence.length)
        self.rng = np.random.default_rng(sentence.seed)
        order = self.rng.random((self.budget.restarts, sentence.n)).argsort(axis=1)
        self.masks: Mask = order.argsort(axis=1) < sentence.length
        self.scores = np.full(self.budget.restarts, -np.inf)

    def propose(self, step: int) -> Mask:
        """Return the first extracts, later each with one word replaced by another."""
        if not step:
            return self.masks
        out, into = self.rng.random((2, *self.masks.shape))
        rows = np.arange(len(self.masks))
        proposed = self.masks.copy()
        # The largest draw among the words that are in, and among those that are out.
        proposed[rows, np.where(self.masks, out, -1.0).argmax(axis=1)] = False
        proposed[rows, np.where(self.masks, -1.0, into).argmax(axis=1)] = True
        return proposed

    def take(self, proposed: Mask, scores: Floats) -> None:
        """Keep what is at least as good."""
        better = scores >= self.scores
        self.masks = np.where(better[:, None], proposed, self.masks)
        self.scores = np.where(better, scores, self.scores)


def _climb(sentences: Sequence[Sentence], known: _Known, best: Sequence[_Best]) -> None:
    climbs = {
        number: _Climb(each)
        for number, each in enumerate(sentences)
        if not budget(each.n, each.length).is_exhaustive
    }
    step = 0
    while climbs:
        proposed = {number: each.propose(step) for number, each in climbs.items()}
        asked = [(number, mask) for number, masks in proposed.items() for mask in masks]
        scores = iter(known(asked))
        for number, masks in proposed.items():
            own = np.array([next(scores) for _ in masks])
            climbs[number].take(masks, own)
            first = int(own.argmax())
            best[number].see(own[first], masks[first])
        step += 1
        climbs = {number: each for number, each in climbs.items() if step <= each.budget.steps}


# Pieces of texts that are read at once.
ROOM = {"cpu": 16_000, "cuda": 120_000}


class LanguageModel:
    """A causal model with its tokenizer; any that transformers loads."""

    def __init__(self, model: Any, tokenizer: Any, weights: str = "") -> None:
        self.model, self.tokenizer, self.weights = model, tokenizer, weights
        start = tokenizer.bos_token_id
        self.end = tokenizer.eos_token_id
        self.start = self.end if start is None else start
        self.table: Tensor = model.get_input_embeddings().weight.detach()

    def pieces(self, word: str, *, has_blank: bool) -> list[int]:
        """Return the pieces of a word in a text, with the space before it."""
        ids: list[int] = self.tokenizer(
            f" {word}" if has_blank else word, add_special_tokens=False
        ).input_ids
        return ids

    def vector(self, pieces: Sequence[int]) -> NDArray[np.float32]:
        """Return the mean of the pieces' input vectors."""
        ids = torch.tensor(list(pieces), device=self.table.device)
        return np.asarray(self.table[ids].float().mean(dim=0).cpu())

    def nll(self, texts: Sequence[Sequence[int]]) -> Floats:
        """Return the mean −ln p of the pieces of each text, its end included."""
        order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
        found = np.empty(len(texts))
        room, part = ROOM["cuda" if self.model.device.type == "cuda" else "cpu"], list[int]()
        for n in order:
            if part and (len(part) + 1) * (len(texts[n]) + 2) > room:
                found[part] = self._nll([texts[each] for each in part])
                part = []
            part.append(n)
        if part:
            found[part] = self._nll([texts[each] for each in part])
        return found

    def _nll(self, texts: Sequence[Sequence[int]]) -> Floats:
        longest = max(map(len, texts)) + 2
        ids = torch.full((len(texts), longest), self.end)
        for row, text in zip(ids, texts, strict=True):
            row[: len(text) + 2] = torch.tensor([self.start, *text, self.end])
        ids = ids.to(self.model.device)
        n = torch.tensor([len(text) + 1 for text in texts], device=ids.device)
        is_read = torch.arange(longest - 1, device=ids.device) < n[:, None]
        with torch.inference_mode():
            logits = self.model(input_ids=ids[:, :-1]).logits.float()
        each = torch.nn.functional.cross_entropy(
            logits.transpose(1, 2), ids[:, 1:], reduction="none"
        )
        return np.asarray(((each * is_read).sum(dim=1) / n).double().cpu())


def load(name: str, device: str = "") -> LanguageModel:
    """Load a causal language model; JobError says why it cannot be used."""
    try:
        folder = Path(places.find(name))
        places.check(name, folder)
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        if config.is_encoder_decoder:
            raise JobError(
                message(
                    "translation.not-causal", "{model} is not a causal language model.", model=name
                )
            )
        read: Any = AutoTokenizer.from_pretrained
        tokenizer = read(folder, local_files_only=True)
        model: Any = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
    except MetricError as error:
        raise JobError(error.message) from error
    except (OSError, ValueError, RuntimeError, KeyError, ImportError) as error:
        raise JobError(not_loaded(name, reason_of(error))) from error
    model.to(device or best_device()).eval()
    return LanguageModel(model, tokenizer, places.fingerprint(folder))


# Invisible: joiners, direction marks, variation selectors. All but the zero-width space, which
# parts words, stand within words.
_INVISIBLE = r"[\p{Default_Ignorable_Code_Point}--\p{L}]"
_WITHIN = rf"[{_INVISIBLE}--\u200b]"
# A grapheme cluster with all marks after it, also those of Burmese that Unicode keeps separate.
_CLUSTER = rf"(?!\s|{_INVISIBLE})\X\p{{M}}*"
_LETTER, _JOINERS = r"[\p{L}\p{M}\p{N}]", r"\u200c\u200d"
_RUN = rf"(?:\p{{GCB=Prepend}}*(?!{_INVISIBLE}){_LETTER}[{_LETTER}{_JOINERS}]*)"
# A run of letters and digits, with apostrophes and hyphens inside; or one other sign.
_TOKEN = regex.compile(rf"{_RUN}(?:(?:['’\-]|{_WITHIN}+){_RUN})*|{_CLUSTER}", regex.V1)
_SIGN = regex.compile(rf"[A-Za-z0-9]+[\p{{M}}{_JOINERS}]*|{_CLUSTER}", regex.V1)
_PUNCTUATION = regex.compile(rf"(?:[\p{{P}}\p{{S}}][\p{{M}}{_INVISIBLE}]*)+", regex.V1)


def cut(text: str, *, by_character: bool) -> list[str]:
    """Return the words and punctuation of a text; of Chinese its characters.

    A character is a grapheme cluster of Unicode; an invisible one is not counted alone.
    """
    found: list[str] = (_SIGN if by_character else _TOKEN).findall(text)
    return found


@dataclass(frozen=True)
class _Words:
    """The words of a sentence without its punctuation: their pieces, and their vectors times idf,
    (words, width)."""

    words: list[str]
    pieces: list[list[int]]
    vectors: NDArray[np.float32]


class Extractor:
    """Extracts by one language model. `texts` are all sentences, whose words make the idf: log2 of
    their number by that of the sentences with a word."""

    def __init__(
        self, model: LanguageModel, language: str, texts: Sequence[str], seed: int = 0
    ) -> None:
        self.model, self.seed = model, seed
        self.by_character = is_character_based(language)
        cuts = [set(cut(text, by_character=self.by_character)) for text in texts]
        self.n_texts, self.n_with = len(texts), Counter(word for each in cuts for word in each)

    @classmethod
    def load(cls, name: str, language: str, texts: Sequence[str], seed: int) -> "Extractor":
        """Load the language model; raises JobError."""
        return cls(load(name), language, texts, seed)

    def shorten(self, texts: Sequence[str], shares: Sequence[float]) -> list[str]:
        """Return the extract of each sentence that has about that share of its words.

        The number of words is computed before punctuation is taken out; a sentence that then has no
        more words than that stays as it is.
        """
        found, asked = list(texts), dict[int, tuple[_Words, Sentence]]()
        for place, (text, share) in enumerate(zip(texts, shares, strict=True)):
            tokens = cut(text, by_character=self.by_character)
            length = max(1, round(share * len(tokens)))
            words = [token for token in tokens if not _PUNCTUATION.fullmatch(token)]
            if len(words) > length:
                sentence = Sentence(len(words), length, zlib.crc32(f"{self.seed} {text}".encode()))
                asked[place] = self._words(words), sentence
        read = [words for words, _ in asked.values()]
        masks = search(
            [sentence for _, sentence in asked.values()], lambda each: self._score(read, each)
        )
        for place, own, mask in zip(asked, read, masks, strict=True):
            kept = [word for word, is_in in zip(own.words, mask, strict=True) if is_in]
            found[place] = ("" if self.by_character else " ").join(kept)
        return found

    def _words(self, words: list[str]) -> _Words:
        pieces = [self.model.pieces(word, has_blank=not self.by_character) for word in words]
        pairs = zip(words, pieces, strict=True)
        vectors = [self._idf(word) * self.model.vector(own) for word, own in pairs]
        return _Words(words, pieces, np.stack(vectors))

    def _idf(self, word: str) -> float:
        # A word of every sentence would have no vector: where all are such, they weigh alike.
        return math.log2(self.n_texts / max(1, self.n_with[word])) or 1e-6

    def _score(self, read: Sequence[_Words], asked: Sequence[tuple[int, Mask]]) -> Floats:
        texts = [
            [piece for place in np.flatnonzero(mask) for piece in read[n].pieces[place]]
            for n, mask in asked
        ]
        return objective(self.model.nll(texts), _cosines(read, asked))


def _cosines(read: Sequence[_Words], asked: Sequence[tuple[int, Mask]]) -> Floats:
    """Compute cosines between the sum of the chosen words and that of all words, per sentence."""
    found = np.empty(len(asked))
    numbers: Any = np.array([n for n, _ in asked])
    for n in np.unique(numbers):
        places = np.flatnonzero(numbers == n)
        whole = read[n].vectors.sum(axis=0)
        sums = np.stack([asked[place][1] for place in places]).astype(np.float32) @ read[n].vectors
        sizes = np.linalg.norm(sums, axis=1) * np.linalg.norm(whole)
        found[places] = (sums @ whole) / np.maximum(sizes, 1e-12)
    return found
