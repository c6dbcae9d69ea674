"""Presets: protocols with their usual settings, for new campaigns.

A preset proposes every setting of the campaign form, instructions and practice items.
"""

from annotation.presets.choices import PRESETS, Fit, Preset, fitting, offered
from annotation.presets.filling import fill, mark_missing
from annotation.presets.proposal import free_name, propose, ratio_label

__all__ = [
    "PRESETS",
    "Fit",
    "Preset",
    "fill",
    "fitting",
    "free_name",
    "mark_missing",
    "offered",
    "propose",
    "ratio_label",
]
