"""Map the offsets of files, whatever they count, to code points of their texts.

Offsets refer to the text as the file has it; `normalising.normalise` moves them with it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from annotation.uploads.normalising import normalise
from metaeval.messages import Message, message
from metaeval.spans.quotes import find_quote
from metaeval.spans.span_table import EndsAtWords, ends_at_words


@dataclass(frozen=True)
class Convention:
    """What the offsets of a file count: code points, the end excluded, unless it says otherwise.

    `in_units` counts UTF-16 code units, as browsers do. `uncounted` characters do not count, nor,
    with `is_stripped`, outer blanks. With `is_cut`, an end after the text is the end of the text;
    without it, only the next position is.
    """

    ends_included: bool = False
    in_units: bool = False
    uncounted: str = ""
    is_stripped: bool = False
    is_cut: bool = False

    def positions(self, text: str) -> Sequence[int]:
        """Return the code point of each unit that counts.

        >>> list(PEARMUT.positions("a\\n\\U0001f600b")), list(APPRAISE.positions("  ab "))
        ([0, 1, 2, 2, 3], [2, 3])
        """
        if not (self.in_units or self.uncounted or self.is_stripped):
            return range(len(text))
        return _positions(text, self.in_units, self.uncounted, self.is_stripped)

    def point(self, text: str, unit: int) -> int:
        """Return the code point of a unit; units after the text go on counting."""
        units = self.positions(text)
        if 0 <= unit < len(units):
            return units[unit]
        end = len(text.rstrip() if self.is_stripped else text)
        return end + unit - len(units)

    def place(self, text: str, start: int, end: int) -> tuple[int, int] | None:
        """Return [start, end) in code points; None where the text has nothing there.

        >>> APPRAISE.place("  a\\U0001f600b", 1, 2), APPRAISE.place("abc", 1, 3)
        ((3, 4), (1, 3))
        """
        units = self.positions(text)
        last = end if self.ends_included else max(start, end - 1)
        if not 0 <= start < len(units) or last < start:
            return None
        if last > len(units) and not self.is_cut:
            return None
        return units[start], units[min(last, len(units) - 1)] + 1

    def stored(self, text: str, start: int, end: int) -> tuple[int, int] | None:
        """Return [start, end) in the text as it is stored; None where the text has nothing there.

        >>> POINTS.stored("a\\r\\nbc", 3, 5)
        (2, 4)
        """
        at = self.place(text, start, end)
        if at is None:
            return None
        moved = normalise(text)
        first = moved.place(at[0])
        return first, max(first + 1, moved.place(at[1]))

    def count_ends(self, ends: Iterable[tuple[str, int]]) -> EndsAtWords:
        """Count ends of spans at ends of words under both readings; `ends` have their texts."""
        return ends_at_words((text, self.point(text, end)) for text, end in ends)


POINTS = Convention()
PEARMUT = Convention(ends_included=True, in_units=True, is_cut=True)
APPRAISE = Convention(ends_included=True, in_units=True, is_stripped=True)


def placed(of: Mapping[str, Any], start: Any, end: Any, words: Any) -> dict[str, Any]:
    """Return side and offsets of a mark: code points of the text in which it marks its words.

    `of` are the texts that it may be in, by side. Where no reading marks the words, or none are
    given, the offsets are returned as they are, in the first text; what are no offsets is left
    out beside words, for `only_place`.
    """
    values = {"side": next(iter(of)), "start": start, "end": end}
    if not isinstance(words, str) or not words:
        return values
    known = {side: text for side, text in of.items() if isinstance(text, str)}
    for side, text in known.items():
        if at := find(text, start, end, words):
            return {"side": side, "start": at[0], "end": at[1], "text": words}
    if type(start) is int and type(end) is int:
        return values | {"text": words}
    side = next((side for side, text in known.items() if words in text), values["side"])
    return {"side": side, "text": words}


def find(text: str, start: Any, end: Any, words: str) -> tuple[int, int] | None:
    """Return the code points at which a text has the words of a mark, by any way of counting.

    Browsers count UTF-16 units, and some programs include the end.
    """
    if type(start) is not int or type(end) is not int or start < 0:
        return None
    for in_units in (False, True):
        for ends_included in (False, True):
            at = Convention(ends_included, in_units).place(text, start, end)
            if at and at[1] - at[0] == len(words) and text[at[0] : at[1]] == words:
                return at
    return None


def only_place(text: str, words: str) -> tuple[int, int] | Message:
    """Return the only place of words that are given without offsets, or why there is none.

    >>> only_place("a b\\nc", "b c")
    (2, 5)
    """
    if not text:
        return message(
            "spans.words-of-unknown-text",
            "The error has no offsets, and the text with “{words}” is not in the files. Add the "
            "text, or the start and end of the error.",
            words=words[:40],
        )
    found = find_quote(text, words.strip())
    if len(found) == 1:
        return found[0]
    if found:
        return message(
            "spans.words-repeated",
            "The error has no offsets, and “{words}” occurs {n} times in the text. State its start "
            "and end.",
            words=words[:40],
            n=len(found),
        )
    return message(
        "spans.words-absent",
        "The error has no offsets, and the text does not contain “{words}”. State its start and "
        "end, or the side “source” if the source has it.",
        words=words[:40],
    )


def other_words(words: Any, marked: str) -> Message | None:
    """Return what is wrong where a file repeats other words than its offsets mark."""
    if not isinstance(words, str) or not words or words.split() == marked.split():
        return None
    return message(
        "judgments.span-marks-other-words",
        "The offsets mark “{marked}”, but the file gives the text “{words}”. Check whether the "
        "offsets belong to another text.",
        marked=marked[:40],
        words=words[:40],
    )


@lru_cache(maxsize=16)
def _positions(text: str, in_units: bool, uncounted: str, is_stripped: bool) -> Sequence[int]:
    counted = text.strip() if is_stripped else text
    first = text.find(counted) if counted else 0
    is_one_to_one = not in_units or text.isascii() or max(text) <= "\uffff"
    if is_one_to_one and not uncounted:
        return range(first, first + len(counted))
    return [
        place
        for place, sign in enumerate(counted, first)
        if sign not in uncounted
        for _ in range(1 + (in_units and sign > "\uffff"))
    ]
