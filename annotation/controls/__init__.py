"""Control items: items of known quality, which annotators recognise only by reading them."""

from annotation.controls.making import Control, ControlMaker, degrade
from annotation.controls.rotated import plant_checks, rotate
from annotation.controls.spacing import CrowdedError, spaced_order
from annotation.controls.traps import count_cuttable, cut_text, plant_traps, possible_traps

__all__ = [
    "Control",
    "ControlMaker",
    "CrowdedError",
    "count_cuttable",
    "cut_text",
    "degrade",
    "plant_checks",
    "plant_traps",
    "possible_traps",
    "rotate",
    "spaced_order",
]
