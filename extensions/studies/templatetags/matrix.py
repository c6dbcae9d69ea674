"""Pair the cells of a study's matrix with the heads of their columns."""

from collections.abc import Sequence

from django import template

from extensions.studies.matrix import Cell, Head, MatrixRow
from extensions.studies.published import Beside
from metaeval.messages import Message

register = template.Library()


@register.filter
def under(row: MatrixRow, heads: Sequence[Head]) -> list[tuple[Cell, Head]]:
    """The cells of a row with their heads."""
    return list(zip(row.cells, heads, strict=True)) if row.cells else []


@register.filter
def published(row: MatrixRow, table: Beside | None) -> list[tuple[Cell, Message | str]]:
    """The published cells of a row with their heads."""
    return list(zip(row.published, table.heads, strict=True)) if table else []
