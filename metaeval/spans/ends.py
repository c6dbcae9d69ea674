"""Infer from word boundaries whether the ends of spans include their last character."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class EndsAtWords:
    """How many of ``n`` spans end where a word ends, read either way."""

    n: int
    included: int
    excluded: int

    @property
    def are_included(self) -> bool | None:
        """Whether ends include the last character; None if the counts are too close."""
        if abs(self.included - self.excluded) * 10 < self.n:
            return None
        return self.included > self.excluded


def ends_at_words(ends: Iterable[tuple[str, int]]) -> EndsAtWords:
    """Count, over (text, end) as given, the ends at word boundaries under both readings.

    An end is at a boundary if no blank precedes it and no letter or digit follows it. Appraise
    stores the position of the last character, mt-metrics-eval the position after it.
    """
    n = included = excluded = 0
    for text, end in ends:
        n += 1
        included += _is_boundary(text, end + 1)
        excluded += _is_boundary(text, end)
    return EndsAtWords(n, included, excluded)


def _is_boundary(text: str, end: int) -> bool:
    if not 0 < end <= len(text):
        return False
    return not text[end - 1].isspace() and not text[end : end + 1].isalnum()
