"""Texts as they are stored, and where offsets counted in the text of a file lie in them.

The only change is that of line ends: CRLF becomes LF. Whatever marks parts of texts goes through
the same function, so that texts and offsets move together.
"""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Normalised:
    """A text as it is stored; `removed` are the places in the file's text that it lacks."""

    text: str
    removed: tuple[int, ...] = ()

    def place(self, offset: int) -> int:
        """Return where an offset into the text of the file lies in this text.

        >>> normalise("a\\r\\nb").place(3), normalise("a\\r\\nb").place(4)
        (2, 3)
        """
        return offset - bisect_right(self.removed, offset - 1)


def normalise(text: str) -> Normalised:
    """Return a text of a file as it is stored."""
    if "\r\n" not in text:
        return Normalised(text)
    pairs = enumerate(pairwise(text))
    return Normalised(
        text.replace("\r\n", "\n"), tuple(place for place, pair in pairs if pair == ("\r", "\n"))
    )
