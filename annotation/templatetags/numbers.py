"""Numbers as the field prints them: fixed decimals, a real minus sign, a dash for nothing."""

import math

from django import template

from core import text

register = template.Library()
register.filter("counted", text.pluralize)
NOTHING = "–"


@register.filter
def decimals(value: object, places: int = 3) -> str:
    """A number with a real minus sign; a dash for None and nan.

    >>> decimals(-0.12345), decimals(-0.0, 0), decimals(None)
    ('−0.123', '0', '–')
    """
    if not isinstance(value, (int, float)) or math.isnan(value):
        return NOTHING
    return f"{value:z.{places}f}".replace("-", "−")


@register.filter
def pvalue(value: object) -> str:
    """A p-value with three decimals, or `< .001`; a dash for None and nan."""
    if not isinstance(value, (int, float)) or math.isnan(value):
        return NOTHING
    return "< .001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
