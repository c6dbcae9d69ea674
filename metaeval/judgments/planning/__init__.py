"""How many judgments to collect, of which segments and systems, and what that does to means."""

from metaeval.judgments.planning.allocation import Allocation, allocate
from metaeval.judgments.planning.components import VarianceComponents, variance_components
from metaeval.judgments.planning.drawing import draw, draw_evenly, inclusion, standing_weights
from metaeval.judgments.planning.power import PowerTable, power_table
from metaeval.judgments.planning.reweighted import ReweightedMeans, reweighted_means

__all__ = [
    "Allocation",
    "PowerTable",
    "ReweightedMeans",
    "VarianceComponents",
    "allocate",
    "draw",
    "draw_evenly",
    "inclusion",
    "power_table",
    "reweighted_means",
    "standing_weights",
    "variance_components",
]
__dir__ = __all__.copy
