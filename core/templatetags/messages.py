"""Messages in templates; every template has these filters without loading them."""

from collections.abc import Iterable
from typing import Any

from django import template
from django.core.exceptions import ValidationError

from core import messages
from metaeval.messages import Message, grouped

register = template.Library()
register.filter(grouped)


@register.filter
def translated(value: Any) -> Any:
    """A message, an error of a form, or each of a list, in the language of the page.

    Everything else, such as a name, is as it is.
    """
    if isinstance(value, Message):
        return messages.translated(value)
    if isinstance(value, ValidationError):
        return " ".join(map(messages.translated, messages.messages_of(value)))
    return [translated(each) for each in value] if isinstance(value, list | tuple) else value


@register.filter
def sentences(value: Iterable[Message]) -> str:
    """Messages one behind the other."""
    return messages.sentences(value)
