"""Choose false errors to plant and known errors to withhold, in adjudicated text."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from annotation.protocols import Span
from annotation.protocols.base import TARGET
from core.languages import is_character_based

_WORD = re.compile(r"\w+(?:['’-]\w+)*", re.UNICODE)
_SIGN = re.compile(r"\w", re.UNICODE)
# How many real errors are drawn before a text counts as too full for a planted one.
TRIES = 30


def false_error(
    text: str,
    taken: Sequence[Span],
    real: Sequence[Span],
    language: str,
    *,
    rng: random.Random,
) -> Span | None:
    """Return a false error: over whole words of a text, apart from all that is `taken`.

    Its length and severity are those of a real suggestion drawn at random, its length as nearly as
    words allow. None where no such place is left.
    """
    words = [match.span() for match in (_pattern(language)).finditer(text)]
    errors = [span for span in real if span.side == TARGET]
    if not words or not errors:
        return None
    for _ in range(TRIES):
        model = rng.choice(errors)
        wanted = model.end - model.start
        for first in rng.sample(range(len(words)), len(words)):
            start = words[first][0]
            end = min((last for _, last in words[first:]), key=lambda e: abs(e - start - wanted))
            place = replace(model, start=start, end=end)
            if _is_close(end - start, wanted) and not any(touches(place, own) for own in taken):
                return place
    return None


def _pattern(language: str) -> re.Pattern[str]:
    return _SIGN if is_character_based(language) else _WORD


def _is_close(length: int, wanted: int) -> bool:
    return abs(length - wanted) <= max(2, wanted // 2)


def touches(one: Span, other: Span) -> bool:
    """Return whether two spans overlap or are adjacent."""
    return one.side == other.side and one.start <= other.end and other.start <= one.end


def overlaps(one: Span, other: Span) -> bool:
    """Return whether two spans have a character in common."""
    return one.side == other.side and one.start < other.end and other.start < one.end


def known_error(
    gold: Sequence[Span], suggested: Sequence[Span], *, rng: random.Random
) -> tuple[Span, list[int]] | None:
    """Return a true error that was suggested, and the suggestions that stand for it."""
    found = [
        (error, own)
        for error in gold
        if (own := [n for n, each in enumerate(suggested) if overlaps(error, each)])
    ]
    return rng.choice(found) if found else None
