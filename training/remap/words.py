"""Words of a text, as the published projections were fitted: BERT's basic tokens, cased.

Zhao et al. 2020 counted and aligned them: blanks and punctuation separate, and every Chinese
character is a word. Pure.
"""

import unicodedata
from collections.abc import Iterator

# The blocks of unified and compatibility ideographs that BERT's tokenizer takes apart.
IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def split(text: str) -> list[str]:
    """Return the words of a text; punctuation marks are words of their own."""
    return [word for part in text.split() for word in _split_part(part)]


def _split_part(part: str) -> Iterator[str]:
    word = ""
    for character in part:
        if not stands_alone(character):
            word += character
            continue
        if word:
            yield word
        yield character
        word = ""
    if word:
        yield word


def stands_alone(character: str) -> bool:
    """Return whether a character is a word: an ideograph, punctuation or an ASCII symbol."""
    code = ord(character)
    if any(first <= code <= last for first, last in IDEOGRAPHS):
        return True
    is_symbol = code < 128 and not character.isalnum()
    return is_symbol or unicodedata.category(character).startswith("P")
