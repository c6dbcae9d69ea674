"""Stage 5: quality of annotators, agreement and control items, computed from judgments."""

from annotation.quality.agreement import Agreement, Figure, agreement_of
from annotation.quality.columns import JudgmentColumns, read_columns, standardise, z_score_warnings
from annotation.quality.people import AnnotatorQuality
from annotation.quality.report import QualityReport, quality_report
from annotation.quality.verdict import Checks, Verdict

__all__ = [
    "Agreement",
    "AnnotatorQuality",
    "Checks",
    "Figure",
    "JudgmentColumns",
    "QualityReport",
    "Verdict",
    "agreement_of",
    "quality_report",
    "read_columns",
    "standardise",
    "z_score_warnings",
]
