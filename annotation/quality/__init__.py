"""Stage 5: from judgments to annotators, agreement and control items."""

from annotation.quality.columns import JudgmentColumns, read_columns
from annotation.quality.report import AnnotatorQuality, QualityReport, quality_report
from annotation.quality.standard import standardise

__all__ = [
    "AnnotatorQuality",
    "JudgmentColumns",
    "QualityReport",
    "quality_report",
    "read_columns",
    "standardise",
]
