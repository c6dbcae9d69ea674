"""Translate-then-Summarize: words of a plain translation, as many as a wanted length asks for."""

import math
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import regex  # type: ignore[import-untyped]
from numpy.typing import NDArray

from core.languages import is_character_based
from training.translation.extraction import fluency
from training.translation.extraction.fluency import LanguageModel
from training.translation.extraction.search import Floats, Mask, Sentence, objective, search

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
        return cls(fluency.load(name), language, texts, seed)

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
