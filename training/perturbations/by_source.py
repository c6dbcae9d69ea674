"""Put texts into the order of their source: move words by an alignment, or translate each word.

Functions return None if nothing changes. Positions in files count words as :func:`split` does:
separated by spaces, or characters in scripts without spaces (``spaced`` False).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Alignment = Sequence[tuple[int, int]]


class LinkError(ValueError):
    """A link to a position that a text of `n_words` words does not have."""

    def __init__(self, source: int, target: int, n_words: int) -> None:
        super().__init__(f"{source}-{target}")
        self.n_words = n_words


_WORD_OR_MARK = re.compile(r"\w+(?:['’\-]\w+)*|[^\w\s]")


@dataclass(frozen=True)
class Dictionary:
    """Translations of words, the first of each; ``longest`` is the length of the longest word."""

    entries: Mapping[str, str]
    longest: int

    def find(self, word: str) -> str | None:
        """Return the translation of a word as written, else in lower case."""
        return self.entries.get(word, self.entries.get(word.lower()))


def source_order(text: str, alignment: Alignment, *, spaced: bool = True) -> str | None:
    """Put words in the order of the source words that they are aligned with.

    ``alignment`` has (source, target) positions from 0, over the words of ``text``. A word is
    sorted by the mean position of its source words; an unaligned one stays after the word before.
    Raises LinkError for a link to a position that the text does not have.
    """
    words = split(text, spaced=spaced)
    places: list[list[int]] = [[] for _ in words]
    for source, target in alignment:
        if not 0 <= target < len(words):
            raise LinkError(source, target, len(words))
        places[target].append(source)
    keys, last = [], -1.0
    for aligned in places:
        last = sum(aligned) / len(aligned) if aligned else last
        keys.append(last)
    ordered = [words[index] for index in sorted(range(len(words)), key=keys.__getitem__)]
    return None if ordered == words else (" " if spaced else "").join(ordered)


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
    text = (" " if target_spaced else "").join(parts)
    return re.sub(r" (?=[^\w\s])", "", text), min(1.0, n_known / max(n_words, 1))


def split(text: str, *, spaced: bool = True) -> list[str]:
    """Return the words of a text: what blanks part, or its characters."""
    return text.split() if spaced else [character for character in text if not character.isspace()]


def _longest_matches(text: str, dictionary: Dictionary) -> list[str]:
    words, start = [], 0
    while start < len(text):
        reach = range(min(dictionary.longest, len(text) - start), 0, -1)
        sizes = (size for size in reach if dictionary.find(text[start : start + size]) is not None)
        size = next(sizes, 1)
        words.append(text[start : start + size])
        start += size
    return [word for word in words if not word.isspace()]
