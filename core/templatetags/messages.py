"""Messages and commands in templates; every template has these without loading them."""

from collections.abc import Iterable
from typing import Any

from django import template
from django.conf import settings
from django.core.exceptions import ValidationError

from core import messages
from metaeval.messages import Message, grouped

register = template.Library()
register.filter(grouped)


@register.simple_tag
def command(name: str) -> str:
    """Return how a command is given in this installation."""
    return f"{settings.COMMAND} {name}"


@register.filter
def translated(value: Any) -> Any:
    """Translate a message, an error of a form, or a list of them, to the page's language.

    Other values, such as names, are returned unchanged.
    """
    if isinstance(value, Message):
        return messages.translated(value)
    if isinstance(value, ValidationError):
        return " ".join(map(messages.translated, messages.messages_of(value)))
    return [translated(each) for each in value] if isinstance(value, list | tuple) else value


@register.filter
def sentences(value: Iterable[Message]) -> str:
    """Join messages in the language of the page."""
    return messages.sentences(value)
