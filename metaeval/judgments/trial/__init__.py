"""A trial of prefilled error spans: what they change, and what a trial of a size can tell."""

from metaeval.judgments.trial.effects import MeanEffect, RateEffect, mean_effect, rate_effect
from metaeval.judgments.trial.sizes import (
    mean_power,
    rate_half_width,
    rate_power,
    smallest_change,
)

__all__ = [
    "MeanEffect",
    "RateEffect",
    "mean_effect",
    "mean_power",
    "rate_effect",
    "rate_half_width",
    "rate_power",
    "smallest_change",
]
__dir__ = __all__.copy
