"""Test whether metrics penalise short outputs, and measure the quality of short enough outputs.

Human scores of short translations are lower because content is missing, and so are the scores of a
metric that agrees with humans. Only a lower score beyond that counts as a penalty for shortness.
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
