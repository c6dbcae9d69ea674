"""In which script texts are written, told from the names that Unicode gives to letters."""

import itertools
import unicodedata
from collections import Counter
from collections.abc import Iterable

from annotation import languages

# Enough to tell one script from another.
TEXTS, LETTERS = 100, 100
HAN = ("CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO")
# How the names of a script's letters begin, by its ISO code; other scripts are not told.
BEGINNINGS: dict[str, tuple[str, ...]] = {
    "Latn": ("LATIN",), "Cyrl": ("CYRILLIC",), "Grek": ("GREEK",), "Arab": ("ARABIC",),
    "Hebr": ("HEBREW",), "Deva": ("DEVANAGARI",), "Thai": ("THAI",), "Hang": ("HANGUL",),
    "Kore": ("HANGUL", "CJK"), "Hani": HAN, "Hans": HAN, "Hant": HAN, "Jpan": HAN,
    "Beng": ("BENGALI",), "Taml": ("TAMIL",), "Geor": ("GEORGIAN",), "Armn": ("ARMENIAN",),
    "Ethi": ("ETHIOPIC",),
}  # fmt: skip


def is_written_as(texts: Iterable[str], language: str, other: str) -> bool:
    """Whether most letters are those of `language` and few those of `other`.

    False where the two share letters, where a script is not known here, and without letters.

    >>> is_written_as(["Поезд", "BMW"], "ru", "en"), is_written_as(["Zug"], "de", "en")
    (True, False)
    """
    mine = BEGINNINGS.get(languages.script(language), ())
    others = BEGINNINGS.get(languages.script(other), ())
    counts = _beginnings(texts)
    if not (mine and others) or set(mine) & set(others):
        return False
    total = counts.total()
    return sum(counts[b] for b in mine) > 2 * total / 3


def _beginnings(texts: Iterable[str]) -> Counter[str]:
    letters = (
        letter
        for text in itertools.islice(texts, TEXTS)
        for letter in itertools.islice(filter(str.isalpha, text), LETTERS)
    )
    return Counter(unicodedata.name(letter, "").split(" ")[0].split("-")[0] for letter in letters)
