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
from metaeval.dependent import williams_test, zou_interval
from metaeval.hybrids import HybridCorrelations, hybrid_supersample
from metaeval.multiplicity import AdjustedPvalues, adjust_pvalues
from metaeval.pairwise import AccEq, KendallLike, acc_eq, kendall_like, pairwise_accuracy
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
from metaeval.soft_pairwise import SoftPairwiseAccuracy, soft_pairwise_accuracy
from metaeval.standardize import ZScores, z_scores

__all__ = [
    "AccEq",
    "AdjustedPvalues",
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
    "KendallLike",
    "MeanScores",
    "MissingDataWarning",
    "OneVsRest",
    "ResolutionWarning",
    "Result",
    "ScoreMatrix",
    "SingleJudgmentWarning",
    "SoftPairwiseAccuracy",
    "StatisticResult",
    "StatisticsWarning",
    "TooFewWarning",
    "TrapLevels",
    "UndefinedGroupWarning",
    "ZScores",
    "acc_eq",
    "adjust_pvalues",
    "align",
    "annotation_times",
    "bleu_score",
    "bleu_star_score",
    "chrf_score",
    "control_test",
    "hybrid_supersample",
    "kendall",
    "kendall_like",
    "krippendorff_alpha",
    "mean_scores",
    "one_vs_rest_pearson",
    "pairwise_accuracy",
    "pearson",
    "soft_pairwise_accuracy",
    "spearman",
    "system_correlation",
    "trap_levels",
    "williams_test",
    "z_scores",
    "zou_interval",
]
