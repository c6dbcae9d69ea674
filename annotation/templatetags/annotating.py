"""What the annotators' pages need besides their data."""

import json
from typing import Any

from django import template
from django.utils.crypto import salted_hmac
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotation.protocols import Protocol, Span, SpanScheme
from annotation.protocols.base import TARGET

register = template.Library()
# By key: marks the selected text with this severity. Upper case is with Shift.
TOKENS = {"[missing]": gettext_noop("Something is missing")}
MARK_KEYS = {"minor": "m", "major": "M", "neutral": "n"}


@register.simple_tag(takes_context=True)
def person(context: template.Context) -> str:
    """A name for the signed-in person that tells nothing; answers waiting in a browser carry it."""
    user = context["request"].user
    return salted_hmac("annotation.person", str(user.pk)).hexdigest()[:40]


@register.filter
def exact(content: str) -> SafeString:
    """Escape a text so that the browser has every character of it.

    A parser of HTML turns a bare carriage return into a line feed, or swallows it: offsets of
    error spans would then differ from those in the database.
    """
    return mark_safe(escape(content).replace("\r", "&#13;"))  # noqa: S308 - escaped first


@register.filter
def duration(milliseconds: int) -> str:
    """`1 h 12 min`; less than a minute is `0 min`."""
    hours, minutes = divmod(milliseconds // 60_000, 60)
    if hours:
        return _("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": minutes}
    return _("%(minutes)d min") % {"minutes": minutes}


@register.filter
def mark_key(severity: str) -> str:
    """The key that marks an error of this severity, if there is one."""
    return MARK_KEYS.get(severity, "")


@register.filter
def token_label(token: str) -> str:
    """What stands on the button of a special token; a campaign's own ones are shown as they are."""
    return _(TOKENS[token]) if token in TOKENS else token


@register.filter
def anchors(protocol: Protocol) -> str:
    """JSON of what scores mean: the lowest score and its words, from the lowest."""
    return json.dumps([(anchor.low, str(anchor.label)) for anchor in protocol.anchors])


@register.filter
def weights(scheme: SpanScheme) -> str:
    """JSON of the penalties that differ from the severity's own: category, severity, penalty."""
    found: dict[str, dict[str, Any]] = {}
    for category in sorted(scheme.category_keys):
        for severity in scheme.severities:
            weight = scheme.weight(Span(TARGET, 0, 1, severity.key, category))
            if weight != severity.weight:
                found.setdefault(category, {})[severity.key] = weight
    return json.dumps(found)
