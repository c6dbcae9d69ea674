"""The live monitor of a campaign, and whether it is complete."""

from annotation.monitor.answers import remarks
from annotation.monitor.report import AnnotatorState, MonitorReport, monitor_report
from annotation.pool.completion import wanted

__all__ = [
    "AnnotatorState",
    "MonitorReport",
    "monitor_report",
    "remarks",
    "wanted",
]
