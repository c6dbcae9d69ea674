"""Statistics of human judgments of translation and of metric meta-evaluation.

Pure numpy and scipy; usable on its own. ``docs/statistics.md`` names every statistic with its
formula, its source, and when (not) to use it.
"""

from metaeval.agreement import Alpha, OneVsRest, krippendorff_alpha, one_vs_rest_pearson
from metaeval.controls import (
    AnnotationTimes,
    ControlTest,
    TrapLevels,
    annotation_times,
    control_test,
    trap_levels,
)
from metaeval.corpus import CorpusStatistics, bleu_score, bleu_star_score, chrf_score
from metaeval.correlations import Correlation, kendall, pearson, spearman, system_correlation
from metaeval.hybrids import HybridCorrelations, hybrid_supersample
from metaeval.results import (
    ApproximationWarning,
    ConstantInputWarning,
    DirectionWarning,
    IdenticalInputWarning,
    Interval,
    MissingDataWarning,
    ResolutionWarning,
    Result,
    SingleJudgmentWarning,
    StatisticResult,
    StatisticsWarning,
    TooFewWarning,
    UndefinedGroupWarning,
)
from metaeval.scores import MeanScores, ScoreMatrix, align, mean_scores
from metaeval.standardize import ZScores, z_scores

__all__ = [
    "Alpha",
    "AnnotationTimes",
    "ApproximationWarning",
    "ConstantInputWarning",
    "ControlTest",
    "CorpusStatistics",
    "Correlation",
    "DirectionWarning",
    "HybridCorrelations",
    "IdenticalInputWarning",
    "Interval",
    "MeanScores",
    "MissingDataWarning",
    "OneVsRest",
    "ResolutionWarning",
    "Result",
    "ScoreMatrix",
    "SingleJudgmentWarning",
    "StatisticResult",
    "StatisticsWarning",
    "TooFewWarning",
    "TrapLevels",
    "UndefinedGroupWarning",
    "ZScores",
    "align",
    "annotation_times",
    "bleu_score",
    "bleu_star_score",
    "chrf_score",
    "control_test",
    "hybrid_supersample",
    "kendall",
    "krippendorff_alpha",
    "mean_scores",
    "one_vs_rest_pearson",
    "pearson",
    "spearman",
    "system_correlation",
    "trap_levels",
    "z_scores",
]
