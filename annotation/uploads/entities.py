"""HTML entities that were never decoded, such as `&quot;`: decoded only when asked for.

Scraped texts and outputs of web services hold them, also twice encoded (`&amp;quot;`). A test set
of software texts may mean them, so that nothing is decoded by itself.
"""

import html
import re

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
    """An entity that names no character, or one that no text may hold, stays as it is."""
    character = html.unescape(found[0])
    is_usable = character not in ("", "\ufffd") and not re.search(r"[\x00-\x1f\x7f]", character)
    return character if is_usable else found[0]
