"""Metrics against humans: coefficients, accuracies of pairs, `Measure` (any of them).

`intervals` holds confidence intervals, `hybrids` correlations over hybrid systems.
"""

from metaeval.correlation import hybrids, intervals
from metaeval.correlation.coefficients import (
    Correlation,
    correlate,
    kendall,
    pearson,
    spearman,
    system_correlation,
)
from metaeval.correlation.measure import Measure
from metaeval.correlation.pairwise import acc_eq, kendall_like, pairwise_accuracy
from metaeval.correlation.soft_pairwise import soft_pairwise_accuracy
from metaeval.correlation.values import MetricCorrelations, correlate_metrics

__all__ = [
    "Correlation",
    "Measure",
    "MetricCorrelations",
    "acc_eq",
    "correlate",
    "correlate_metrics",
    "hybrids",
    "intervals",
    "kendall",
    "kendall_like",
    "pairwise_accuracy",
    "pearson",
    "soft_pairwise_accuracy",
    "spearman",
    "system_correlation",
]
__dir__ = __all__.copy
