"""Whether the ends of spans include their last character, as the words say."""

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
        """What the words say; None where it is too close to tell."""
        if abs(self.included - self.excluded) * 10 < self.n:
            return None
        return self.included > self.excluded


def ends_at_words(ends: Iterable[tuple[str, int]]) -> EndsAtWords:
    """Count, over (text, end) as given, the ends at word boundaries under both readings.

    An end is at a boundary where no blank comes before it and no letter or digit after it. Appraise
    stores the last character, mt-metrics-eval the place behind it.
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
