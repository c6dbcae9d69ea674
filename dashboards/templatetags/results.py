"""The marks of the first page's figures."""

from typing import Any

from django import template

from dashboards.charts.dots import Axis, Dot

register = template.Library()


@register.filter
def named(row: object, name: str) -> object:
    """An attribute of a row, for columns that differ from page to page."""
    return getattr(row, name)


@register.filter
def brief_name(label: str) -> str:
    """A metric's label as figures have room for it."""
    return label.replace("(characters)", "(chars)")


@register.inclusion_tag("dashboards/_dot.html")
def dot(mark: Dot, axis: Axis) -> dict[str, Any]:
    """One mark with its interval on its axis."""
    return {"dot": mark, "axis": axis}


@register.inclusion_tag("dashboards/_ticks.html")
def ticks(axis: Axis) -> dict[str, Any]:
    """The numbers under a panel."""
    return {"axis": axis}
