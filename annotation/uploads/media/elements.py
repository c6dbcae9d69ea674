"""A source that is one HTML tag, as Pearmut writes recordings and pictures: its address alone.

Nothing else of the tag is kept, and nothing of it ever reaches a page.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from metaeval.messages import MessageError, message

# Read tags and texts of markup that need not be well formed: SGML test sets, tags in cells.
# Reading takes time in proportion to the text, whatever it holds. `html.parser` does not
# promise that (CVE-2025-6069): it starts over at every "<" that nothing closes.

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


TAGS = ("audio", "video", "img")
BEGINS = re.compile(r"\s*<\s*(audio|video|img|iframe|script|object|embed|svg)\b", re.IGNORECASE)
ELSEWHERE = re.compile(r"\s*(([a-z][a-z0-9+.-]*):|//)", re.IGNORECASE)


class RefusedTagError(MessageError):
    """A tag is not accepted."""


@dataclass(frozen=True)
class Tag:
    """The file that a tag names, and the text alternative of a picture."""

    src: str
    alt: str = ""


def read_tag(source: str) -> Tag | None:
    """Return the tag that a source consists of; None if the source is text.

    Raises RefusedTagError for a tag that runs something, fetches from elsewhere or is not alone.
    """
    if not BEGINS.match(source):
        return None
    parts = list(read_markup(source))
    tags = [part for part in parts if isinstance(part, Start)]
    for tag in tags:
        _refuse(tag.name, tag.attributes)
    if len(tags) != 1 or any(isinstance(part, str) and part.strip() for part in parts):
        raise RefusedTagError(
            message("media.one-tag", "Expected a single tag, without text or other tags.")
        )
    attributes = tags[0].attributes
    return Tag(_address(attributes.get("src", "")), attributes.get("alt", ""))


def _refuse(name: str, attributes: dict[str, str]) -> None:
    if name not in TAGS:
        raise RefusedTagError(
            message(
                "media.tag",
                "The tag “<{tag}>” is not accepted. Use <audio>, <video> or <img>.",
                tag=name,
            )
        )
    if handlers := sorted(each for each in attributes if each.startswith("on")):
        raise RefusedTagError(
            message(
                "media.script",
                "The attribute “{attribute}” would run a script and is not accepted.",
                attribute=handlers[0],
            )
        )


def _address(src: str) -> str:
    if not src.strip():
        raise RefusedTagError(message("media.no-src", "The tag names no file in “src”."))
    if found := ELSEWHERE.match(src):
        what = found[2].lower() + ":" if found[2] else "//"
        raise RefusedTagError(
            message(
                "media.elsewhere",
                "Addresses with “{scheme}” are not accepted. Send the file itself, and give its "
                "path in “src”.",
                scheme=what,
            )
        )
    return unquote(src.partition("#")[0].partition("?")[0].strip())
