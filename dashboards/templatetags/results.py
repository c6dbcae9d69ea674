"""Draw the marks of the first page's figures."""

from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe

from core.numbers import NOTHING
from dashboards.charts.dots import Axis, Dot

register = template.Library()


@register.filter
def named(row: object, name: str) -> object:
    """An attribute of a row, for columns that differ between pages."""
    return getattr(row, name)


@register.filter
def brief_name(label: str) -> str:
    """A metric's label, shortened for figures."""
    return label.replace("(characters)", "(chars)")


@register.simple_tag
def dot(mark: Dot, axis: Axis | None) -> SafeString:
    """One mark with its interval on its axis; a page has a hundred of them."""
    grid = [
        f'<line class="grid" x1="{t.x}%" x2="{t.x}%" y2="100%"/>'
        for t in (axis.ticks if axis else ())
    ]
    line, circle, value = "", "", _text(mark, "val", mark.text or NOTHING)
    if mark.low is not None:
        line = f'<line class="ci" x1="{mark.low}%" x2="{mark.high}%" y1="50%" y2="50%"/>'
    if mark.x is not None:
        circle = f'<circle cx="{mark.x}%" cy="50%" r="4"/>'
    ends = _text(mark, "ends", mark.ends) if mark.ends else ""
    spoken = ", ".join(filter(None, (mark.text or "undefined", mark.ends)))
    # Numbers alone, from `dashboards.charts.dots`.
    return mark_safe(  # noqa: S308
        f'<svg class="dot" aria-hidden="true">{"".join(grid)}{line}{circle}{value}{ends}</svg>'
        f'<span class="visually-hidden">{spoken}</span>'
    )


def _text(mark: Dot, name: str, text: str) -> str:
    return f'<text class="{name}" x="{mark.after}%" dx="7" y="50%" dy="4">{text}</text>'


@register.inclusion_tag("dashboards/_ticks.html")
def ticks(axis: Axis) -> dict[str, Any]:
    """The numbers under a panel."""
    return {"axis": axis}
