"""One look for all figures: legible in print, in grey and without colour.

Series differ in shape or dash as well as in colour. The colours are those of Okabe and Ito (2008),
ordered so that neighbours differ in lightness.
"""

from typing import Any

Spec = dict[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
INK, SOFT, LINE, ACCENT = "#1b2430", "#4b5765", "#d5dae1", "#1a56a0"
CATEGORY = ["#0072B2", "#E69F00", "#000000", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"]
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 1], [1, 3], [10, 4]]

CONFIG: Spec = {
    # Thousands of labelled marks help nobody: the table is the accessible form.
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
    "legend": {"labelColor": INK, "titleColor": INK, "titleFontWeight": "normal"},
    "title": {"color": INK, "fontSize": 13, "fontWeight": "normal", "anchor": "start"},
    "view": {"stroke": "transparent"},
    "range": {"category": CATEGORY, "symbol": SHAPES},
}


def figure(title: str, description: str, **spec: Any) -> Spec:
    """Return a specification in this style; the rest is plain Vega-Lite."""
    return {
        "$schema": SCHEMA,
        "title": title,
        "description": description.strip(),
        "config": CONFIG,
        # Labels are measured in one font and may be shown in a wider one.
        "padding": {"left": 20, "top": 8, "right": 20, "bottom": 8},
        **spec,
    }
