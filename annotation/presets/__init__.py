"""Presets: protocols with their usual settings, for new campaigns.

A preset proposes every setting of the campaign form, instructions and practice items.
"""

from annotation.presets.choices import (
    PRESETS,
    USUAL,
    Fit,
    Preset,
    fitting,
    free_name,
    offered,
    preset_of,
    propose,
    ratio_label,
)
from annotation.presets.filling import fill, made_here, mark_missing, refill

__all__ = [
    "PRESETS",
    "USUAL",
    "Fit",
    "Preset",
    "fill",
    "fitting",
    "free_name",
    "made_here",
    "mark_missing",
    "offered",
    "preset_of",
    "propose",
    "ratio_label",
    "refill",
]
