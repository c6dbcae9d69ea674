"""How many judgments to collect, and of which systems next."""

from metaeval.judgments.planning.allocation import Allocation, allocate
from metaeval.judgments.planning.components import VarianceComponents, variance_components
from metaeval.judgments.planning.power import PowerTable, power_table

__all__ = [
    "Allocation",
    "PowerTable",
    "VarianceComponents",
    "allocate",
    "power_table",
    "variance_components",
]
__dir__ = __all__.copy
