"""Correlations over hybrid systems (Graham and Liu 2016), their limits, and of differences."""

from metaeval.correlation.hybrids.differences import pairwise_difference_pearson
from metaeval.correlation.hybrids.limits import hybrid_limit_intervals, hybrid_limits
from metaeval.correlation.hybrids.sampling import HybridCorrelations, hybrid_supersample

__all__ = [
    "HybridCorrelations",
    "hybrid_limit_intervals",
    "hybrid_limits",
    "hybrid_supersample",
    "pairwise_difference_pearson",
]
__dir__ = __all__.copy
