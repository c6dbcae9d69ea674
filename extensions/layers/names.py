"""Which measures of a metric are layers of its encoder."""

import re

from metrics.base import MetricInfo

PARTS = {"p": "P", "r": "R", "f": "F1"}
# As tables 11 to 14 of Cheng et al. 2023 name F1.
SHORT = {"p": "P", "r": "R", "f": "F"}


def layers_of(info: MetricInfo) -> dict[str, tuple[int, str]]:
    """Return (layer, part) by measure of a metric that keeps several layers; else nothing.

    Such measures are named `metric-layer` or `metric-layer-part`; part is `p`, `r`, `f` or other.
    """
    pattern = re.compile(rf"{re.escape(info.name)}-(\d+)(?:-([a-z0-9]+))?")
    found = {key: pattern.fullmatch(key) for key in info.measures}
    layers = {key: (int(m[1]), m[2] or "") for key, m in found.items() if m}
    several = len({layer for layer, _ in layers.values()}) > 1
    return layers if several and len(layers) == len(info.measures) else {}
