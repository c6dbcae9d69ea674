"""Whether metrics punish short outputs as such, and quality where outputs are as short as asked.

A short translation says less, so humans like it less; a metric that agrees with them does the same.
It punishes shortness as such where it does so beyond what humans do.
"""

from metaeval.systems.shortness.compliance import Compliance, compliance
from metaeval.systems.shortness.forms import OwnForms, own_forms
from metaeval.systems.shortness.partial import PartialCorrelation, partial_on_length

__all__ = [
    "Compliance",
    "OwnForms",
    "PartialCorrelation",
    "compliance",
    "own_forms",
    "partial_on_length",
]
__dir__ = __all__.copy
