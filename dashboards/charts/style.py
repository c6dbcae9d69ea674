"""The style of all figures: legible in print, in grey and without colour.

Series differ in shape or dash as well as in colour. The colours are those of Okabe and Ito (2008),
ordered so that neighbours differ in lightness.
"""

from collections.abc import Sequence
from typing import Any

from metaeval.messages import Message, message

Spec = dict[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
INK, SOFT, LINE, ACCENT = "#1b2430", "#4b5765", "#d5dae1", "#1a56a0"
CATEGORY = ["#0072B2", "#E69F00", "#000000", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"]
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 1], [1, 3], [10, 4]]

# Tick labels as `core.numbers.short` writes numbers: without the zero before the point.
TICKS = r"replace(replace(datum.label, /^([−-]?)0\./, '$1.'), /^\.0+$/, '0')"
# What tooltips show.
NAME = message("figure.name", "name")
ENDS = {
    "low": message("figure.lower-end", "lower end of the 95% interval"),
    "high": message("figure.upper-end", "upper end of the 95% interval"),
}

CONFIG: Spec = {
    # The accessible form is the table, not thousands of labelled marks.
    "aria": False,
    "background": "white",
    "font": "Liberation Sans, Arial, sans-serif",
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "gridColor": LINE,
        "domainColor": SOFT,
        "tickColor": SOFT,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "labelLimit": 320,
    },
    "axisQuantitative": {"labelExpr": TICKS},
    "legend": {"labelColor": INK, "titleColor": INK, "titleFontWeight": "normal"},
    "title": {"color": INK, "fontSize": 13, "fontWeight": "normal", "anchor": "start"},
    "view": {"stroke": "transparent"},
    "range": {"category": CATEGORY, "symbol": SHAPES},
}


def number(field: str, title: Message | str, places: int = 3) -> Spec:
    """Return a number of a tooltip."""
    return {"field": field, "title": title, "format": f".{places}f"}


def figure(
    title: Message | str, description: Message | Sequence[Message | None] | str, **spec: Any
) -> Spec:
    """Return a specification in this style; the rest is plain Vega-Lite.

    Messages stay in it until `dashboards.charts.files.in_language`. The description is the text
    alternative, of one message or several, of which those that are None are skipped.
    """
    about = (
        description
        if isinstance(description, Message | str)
        else [each for each in description if each is not None]
    )
    return {
        "$schema": SCHEMA,
        "title": title,
        "description": about,
        "config": CONFIG,
        # Labels are measured in one font and may be shown in a wider one.
        "padding": {"left": 20, "top": 8, "right": 20, "bottom": 8},
        **spec,
    }
