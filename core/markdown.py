"""Render Markdown from campaign admins as safe HTML.

There are two safeguards: the parser rejects HTML, and the sanitiser passes only the elements below.
The highest headings are of level 3, below those of the page. Images are replaced by their
description, because pages load nothing from other hosts.
"""

import hashlib
from collections.abc import MutableMapping, Sequence
from functools import cache
from typing import Any

import nh3
from django.core.cache import cache as store
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

TAGS = frozenset(
    {"h3", "h4", "h5", "h6", "p", "br", "hr", "ul", "ol", "li", "blockquote", "em", "strong", "s"}
    | {"a", "code", "pre", "table", "thead", "tbody", "tr", "th", "td"}
)
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
SCHEMES = ("http://", "https://")
# Part of the cache key: raise it when the same text is to be rendered differently.
VERSION = 1
FIRST_HEADING, LAST_HEADING = 3, 6


def to_html(source: str) -> SafeString:
    """Render Markdown; the same text is rendered once and then read from the cache."""
    if not source.strip():
        return mark_safe("")
    key = f"markdown:{VERSION}:{hashlib.sha256(source.encode()).hexdigest()}"
    html: str | None = store.get(key)
    if html is None:
        html = _clean(_parser().render(source))
        store.set(key, html, timeout=None)
    # Cleaned by the sanitiser, on the way into the cache.
    return mark_safe(html)  # noqa: S308


def _clean(html: str) -> str:
    return nh3.clean(
        html,
        tags=set(TAGS),
        clean_content_tags={"script", "style"},
        attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
        attribute_filter=_attribute,
        url_schemes={"http", "https"},
        link_rel="noopener nofollow",
    )


def _attribute(tag: str, name: str, value: str) -> str | None:
    if name == "href" and not value.lower().startswith(SCHEMES):
        return None
    return value


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    parser.enable(["table", "strikethrough"])
    parser.add_render_rule("image", _image)
    for rule in ("heading_open", "heading_close"):
        parser.add_render_rule(rule, _heading)
    return parser


def _image(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    return escape(tokens[index].content)


def _heading(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: Any,
    env: MutableMapping[str, Any],
) -> str:
    highest = min(token.tag for token in tokens if token.type == "heading_open")
    level = min(LAST_HEADING, FIRST_HEADING + int(tokens[index].tag[1]) - int(highest[1]))
    return f"</h{level}>\n" if tokens[index].nesting < 0 else f"<h{level}>"
