"""What Python says in English, in the language of the page."""

import re
from datetime import datetime
from typing import Any

from django import template
from django.template.defaultfilters import date
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from annotation.web import sentences

register = template.Library()

MOMENT = re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b")


@register.filter(is_safe=True)
def said(value: Any) -> Any:
    """Translate a text, or each text of a list; nothing else is changed."""
    if isinstance(value, (list, tuple)):
        return [said(each) for each in value]
    if value is None or isinstance(value, (int, float)):
        return value
    told = sentences.said(str(value))
    # Markup that was safe is so with its words in another language: catalogues are ours.
    return mark_safe(told) if isinstance(value, SafeString) else told  # noqa: S308


@register.filter
def choice(widget: dict[str, Any]) -> Any:
    """The label of a choice in a form; that of a stored row is a name and stays as it is."""
    is_row = hasattr(widget["value"], "instance")
    return widget["label"] if is_row else said(widget["label"])


@register.filter(is_safe=True)
def dated(text: str) -> str:
    """A sentence that files have too, with its moments as pages write them."""
    return MOMENT.sub(_moment, text)


def _moment(match: re.Match[str]) -> str:
    return date(datetime.fromisoformat(match[0]), gettext("j M Y, H:i"))
