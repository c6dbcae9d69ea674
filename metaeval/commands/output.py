"""Forms in which ``python -m metaeval`` prints its tables."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from metaeval.messages import printable

OUTPUTS = ("tsv", "csv", "json", "markdown", "latex")
OUTPUT_HELP = (
    "tsv (default), csv, markdown or latex (a table, the last two with three decimals), or json "
    "(all details)"
)
_SPECIAL = re.compile(r"[&%$#_{}~^\\]")
_ESCAPED = {
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
}  # fmt: skip


def table_lines(rows: Sequence[Mapping[str, Any]], output: str) -> list[str]:
    """Return the lines of a table, one of OUTPUTS but json; numbers that are nan are empty.

    Examples
    --------
    >>> table_lines([{"metric": "a_b", "r": 0.61}], "markdown")
    ['| metric | r |', '| --- | ---: |', '| a_b | 0.610 |']
    >>> table_lines([{"metric": "a_b", "r": 0.61}], "latex")[3:5]
    ['\\\\midrule', 'a\\\\_b & 0.610 \\\\\\\\']
    """
    header = list(rows[0]) if rows else []
    if output == "csv":
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerows([header, *([cell(value) for value in row.values()] for row in rows)])
        return buffer.getvalue().splitlines()
    if output == "tsv":
        cells = [[cell(value) for value in row.values()] for row in rows]
        return ["\t".join(line) for line in (list(map(printable, header)), *cells)]
    cells = [[_rounded(value) for value in row.values()] for row in rows]
    is_number = [
        all(isinstance(row[name], int | float) or row[name] is None for row in rows)
        for name in header
    ]
    if output == "markdown":
        rule = ["---:" if right else "---" for right in is_number]
        lines = [header, rule, *cells]
        return ["| " + " | ".join(each.replace("|", r"\|") for each in line) + " |"
                for line in lines]  # fmt: skip
    columns = "".join("r" if right else "l" for right in is_number)
    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _latex_line(header),
        r"\midrule",
        *map(_latex_line, cells),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def cell(value: Any) -> str:
    """Return a value as tables of numbers have it: six digits, nothing for nan and None."""
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.6g}"
    return "" if value is None else printable(str(value))


def _rounded(value: Any) -> str:
    if isinstance(value, float) and not np.isnan(value):
        return f"{value:.3f}".replace("-", "−")
    return cell(value)


def _latex_line(cells: Sequence[str]) -> str:
    escaped = [
        _SPECIAL.sub(lambda found: _ESCAPED.get(found[0], "\\" + found[0]), each) for each in cells
    ]
    return " & ".join(each.replace("−", "$-$") for each in escaped) + r" \\"
