"""Draw the figures of a report as SVG, in a separate process that frees the memory of V8."""

import base64
import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from dashboards.charts.files import VEGA_LITE, drawable

# Space at the sides, because the page may use a wider font than was measured.
PADDING = 16
LONGEST_SECONDS = 120
_DRAW = """
import json, sys, vl_convert
version, specs = json.load(sys.stdin)
json.dump([vl_convert.vegalite_to_svg(spec, vl_version=version) for spec in specs], sys.stdout)
"""


def drawings(specs: Sequence[dict[str, Any]]) -> list[str]:
    """Return figures as data addresses of SVG images."""
    given = json.dumps([VEGA_LITE, [drawable(spec) | {"padding": PADDING} for spec in specs]])
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", _DRAW],
        input=given.encode(), stdout=subprocess.PIPE, check=True, timeout=LONGEST_SECONDS,
    )  # fmt: skip
    return [address(svg) for svg in json.loads(done.stdout)]


def address(svg: str) -> str:
    """Return an image as a data address."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
