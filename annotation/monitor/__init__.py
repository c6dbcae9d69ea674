"""The live monitor of a campaign, and whether it is complete."""

from annotation.models.assignment import wanted
from annotation.monitor.answers import flagged_judgments
from annotation.monitor.report import AnnotatorState, MonitorReport, monitor_report

__all__ = [
    "AnnotatorState",
    "MonitorReport",
    "flagged_judgments",
    "monitor_report",
    "wanted",
]
