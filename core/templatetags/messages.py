"""Messages and commands in templates; every template has these without loading them."""

from django import template
from django.conf import settings

from core.messages import sentences, shown
from metaeval.messages import grouped

register = template.Library()
register.filter(grouped)
register.filter("translated", shown)
register.filter(sentences)


@register.simple_tag
def command(name: str) -> str:
    """Return how a command is given in this installation."""
    return f"{settings.COMMAND} {name}"
