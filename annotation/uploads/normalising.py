"""Normalise texts for storage, and map offsets from the text of the file.

The only change is that of line endings: CRLF and CR become LF. Whatever marks parts of texts goes
through the same function, so that texts and offsets move together.

HTML entities that were never decoded, such as `&quot;`, stay unless somebody asks: a test set
of software texts may mean them. Scraped texts hold them, also twice encoded (`&amp;quot;`).
"""

import html
import re
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
    if "\r" not in text:
        return Normalised(text)
    pairs = enumerate(pairwise(text))
    return Normalised(
        text.replace("\r\n", "\n").replace("\r", "\n"),
        tuple(place for place, pair in pairs if pair == ("\r", "\n")),
    )


ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
# `&amp;amp;quot;` was encoded three times; more is no accident of a conversion.
ROUNDS = 3


def first_entity(text: str) -> str:
    """Return the first entity of a text, or nothing.

    >>> first_entity("AT&T says &quot;no&quot;; fine"), first_entity("A&B; C")
    ('&quot;', '')
    """
    if "&" not in text:
        return ""
    return next((m[0] for m in ENTITY.finditer(text) if _character(m) != m[0]), "")


def decode(text: str) -> str:
    """Return the text with its entities as characters, also where they were encoded twice.

    >>> decode("&amp;quot;AT&T&amp;quot; &#39;s")
    '"AT&T" \\'s'
    """
    for _ in range(ROUNDS):
        if "&" not in text or (decoded := ENTITY.sub(_character, text)) == text:
            break
        text = decoded
    return text


def _character(found: re.Match[str]) -> str:
    """Return the character of an entity; the entity itself if no text may contain that."""
    character = html.unescape(found[0])
    is_usable = character not in ("", "\ufffd") and not re.search(r"[\x00-\x1f\x7f]", character)
    return character if is_usable else found[0]
