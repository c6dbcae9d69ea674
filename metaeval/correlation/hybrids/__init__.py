"""Correlations over hybrid systems (Graham and Liu 2016) and their limits."""

from metaeval.correlation.hybrids.limits import hybrid_limit_intervals, hybrid_limits
from metaeval.correlation.hybrids.sampling import HybridCorrelations, hybrid_supersample

__all__ = [
    "HybridCorrelations",
    "hybrid_limit_intervals",
    "hybrid_limits",
    "hybrid_supersample",
]
__dir__ = __all__.copy
