"""Values of a job on pages."""

from django import template
from django.utils.translation import gettext as _

from core.messages import sentences, translated
from metaeval.messages import Message

register = template.Library()


@register.filter
def figure(value: object) -> str:
    """Format a value: numbers with four digits or thousands separators, yes or no, – for none."""
    if value is None or value == "":
        return "–"
    if isinstance(value, Message):
        return translated(value)
    if isinstance(value, list):
        messages = [each for each in value if isinstance(each, Message)]
        return sentences(messages) if messages else ", ".join(map(figure, value))
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, int):
        return f"{value:,}"
    if not isinstance(value, float):
        return str(value)
    written = f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"
    return written.replace("-", "−")
