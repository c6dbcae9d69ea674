"""Texts that are worse by construction: words in another order, or translated one by one.

Pure. Functions return None where a text cannot be altered (one word, or all words the same).
Words are what blanks part; where a script has none (``spaced`` False), they are characters.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Alignment = Sequence[tuple[int, int]]

# A comma or colon within a number parts no clauses.
_SEPARATOR = re.compile(r"(\s*(?:[,;:]+(?=\s)|[，；：、]+)\s*)")
_STOPS = ".!?。！？…"
_WORD_OR_MARK = re.compile(r"\w+(?:['’\-]\w+)*|[^\w\s]")
# Orders of few words repeat; this many draws miss every other one of two with chance 2⁻⁵⁰.
_DRAWS = 50


@dataclass(frozen=True)
class Dictionary:
    """Translations of words, the first of each; ``longest`` is the length of the longest word."""

    entries: Mapping[str, str]
    longest: int

    def find(self, word: str) -> str | None:
        """Return the translation of a word as written, else in lower case."""
        return self.entries.get(word, self.entries.get(word.lower()))


def reorder(text: str, rng: random.Random, *, spaced: bool = True) -> str | None:
    """Put all words in a random order that is not the one they have."""
    words = split(text, spaced=spaced)
    return _join(_shuffled(words, rng), spaced=spaced)


def shuffle_some(
    text: str, rng: random.Random, *, rate: float = 0.5, spaced: bool = True
) -> str | None:
    """Exchange int(rate × words) randomly chosen words among themselves."""
    words = split(text, spaced=spaced)
    places = sorted(rng.sample(range(len(words)), int(rate * len(words))))
    exchanged = _shuffled([words[place] for place in places], rng)
    if exchanged is None:
        return None
    for place, word in zip(places, exchanged, strict=True):
        words[place] = word
    return _join(words, spaced=spaced)


def repeat_some(
    text: str, rng: random.Random, *, rate: float = 0.4, spaced: bool = True
) -> str | None:
    """Write int(rate × words) randomly chosen words twice in place."""
    words = split(text, spaced=spaced)
    chosen = set(rng.sample(range(len(words)), int(rate * len(words))))
    if not chosen:
        return None
    twice = [[word] * (1 + (place in chosen)) for place, word in enumerate(words)]
    return _join([word for each in twice for word in each], spaced=spaced)


def permute_clauses(text: str, rng: random.Random, *, spaced: bool = True) -> str | None:
    """Put clauses in another order; cut a single one in two and exchange the parts.

    The stop at the end stays there.
    """
    body = text.strip().rstrip(_STOPS).rstrip()
    stop = text.strip()[len(body) :]
    clauses = _SEPARATOR.split(body)
    if len(clauses) == 1:
        rotated = _rotated(split(body, spaced=spaced), rng)
        return None if rotated is None else f"{_join(rotated, spaced=spaced)}{stop}"
    # Separators stay where they are: every other part is one.
    moved = _shuffled(clauses[::2], rng)
    if moved is None:
        return None
    clauses[::2] = moved
    return "".join(clauses) + stop


def source_order(text: str, alignment: Alignment, *, spaced: bool = True) -> str | None:
    """Put words in the order of the source words that they are aligned with.

    ``alignment`` holds (source, target) places from 0, over the words of ``text``. A word goes by
    the mean place of its source words; an unaligned one stays behind the word before it. Raises
    ValueError for a link to a place that the text does not have.
    """
    words = split(text, spaced=spaced)
    places: list[list[int]] = [[] for _ in words]
    for source, target in alignment:
        if not 0 <= target < len(words):
            raise ValueError(f"link {source}-{target}: the text has {len(words)} words, from 0")
        places[target].append(source)
    keys, last = [], -1.0
    for aligned in places:
        last = sum(aligned) / len(aligned) if aligned else last
        keys.append(last)
    ordered = [words[index] for index in sorted(range(len(words)), key=keys.__getitem__)]
    return None if ordered == words else _join(ordered, spaced=spaced)


def word_by_word(
    source: str, dictionary: Dictionary, *, spaced: bool = True, target_spaced: bool = True
) -> tuple[str | None, float]:
    """Translate each word by its first translation, in source order and without context.

    Returns the text, None where no word is known, and the share of words that are. Unknown words
    stay as they are. Where the source has no blanks, the longest known word is taken at each place.
    """
    words = _WORD_OR_MARK.findall(source) if spaced else _longest_matches(source, dictionary)
    known = [dictionary.find(word) for word in words]
    n_words = sum(any(map(str.isalnum, word)) for word in words)
    n_known = sum(translation is not None for translation in known)
    if not n_known:
        return None, 0.0
    parts = [word if found is None else found for word, found in zip(words, known, strict=True)]
    text = _join(parts, spaced=target_spaced) or ""
    return re.sub(r" (?=[^\w\s])", "", text), min(1.0, n_known / max(n_words, 1))


def split(text: str, *, spaced: bool = True) -> list[str]:
    """Return the words of a text: what blanks part, or its characters."""
    return text.split() if spaced else [character for character in text if not character.isspace()]


def _join(words: Sequence[str] | None, *, spaced: bool) -> str | None:
    return None if words is None else (" " if spaced else "").join(words)


def _shuffled(words: Sequence[str], rng: random.Random) -> list[str] | None:
    if len(set(words)) < 2:
        return None
    moved = list(words)
    for _ in range(_DRAWS):
        rng.shuffle(moved)
        if moved != list(words):
            return moved
    return None


def _rotated(words: Sequence[str], rng: random.Random) -> list[str] | None:
    whole = list(words)
    turned = [whole[cut:] + whole[:cut] for cut in range(1, len(whole))]
    others = [each for each in turned if each != whole]
    return rng.choice(others) if others else None


def _longest_matches(text: str, dictionary: Dictionary) -> list[str]:
    words, start = [], 0
    while start < len(text):
        reach = range(min(dictionary.longest, len(text) - start), 0, -1)
        sizes = (size for size in reach if dictionary.find(text[start : start + size]) is not None)
        size = next(sizes, 1)
        words.append(text[start : start + size])
        start += size
    return [word for word in words if not word.isspace()]
