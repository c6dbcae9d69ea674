"""Statistics of human judgments of translation and of metric meta-evaluation.

Pure numpy and scipy; usable on its own. ``docs/statistics.md`` names every statistic with its
formula, its source, and when (not) to use it.
"""

from metaeval.agreement import Alpha, OneVsRest, krippendorff_alpha, one_vs_rest_pearson
from metaeval.agreement_intervals import (
    AgreementInterval,
    JudgmentAgreement,
    agreement_interval,
    judgment_agreement,
)
from metaeval.clustered import CorrelationIntervals, mean_interval
from metaeval.comparison import (
    MetricComparison,
    MetricCorrelations,
    RankClusters,
    compare_metrics,
    correlate_metrics,
    rank_clusters,
)
from metaeval.components import VarianceComponents, variance_components
from metaeval.consistency import PassRate, RepeatConsistency, pass_rate, repeat_consistency
from metaeval.controls import (
    AnnotationTimes,
    ControlTest,
    TrapLevels,
    annotation_times,
    control_test,
    trap_levels,
)
from metaeval.corpus import CorpusStatistics, bleu_score, bleu_star_score, chrf_score
from metaeval.correlation_intervals import correlation_intervals
from metaeval.correlations import Correlation, kendall, pearson, spearman, system_correlation
from metaeval.dependent import williams_test, zou_interval
from metaeval.drift import Drift, DriftWarning, drift
from metaeval.evalset import EvalSet, write_evalset
from metaeval.evalset_reading import read_evalset
from metaeval.evalset_scores import Scores as EvalSetScores
from metaeval.evalset_systems import SystemScores, evalset_system_scores
from metaeval.filters import WorkerFlags, graham_filters
from metaeval.hybrid_intervals import hybrid_limit_intervals
from metaeval.hybrid_limits import hybrid_limits
from metaeval.hybrids import HybridCorrelations, hybrid_supersample
from metaeval.intervals import BootstrapInterval, boot_interval
from metaeval.jackknife import jackknife_interval, system_intervals
from metaeval.lengths import LengthDeviation, length_deviation
from metaeval.measures import Measure
from metaeval.multiplicity import AdjustedPvalues, adjust_pvalues
from metaeval.paired_gain import paired_gain
from metaeval.pairwise import AccEq, KendallLike, acc_eq, kendall_like, pairwise_accuracy
from metaeval.power import PowerTable, power_table
from metaeval.preferences import Preference, preference
from metaeval.ranking import SystemRanking, rank_systems
from metaeval.ratings import icc, weighted_kappa
from metaeval.results import (
    ApproximationWarning,
    ConstantInputWarning,
    DependentDataWarning,
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
from metaeval.seeds import SeedComparison, compare_seeds
from metaeval.severity import Severity, annotator_severity
from metaeval.signed_rank import SignedRank, signed_rank_test
from metaeval.significance import PermutationTest, perm_test
from metaeval.soft_pairwise import SoftPairwiseAccuracy, soft_pairwise_accuracy
from metaeval.standardize import ZScores, z_scores
from metaeval.system_columns import MetricColumn
from metaeval.system_scores import system_scores
from metaeval.system_table import SystemTable, system_table
from metaeval.system_tests import SystemComparison, approximate_randomization, paired_bootstrap
from metaeval.tables import (
    RelativeRanks,
    mqm_weight,
    read_da,
    read_darr,
    read_mqm,
    read_score_table,
    write_score_table,
)
from metaeval.textfiles import FormatError

__all__ = [
    "AccEq",
    "AdjustedPvalues",
    "AgreementInterval",
    "Alpha",
    "AnnotationTimes",
    "ApproximationWarning",
    "BootstrapInterval",
    "ConstantInputWarning",
    "ControlTest",
    "CorpusStatistics",
    "Correlation",
    "CorrelationIntervals",
    "DependentDataWarning",
    "DirectionWarning",
    "Drift",
    "DriftWarning",
    "EvalSet",
    "EvalSetScores",
    "FormatError",
    "HybridCorrelations",
    "IdenticalInputWarning",
    "Interval",
    "JudgmentAgreement",
    "KendallLike",
    "LengthDeviation",
    "MeanScores",
    "Measure",
    "MetricColumn",
    "MetricComparison",
    "MetricCorrelations",
    "MissingDataWarning",
    "OneVsRest",
    "PassRate",
    "PermutationTest",
    "PowerTable",
    "Preference",
    "RankClusters",
    "RelativeRanks",
    "RepeatConsistency",
    "ResolutionWarning",
    "Result",
    "ScoreMatrix",
    "SeedComparison",
    "Severity",
    "SignedRank",
    "SingleJudgmentWarning",
    "SoftPairwiseAccuracy",
    "StatisticResult",
    "StatisticsWarning",
    "SystemComparison",
    "SystemRanking",
    "SystemScores",
    "SystemTable",
    "TooFewWarning",
    "TrapLevels",
    "UndefinedGroupWarning",
    "VarianceComponents",
    "WorkerFlags",
    "ZScores",
    "acc_eq",
    "adjust_pvalues",
    "agreement_interval",
    "align",
    "annotation_times",
    "annotator_severity",
    "approximate_randomization",
    "bleu_score",
    "bleu_star_score",
    "boot_interval",
    "chrf_score",
    "compare_metrics",
    "compare_seeds",
    "control_test",
    "correlate_metrics",
    "correlation_intervals",
    "drift",
    "evalset_system_scores",
    "graham_filters",
    "hybrid_limit_intervals",
    "hybrid_limits",
    "hybrid_supersample",
    "icc",
    "jackknife_interval",
    "judgment_agreement",
    "kendall",
    "kendall_like",
    "krippendorff_alpha",
    "length_deviation",
    "mean_interval",
    "mean_scores",
    "mqm_weight",
    "one_vs_rest_pearson",
    "paired_bootstrap",
    "paired_gain",
    "pairwise_accuracy",
    "pass_rate",
    "pearson",
    "perm_test",
    "power_table",
    "preference",
    "rank_clusters",
    "rank_systems",
    "read_da",
    "read_darr",
    "read_evalset",
    "read_mqm",
    "read_score_table",
    "repeat_consistency",
    "signed_rank_test",
    "soft_pairwise_accuracy",
    "spearman",
    "system_correlation",
    "system_intervals",
    "system_scores",
    "system_table",
    "trap_levels",
    "variance_components",
    "weighted_kappa",
    "williams_test",
    "write_evalset",
    "write_score_table",
    "z_scores",
    "zou_interval",
]
