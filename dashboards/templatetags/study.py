"""Numbers of a matrix: correlations without the zero before the point."""

from collections.abc import Sequence

from django import template

from annotation.campaigns.facts import study_facts
from annotation.templatetags.numbers import NOTHING, decimals
from dashboards.report.people import Range
from dashboards.results.answer import number
from dashboards.results.document import Line, Mark
from dashboards.studies.beside import Beside
from dashboards.studies.matrix import Cell, Head, MatrixRow

register = template.Library()
register.filter("study_facts", study_facts)


@register.filter
def bare(value: float | None) -> str:
    """`.62`; a dash for nothing."""
    return NOTHING if value is None else number(value)


@register.filter
def within(cell: Cell | Line | Mark) -> str:
    """The interval of a cell: `[.56, .68]`; empty where there is none."""
    if cell.low is None or cell.high is None:
        return ""
    return f"[{number(cell.low)}, {number(cell.high)}]"


@register.filter
def bare3(value: float | None) -> str:
    """The same with three decimals, as averages and printed tables are quoted: `.493`."""
    return NOTHING if value is None else decimals(value).replace("0.", ".", 1)


@register.filter
def under(row: MatrixRow, heads: Sequence[Head]) -> list[tuple[Cell, Head]]:
    """The cells of a row with what heads them."""
    return list(zip(row.cells, heads, strict=True)) if row.cells else []


@register.filter
def published(row: MatrixRow, beside: Beside | None) -> list[tuple[Cell, str]]:
    """The published cells of a row with what heads them."""
    return list(zip(row.beside, beside.heads, strict=True)) if beside else []


@register.filter
def ranged(value: Range, places: int = 1) -> str:
    """`52.3 [41.0, 60.5]`; a dash where nobody has a number."""
    if value.mean is None:
        return NOTHING
    ends = ", ".join(decimals(end, places) for end in (value.low, value.high))
    return f"{decimals(value.mean, places)} [{ends}]"
