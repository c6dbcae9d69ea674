"""A source that is one HTML tag, as Pearmut writes recordings and pictures: its address alone.

Nothing else of the tag is kept, and nothing of it ever reaches a page.
"""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from annotation.uploads.media.markup import Start, read_markup

TAGS = ("audio", "video", "img")
BEGINS = re.compile(r"\s*<\s*(audio|video|img|iframe|script|object|embed|svg)\b", re.IGNORECASE)
ELSEWHERE = re.compile(r"\s*(([a-z][a-z0-9+.-]*):|//)", re.IGNORECASE)


class RefusedTagError(Exception):
    """A tag that is not taken; its text is the sentence that says why."""


@dataclass(frozen=True)
class Tag:
    """The file that a tag names, and what stands for a picture where it cannot be seen."""

    src: str
    alt: str = ""


def read_tag(source: str) -> Tag | None:
    """Return what the source is where it begins with such a tag; None where it is text.

    Raises RefusedTagError for one that runs something, fetches from elsewhere or is not alone.
    """
    if not BEGINS.match(source):
        return None
    parts = list(read_markup(source))
    tags = [part for part in parts if isinstance(part, Start)]
    for tag in tags:
        _refuse(tag.name, tag.attributes)
    if len(tags) != 1 or any(isinstance(part, str) and part.strip() for part in parts):
        raise RefusedTagError("one tag alone is expected, without text or others beside it")
    attributes = tags[0].attributes
    return Tag(_address(attributes.get("src", "")), attributes.get("alt", ""))


def _refuse(name: str, attributes: dict[str, str]) -> None:
    if name not in TAGS:
        raise RefusedTagError(f"“<{name}>” is not taken; there are <audio>, <video> and <img>")
    if handlers := sorted(each for each in attributes if each.startswith("on")):
        raise RefusedTagError(f"“{handlers[0]}” would run a script, and is not taken")


def _address(src: str) -> str:
    if not src.strip():
        raise RefusedTagError("the tag names no file in “src”")
    if found := ELSEWHERE.match(src):
        what = found[2].lower() + ":" if found[2] else "//"
        raise RefusedTagError(
            f"“{what}” is not taken: send the file itself, and name it in “src” by its path"
        )
    return unquote(src.partition("#")[0].partition("?")[0].strip())
