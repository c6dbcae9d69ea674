"""Read tags and texts of markup that need not be well formed: SGML test sets, tags in cells.

Reading takes time in proportion to the text, whatever it holds. `html.parser` does not promise
that (CVE-2025-6069): it starts over at every "<" that nothing closes.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

# A tag ends before the next "<", so each character is looked at once.
TOKEN = re.compile(r"<!--|<[!?][^<>]*>|<(?P<slash>/?)(?P<name>[A-Za-z][^\s<>/]*)(?P<rest>[^<>]*)>")
ATTRIBUTE = re.compile(
    r"""(?<![^\s"'/])(?P<name>[^\s"'=/]++)(?:\s*+=\s*+(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|"""
    r"""(?P<bare>[^\s"']+)))?"""
)
# An ampersand that begins no reference is a literal one.
LOOSE = re.compile(r"&(?!(?:[A-Za-z]\w*|#\d+|#[xX][0-9A-Fa-f]+);)")


@dataclass(frozen=True)
class Start:
    """An element begins; names in lower case. `line` counts from 1."""

    name: str
    attributes: dict[str, str]
    line: int


@dataclass(frozen=True)
class End:
    """An element ends."""

    name: str


def read_markup(text: str) -> Iterator[Start | End | str]:
    """Yield tags and the texts between them, entities decoded; what is not a tag is text.

    Comments, declarations and processing instructions are skipped.

    >>> [each if isinstance(each, str) else each.name for each in read_markup("<b>1 < 2 &amp;</b>")]
    ['b', '1 < 2 &', 'b']
    """
    line, position, last_comment = 1, 0, text.rfind("-->")
    for found in TOKEN.finditer(text):
        if found.start() < position:
            continue  # within a comment
        if between := text[position : found.start()]:
            yield _decoded(between)
        line += text.count("\n", position, found.start())
        position = found.end()
        if found[0] == "<!--":
            is_closed = found.end() <= last_comment
            position = text.index("-->", found.end()) + 3 if is_closed else len(text)
        elif found["name"]:
            yield from _tag(found, line)
        line += text.count("\n", found.start(), position)
    if rest := text[position:]:
        yield _decoded(rest)


def _tag(found: re.Match[str], line: int) -> Iterator[Start | End]:
    name = found["name"].lower()
    if not found["slash"]:
        attributes = {
            each["name"].lower(): html.unescape(
                each["double"] or each["single"] or each["bare"] or ""
            )
            for each in ATTRIBUTE.finditer(found["rest"])
        }
        yield Start(name, attributes, line)
    if found["slash"] or found["rest"].endswith("/"):
        yield End(name)


def _decoded(text: str) -> str:
    return html.unescape(LOOSE.sub("&amp;", text))
