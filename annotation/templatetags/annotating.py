"""What the annotators' pages need besides their data."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from django import template
from django.template.base import FilterExpression, Parser, Token
from django.utils.functional import Promise
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotation import protocols
from annotation.access import pseudonym
from annotation.protocols import Span, SpanScheme
from annotation.protocols.base import TARGET, Anchor, Category

register = template.Library()
# By key: marks the selected text with this severity. Upper case is with Shift.
TOKENS = {"[missing]": gettext_noop("Something is missing")}
MARK_KEYS = {"minor": "m", "major": "M", "neutral": "n"}


@register.simple_tag(takes_context=True)
def person(context: template.Context) -> str:
    """Return a meaningless name of the user, which answers waiting in a browser carry."""
    return pseudonym(context["request"].user)


class Alike(template.Node):
    """A part of a page, drawn once for equal values: a response is in one language."""

    def __init__(self, values: list[FilterExpression], parts: template.NodeList) -> None:
        self.values, self.parts = values, parts

    def render(self, context: template.Context) -> SafeString:
        """Draw it, or give what was drawn before for these values."""
        known = context["request"].__dict__.setdefault("drawn_alike", {})
        values = [value.resolve(context, ignore_failures=True) for value in self.values]
        key = (self, *values)
        if key not in known:
            known[key] = self.parts.render(context)
        drawn: SafeString = known[key]
        return drawn


@register.tag
def alike(parser: Parser, token: Token) -> Alike:
    """Render a part that depends only on these values once: `{% alike value … %}…{% endalike %}`.

    Twenty screens that are fetched ahead differ in their texts; their scales, marks and buttons
    are two thirds of the drawing.
    """
    values = [parser.compile_filter(bit) for bit in token.split_contents()[1:]]
    parts = parser.parse(("endalike",))
    parser.delete_first_token()
    return Alike(values, parts)


@register.filter
def exact(content: str) -> SafeString:
    """Escape a text so that the browser has every character of it.

    A parser of HTML turns a bare carriage return into a line feed, or swallows it: offsets of
    error spans would then differ from those in the database.
    """
    return mark_safe(escape(content).replace("\r", "&#13;"))  # noqa: S308 - escaped first


@register.filter
def duration(milliseconds: int) -> str:
    """Return a duration as `1 h 12 min`; less than a minute is `0 min`."""
    hours, minutes = divmod(milliseconds // 60_000, 60)
    if hours:
        return _("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": minutes}
    return _("%(minutes)d min") % {"minutes": minutes}


@register.filter
def mark_key(severity: str, place: int = -1) -> str:
    """Return the key that marks an error of a severity; own severities go by position."""
    return MARK_KEYS.get(severity) or dict(enumerate(MARK_KEYS.values())).get(place, "")


@register.filter
def levels(scheme: SpanScheme) -> str:
    """Return how errors of each severity are drawn, as JSON."""
    return json.dumps({each.key: scheme.level(each.key) for each in scheme.severities})


@register.filter
def token_label(token: str) -> str:
    """Return the label of a special token's button; a campaign's own tokens are their labels."""
    return _(TOKENS[token]) if token in TOKENS else token


@register.filter
def labels(anchors: Sequence[Anchor], high: int) -> str:
    """Return the labels of scores as JSON: each mark, its words, and its first score.

    A score has the words of the nearest mark. Where the last mark is not the end of the scale,
    each begins a range, such as 45 to 64 of contrastive ESA.
    """
    lows = [anchor.low for anchor in anchors]
    is_point = bool(lows) and lows[-1] == high
    starts = [(low + lows[n - 1]) / 2 if is_point and n else low for n, low in enumerate(lows)]
    words = [str(anchor.label) for anchor in anchors]
    return json.dumps(list(zip(lows, words, starts, strict=True)))


@register.filter
def taxonomy(categories: Iterable[Category]) -> str:
    """Return a tree of categories as JSON: key, words, subcategories."""
    return json.dumps(_nodes(categories))


def _nodes(categories: Iterable[Category]) -> list[Any]:
    return [(each.key, str(each.label), _nodes(each.children)) for each in categories]


@register.filter
def protocol_label(name: str) -> str | Promise:
    """Return the label of a protocol."""
    return protocols.get(name).label


@register.filter
def weights(scheme: SpanScheme) -> str:
    """Return penalties that differ from their severity's, as JSON by category and severity."""
    found: dict[str, dict[str, Any]] = {}
    for category in sorted(scheme.category_keys):
        for severity in scheme.severities:
            weight = scheme.weight(Span(TARGET, 0, 1, severity.key, category))
            if weight != severity.weight:
                found.setdefault(category, {})[severity.key] = weight
    return json.dumps(found)
