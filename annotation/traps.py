"""Traps: complete targets cut to the required length, which only a reader recognises."""

import math
from decimal import Decimal

from annotation.languages import is_character_based


def cut_text(text: str, ratio: Decimal, language: str) -> str | None:
    """Keep the leading `ratio` of a text: words, or characters in Chinese and Japanese.

    The number kept is `ratio` times the number there are, rounded half up, at least 1 and always
    fewer than all. Returns None for a text too short to be cut.

    Source: Cheng et al. 2023, section 4 (truncation that keeps only the leading words).
    """
    if is_character_based(language):
        return _cut_characters(text, ratio)
    words = text.split()
    keep = _number_kept(len(words), ratio)
    return " ".join(words[:keep]) if keep else None


def _cut_characters(text: str, ratio: Decimal) -> str | None:
    """Blanks do not count as characters, and none is left at the end."""
    ends = [index + 1 for index, character in enumerate(text) if not character.isspace()]
    keep = _number_kept(len(ends), ratio)
    return text[: ends[keep - 1]].lstrip() if keep else None


def _number_kept(total: int, ratio: Decimal) -> int:
    """0 means that the text cannot be cut."""
    if total < 2:
        return 0
    return min(max(1, math.floor(total * ratio + Decimal("0.5"))), total - 1)
