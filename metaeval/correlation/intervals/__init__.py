"""Intervals of correlations over outputs (clustered by document) and over systems (jackknife)."""

from metaeval.correlation.intervals.clustered import CorrelationIntervals
from metaeval.correlation.intervals.concordance import accuracy_interval
from metaeval.correlation.intervals.crossed import correlation_intervals
from metaeval.correlation.intervals.independent import mean_interval, wilson_interval
from metaeval.correlation.intervals.jackknife import jackknife_interval, system_intervals
from metaeval.correlation.intervals.soft import soft_pairwise_intervals

__all__ = [
    "CorrelationIntervals",
    "accuracy_interval",
    "correlation_intervals",
    "jackknife_interval",
    "mean_interval",
    "soft_pairwise_intervals",
    "system_intervals",
    "wilson_interval",
]
__dir__ = __all__.copy
