"""The live monitor of a campaign, and whether it is complete."""

from annotation.models.assignment import wanted
from annotation.monitor.answers import remarks
from annotation.monitor.report import AnnotatorState, MonitorReport, monitor_report

__all__ = [
    "AnnotatorState",
    "MonitorReport",
    "monitor_report",
    "remarks",
    "wanted",
]
