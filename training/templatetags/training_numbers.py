"""Values of a job as people read them."""

from django import template

register = template.Library()


@register.filter
def figure(value: object) -> str:
    """Write a value: numbers with four figures or thousands apart, yes and no, a dash for none."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
