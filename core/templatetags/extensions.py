"""What extensions add to pages of the core."""

from django import template
from django.utils.safestring import SafeString, mark_safe

from core import extensions

register = template.Library()


@register.simple_tag(takes_context=True)
def fragments(context: template.Context, place: str) -> SafeString:
    """Render what extensions add at a place, with all that the page knows."""
    names = [each.fragments[place] for each in extensions.installed() if place in each.fragments]
    engine = template.Engine.get_default()
    found = [engine.get_template(name).render(context) for name in names]
    return mark_safe("".join(found))  # noqa: S308  rendered by templates, which escape
