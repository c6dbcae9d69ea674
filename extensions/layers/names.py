"""Find the measures of a metric that are layers of its encoder."""

import re

from metaeval.messages import Message, message
from metrics.base import MetricInfo

PARTS = {"p": "P", "r": "R", "f": "F1"}
# The names in tables 11 to 14 of Cheng et al. 2023.
SHORT = {"p": "P", "r": "R", "f": "F"}
SCORE = message("layers.score", "score")


def part_label(part: str) -> Message | str:
    """Return the label of a part of a layer's measures."""
    return PARTS.get(part, part) if part else SCORE


def layers_of(info: MetricInfo) -> dict[str, tuple[int, str]]:
    """Return (layer, part) by measure of a metric that stores several layers, else nothing.

    Such measures are named `metric-layer` or `metric-layer-part`; part is `p`, `r`, `f` or other.
    """
    pattern = re.compile(rf"{re.escape(info.name)}-(\d+)(?:-([a-z0-9]+))?")
    found = {key: pattern.fullmatch(key) for key in info.measures}
    layers = {key: (int(m[1]), m[2] or "") for key, m in found.items() if m}
    several = len({layer for layer, _ in layers.values()}) > 1
    return layers if several and len(layers) == len(info.measures) else {}
