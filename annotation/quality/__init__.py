"""Stage 5: from judgments to annotators, agreement and control items."""

from annotation.quality.columns import JudgmentColumns, read_columns
from annotation.quality.people import AnnotatorQuality
from annotation.quality.report import QualityReport, quality_report
from annotation.quality.standard import standardise
from annotation.quality.verdict import Checks, Verdict

__all__ = [
    "AnnotatorQuality",
    "Checks",
    "JudgmentColumns",
    "QualityReport",
    "Verdict",
    "quality_report",
    "read_columns",
    "standardise",
]
