"""A term with its definition in place: a button that opens it over the page, without scripts."""

from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.glossary import TERMS

register = template.Library()
BUTTON = (
    '<button type="button" class="term" popovertarget="term-{0}" '
    'aria-label="What is {1}?"></button>'
)
# The first button of a page brings the definition along.
DEFINITION = (
    '<span id="term-{0}" class="definition" popover><strong>{1}</strong>{2} '
    '<a href="{3}#{0}">Glossary</a></span>'
)


@register.simple_tag(takes_context=True)
def term(context: dict[str, Any], key: str) -> SafeString:
    """A button that explains a term; nothing for what the glossary lacks, or in a printed page."""
    found, request = TERMS.get(key), context.get("request")
    if found is None or request is None:
        return SafeString("")
    button = format_html(BUTTON, found.key, found.label)
    told = request.__dict__.setdefault("terms", set())
    if key in told:
        return button
    told.add(key)
    return button + format_html(DEFINITION, found.key, found.label, found.text, reverse("glossary"))
