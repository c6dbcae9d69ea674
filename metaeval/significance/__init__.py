"""Whether metrics differ: permutation, bootstrap, Williams, Zou, trainings, many tests at once."""

from metaeval.significance.bootstrap import boot_interval
from metaeval.significance.comparison import MetricComparison, compare_metrics, rank_clusters
from metaeval.significance.contests import Contest, contest, contest_of_metrics
from metaeval.significance.corrections import adjust_pvalues
from metaeval.significance.dependent import williams_test, zou_interval
from metaeval.significance.permutation.tests import perm_test
from metaeval.significance.signed_rank import signed_rank_test
from metaeval.significance.trainings import SeedComparison, compare_seeds, paired_gain

__all__ = [
    "Contest",
    "MetricComparison",
    "SeedComparison",
    "adjust_pvalues",
    "boot_interval",
    "compare_metrics",
    "compare_seeds",
    "contest",
    "contest_of_metrics",
    "paired_gain",
    "perm_test",
    "rank_clusters",
    "signed_rank_test",
    "williams_test",
    "zou_interval",
]
__dir__ = __all__.copy
