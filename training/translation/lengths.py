"""Count lengths of texts and compute target lengths. Imports neither Django nor torch."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise

from metaeval.messages import message

PIECES, WORDS, CHARACTERS, SYLLABLES = "pieces", "words", "characters", "syllables"
UNITS = {
    PIECES: message("unit.pieces", "pieces"),
    WORDS: message("unit.words", "words"),
    CHARACTERS: message("unit.characters", "characters"),
    SYLLABLES: message("unit.syllables", "syllables"),
}
# Han characters, kana and Hangul: one syllable each.
_SYLLABIC = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_LETTERS = re.compile(r"[^\W\d_]+")
VOWELS = frozenset("aeiouyаеёиоуыэюяіїєαεηιουωæœø")
Count = Callable[[str], int]


def wanted(share: float, length: float) -> int:
    """Return the target length for a share of a length: rounded half to even, at least 1.

    The rule of Schumann et al.'s program; Cheng et al. (2023) do not state theirs.
    """
    return max(1, round(share * length))


def remaining(length: int, cap: int | None = None) -> list[int]:
    """Return the remaining steps at each position of the decoder, at most `cap`.

    They fall from length + 1 at the start token to 1 where the end is predicted (Niehues 2020).
    """
    steps = range(length + 1, 0, -1)
    return [step if cap is None else min(step, cap) for step in steps]


def counter(unit: str) -> Count:
    """Return what counts a text in words, characters or syllables; blanks are no characters."""
    return {WORDS: count_words, CHARACTERS: count_characters, SYLLABLES: count_syllables}[unit]


def count_words(text: str) -> int:
    """Count what stands between blanks."""
    return len(text.split())


def count_characters(text: str) -> int:
    """Count characters; blanks are none."""
    return sum(not sign.isspace() for sign in text)


def count_syllables(text: str) -> int:
    """Count syllables about as a dictionary would: groups of vowels, at least one a word.

    A written Han character, kana or Hangul syllable is one. An English final e is silent, but for
    -le after a consonant; other languages that write silent vowels are counted too high.
    """
    n_written = len(_SYLLABIC.findall(text))
    rest = _SYLLABIC.sub(" ", text)
    return n_written + sum(map(_of_word, _LETTERS.findall(rest)))


def _of_word(word: str) -> int:
    letters = _plain(word)
    is_vowel = [letter in VOWELS for letter in letters]
    n_groups = sum(is_vowel[:1]) + sum(b and not a for a, b in pairwise(is_vowel))
    is_silent = letters.endswith("e") and len(letters) > 2 and not is_vowel[-2]
    if is_silent and not _is_le(is_vowel, letters):
        n_groups -= 1
    return max(1, n_groups)


def _is_le(is_vowel: Sequence[bool], letters: str) -> bool:
    return letters.endswith("le") and not is_vowel[-3]


def _plain(word: str) -> str:
    """Lower case without accents."""
    split = unicodedata.normalize("NFD", word.lower())
    return "".join(sign for sign in split if not unicodedata.combining(sign))
