"""Tables of metrics, their scores and their runs."""

from metrics.models.catalogue import ConfiguredMetric, find_info
from metrics.models.fleet import Worker, WorkerChild
from metrics.models.judges import JudgeConnection, JudgeReply, JudgeSpending, JudgeTemplate
from metrics.models.runs import FailedText, MetricRun, RunPlan, RunWorker, Slice
from metrics.models.scores import (
    HashCheck,
    ImportedScores,
    Loading,
    MetricImport,
    MetricSignature,
    SegmentScore,
    SegmentSpans,
)

__all__ = [
    "ConfiguredMetric",
    "FailedText",
    "HashCheck",
    "ImportedScores",
    "JudgeConnection",
    "JudgeReply",
    "JudgeSpending",
    "JudgeTemplate",
    "Loading",
    "MetricImport",
    "MetricRun",
    "MetricSignature",
    "RunPlan",
    "RunWorker",
    "SegmentScore",
    "SegmentSpans",
    "Slice",
    "Worker",
    "WorkerChild",
    "find_info",
]
