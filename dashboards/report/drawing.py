"""Figures of a report as SVG, drawn in the worker."""

import base64
from importlib import import_module
from typing import Any

from dashboards.charts.files import VEGA_LITE


def drawing(spec: dict[str, Any]) -> str:
    """Return a figure as the address of an image that holds its SVG."""
    vl_convert = import_module("vl_convert")
    # Room at the sides: the page may set the labels in a wider font than was measured.
    roomy = spec | {"padding": 16}
    svg: str = vl_convert.vegalite_to_svg(roomy, vl_version=VEGA_LITE)
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
