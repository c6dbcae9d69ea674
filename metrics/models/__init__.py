"""Tables of metrics, their scores and their runs."""

from metrics.models.catalogue import ConfiguredMetric, find_info
from metrics.models.datasets import DatasetImport
from metrics.models.runs import Lease, MetricRun, RunPlan, RunWorker
from metrics.models.scores import ImportedScores, MetricImport, MetricSignature, SegmentScore

__all__ = [
    "ConfiguredMetric",
    "DatasetImport",
    "ImportedScores",
    "Lease",
    "MetricImport",
    "MetricRun",
    "MetricSignature",
    "RunPlan",
    "RunWorker",
    "SegmentScore",
    "find_info",
]
