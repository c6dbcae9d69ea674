"""Figures of a report as SVG, drawn in a process of its own: what V8 takes goes with it."""

import base64
import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from dashboards.charts.files import VEGA_LITE

# Room at the sides: the page may set the labels in a wider font than was measured.
PADDING = 16
LONGEST_SECONDS = 120
_DRAW = """
import json, sys, vl_convert
version, specs = json.load(sys.stdin)
json.dump([vl_convert.vegalite_to_svg(spec, vl_version=version) for spec in specs], sys.stdout)
"""


def drawings(specs: Sequence[dict[str, Any]]) -> list[str]:
    """Return figures as the addresses of images that hold their SVG."""
    given = json.dumps([VEGA_LITE, [spec | {"padding": PADDING} for spec in specs]])
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", _DRAW],
        input=given.encode(), stdout=subprocess.PIPE, check=True, timeout=LONGEST_SECONDS,
    )  # fmt: skip
    return [address(svg) for svg in json.loads(done.stdout)]


def address(svg: str) -> str:
    """Return an image as an address that holds it."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
