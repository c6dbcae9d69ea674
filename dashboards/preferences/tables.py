"""The tables of preference analyses: on pages, and as LaTeX."""

from collections.abc import Mapping, Sequence
from typing import Any

from dashboards.charts.files import Figure
from dashboards.papers import latex
from dashboards.preferences.documents import Document

Row = dict[str, Any]


def summary(document: Document) -> list[Row]:
    """Return a line for every measure with its row under each condition, None where not asked."""
    keys = [each["key"] for each in document["conditions"]]
    return _crossed(document["rows"], "condition", keys)


def by_direction(document: Document) -> list[Row]:
    """Return a line for every measure with its row of each language pair."""
    return _crossed(document["rows"], "direction", document["directions"])


def _crossed(rows: Sequence[Row], by: str, keys: Sequence[str]) -> list[Row]:
    lines: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        lines.setdefault((row["label"], row["measure"]), {})[row[by]] = row
    best = {key: _clear(rows, by, key) for key in keys}
    return [
        {
            "label": label,
            "measure": measure,
            "cells": [_marked(found.get(key), best[key]) for key in keys],
        }
        for (label, measure), found in sorted(lines.items())
    ]


def _clear(rows: Sequence[Row], by: str, key: str) -> str:
    """The measure whose interval lies below those of all others; empty where none does."""
    known = [row for row in rows if row[by] == key and row["w2w"] is not None]
    first, *others = sorted(known, key=lambda row: row["w2w"]) if len(known) > 1 else [{}]
    if first.get("high") is None:
        return ""
    lows = [row["low"] for row in others]
    is_clear = all(low is not None and low > first["high"] for low in lows)
    return str(first["measure"]) if is_clear else ""


def _marked(row: Row | None, best: str) -> Row | None:
    return row and row | {"is_best": bool(best) and row["measure"] == best}


def parts(document: Document, figures: Mapping[str, Figure]) -> list[dict[str, Any]]:
    """Return, for each condition, its rows, its figure, and what they were made with."""
    return [
        {
            **each,
            "rows": [row for row in document["rows"] if row["condition"] == each["key"]],
            "figure": figures.get(each["key"]),
        }
        for each in document["conditions"]
    ]


def as_latex(document: Document) -> list[latex.Table]:
    """W2W of every measure by condition, then each condition in full."""
    keys = [each["label"] for each in document["conditions"]]
    title = f"W2W on {document['title']}, {document['direction']}"
    whole = _crossed_table(title, f"{document['name']}-w2w", keys, summary(document))
    return [whole, *(_condition(document, each) for each in document["conditions"])]


def across_as_latex(document: Document) -> latex.Table:
    """W2W of every measure by language pair."""
    title = f"W2W by language pair: {document['condition_label'].lower()}"
    return _crossed_table(title, "w2w", document["directions"], by_direction(document))


def _crossed_table(
    title: str, label: str, keys: Sequence[str], lines: Sequence[Row]
) -> latex.Table:
    body = [
        [latex.Cell(line["label"]), *(_share(cell) for cell in line["cells"])] for line in lines
    ]
    return latex.Table(title, label, "l" + "r" * len(keys), [latex.texts("Metric", *keys)], body)


def _share(row: Row | None) -> latex.Cell:
    return latex.number(row["w2w"] if row else None, 3, is_bold=bool(row and row["is_best"]))


def _condition(document: Document, condition: Row) -> latex.Table:
    head = latex.texts("Metric", "n", "W2W", "low", "high", "mean d", "median d", "ties")
    names = ("w2w", "low", "high", "mean", "median", "ties")
    body = [
        [*latex.texts(row["label"], row["n"]), *(latex.number(row[name], 3) for name in names)]
        for row in document["rows"]
        if row["condition"] == condition["key"]
    ]
    title = f"{condition['label']}, {document['title']}"
    return latex.Table(title, f"{document['name']}-{condition['key']}", "lrrrrrrr", [head], body)
