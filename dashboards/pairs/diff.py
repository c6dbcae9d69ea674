"""Find the words (or characters, where a script has no spaces) in which two texts differ."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

# Scripts written without spaces: each of their characters is one unit.
UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", "YI ")
JOINERS = "\u200c\u200d"
# Characters within a word, as in “don’t” and “e-mail”.
INNER = "'’-"


@dataclass(frozen=True)
class Piece:
    """A piece of a text; `is_other` where the other text does not have it."""

    text: str
    is_other: bool


def difference(first: str, second: str) -> tuple[list[Piece], list[Piece]]:
    """Return both texts in pieces; joined, the pieces are the texts."""
    left, right = list(units(first)), list(units(second))
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    ours, theirs = [], []
    for tag, i, j, k, m in matcher.get_opcodes():
        ours.append(Piece("".join(left[i:j]), tag != "equal"))
        theirs.append(Piece("".join(right[k:m]), tag != "equal"))
    return _without_empty(ours), _without_empty(theirs)


def _without_empty(pieces: Sequence[Piece]) -> list[Piece]:
    return [piece for piece in pieces if piece.text]


def units(text: str) -> Iterator[str]:
    """Yield words, characters of scripts without spaces, and single signs and spaces.

    A combining mark stays with its character.
    """
    word = ""
    for cluster in clusters(text):
        joins = _is_letter(cluster[0]) or (bool(word) and cluster in INNER)
        if joins:
            word += cluster
            continue
        if word:
            yield word
        word = ""
        yield cluster
    if word:
        yield word


def clusters(text: str) -> Iterator[str]:
    """Yield characters with their combining marks."""
    found = ""
    for character in text:
        is_mark = unicodedata.category(character).startswith("M") or character in JOINERS
        if found and not (is_mark or found[-1] == JOINERS[1]):
            yield found
            found = ""
        found += character
    if found:
        yield found


@lru_cache(maxsize=4096)
def _is_letter(character: str) -> bool:
    """Return whether a character is a letter or digit of a script with spaces."""
    if unicodedata.category(character)[0] not in "LN":
        return False
    return not unicodedata.name(character, "").startswith(UNSPACED)
