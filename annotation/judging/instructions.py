"""Instructions and consent of a campaign, in the reader's language if they are translated.

The campaign has both in its own, undeclared language; `Instructions` rows have translations into
languages of the interface.
"""

import hashlib
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import nh3
from django.contrib.auth.models import User
from django.core.cache import cache as store
from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from annotation.models import AuditEntry, Campaign, Instructions
from core.languages import direction

# Render Markdown from campaign admins as safe HTML. There are two safeguards: the parser
# rejects HTML, and the sanitiser passes only the elements below. The highest headings are of
# level 3, below those of the page. Images are replaced by their description, because pages load
# nothing from other hosts.

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


# The texts of the campaign itself, beside the codes of languages.
OWN = ""


@dataclass(frozen=True)
class Prose:
    """A rendered text with its language and direction.

    The campaign's own text is in an undeclared language: `lang` is empty, which HTML reads as
    unknown, and `dir` follows from the first letter.
    """

    html: SafeString
    language: str
    direction: str

    def __str__(self) -> str:
        return self.html

    def __bool__(self) -> bool:
        return bool(self.html)


def prose(own: str, translated: str | None, language: str) -> Prose:
    """Render the translation if there is one, and the campaign's own text otherwise."""
    if translated and translated.strip():
        return Prose(to_html(translated), language, direction(language))
    return Prose(to_html(own), OWN, "auto")


def active() -> str:
    """Return the code of the active language."""
    return get_language() or "en"


def translation_of(campaign: str, field: str) -> Subquery:
    """Return a subquery of the text in the active language, or None.

    `campaign` is the path to the campaign's key in the query around it.
    """
    rows = Instructions.objects.filter(campaign=OuterRef(campaign), language=active())
    return Subquery(rows.values(field)[:1])


def read(campaign: Campaign, field: str) -> Prose:
    """Return `instructions` or `consent` as the reader should see it (one query)."""
    rows = Instructions.objects.filter(campaign=campaign, language=active())
    translated = rows.values_list(field, flat=True).first()
    return prose(getattr(campaign, field), translated, active())


@transaction.atomic
def save(
    *, campaign: Campaign, actor: User, language: str, instructions: str, consent: str
) -> None:
    """Store the texts in one language, or the campaign's own."""
    texts = {"instructions": instructions, "consent": consent}
    if language == OWN:
        Campaign.objects.filter(pk=campaign.pk).update(**texts)
    else:
        Instructions.objects.update_or_create(campaign=campaign, language=language, defaults=texts)
    _audit(campaign, actor, "texts saved", language)


@transaction.atomic
def delete(*, campaign: Campaign, actor: User, language: str) -> bool:
    """Remove the texts in one language, so that the campaign's own are shown instead."""
    deleted, _ = Instructions.objects.filter(campaign=campaign, language=language).delete()
    if deleted:
        _audit(campaign, actor, "texts deleted", language)
    return bool(deleted)


def _audit(campaign: Campaign, actor: User, action: str, language: str) -> None:
    AuditEntry.objects.create(
        campaign=campaign, actor=actor, action=action, details={"language": language}
    )
