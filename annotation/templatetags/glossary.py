"""A term with its definition in place: a button that opens it over the page, without scripts."""

from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.glossary import TERMS
from annotation.web.sentences import said

register = template.Library()
BUTTON = '<button type="button" class="term" popovertarget="term-{0}" aria-label="{1}"></button>'
# The first button of a page brings the definition along.
DEFINITION = (
    '<span id="term-{0}" class="definition" popover><strong>{1}</strong>{2} '
    '<a href="{3}#{0}">{4}</a></span>'
)


@register.simple_tag(takes_context=True)
def term(context: dict[str, Any], key: str) -> SafeString:
    """A button that explains a term; nothing for what the glossary lacks, or in a printed page."""
    found, request = TERMS.get(key), context.get("request")
    if found is None or request is None:
        return SafeString("")
    label = said(found.label)
    button = format_html(BUTTON, found.key, said(f"What is {label}?"))
    told = request.__dict__.setdefault("terms", set())
    if key in told:
        return button
    told.add(key)
    about, more = said(found.text), said("Glossary")
    return button + format_html(DEFINITION, found.key, label, about, reverse("glossary"), more)
