"""A source that is one HTML tag, as Pearmut writes recordings and pictures: its address alone.

Nothing else of the tag is kept, and nothing of it ever reaches a page.
"""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from annotation.uploads.media.markup import Start, read_markup
from metaeval.messages import MessageError, message

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
