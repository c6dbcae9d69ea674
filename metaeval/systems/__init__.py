"""MT systems beside each other: rankings, paired tests, tables, lengths, preferences."""

from metaeval.systems.agreement import AgreementCurve, agreement_curve
from metaeval.systems.columns import MetricColumn
from metaeval.systems.lengths import LengthDeviation, length_deviation
from metaeval.systems.paired_tests import (
    SystemComparison,
    approximate_randomization,
    paired_bootstrap,
)
from metaeval.systems.preferences import (
    Preference,
    pool_preferences,
    preference,
)
from metaeval.systems.ranking import SystemRanking, rank_systems
from metaeval.systems.table import SystemTable, system_table

__all__ = [
    "AgreementCurve",
    "LengthDeviation",
    "MetricColumn",
    "Preference",
    "SystemComparison",
    "SystemRanking",
    "SystemTable",
    "agreement_curve",
    "approximate_randomization",
    "length_deviation",
    "paired_bootstrap",
    "pool_preferences",
    "preference",
    "rank_systems",
    "system_table",
]
__dir__ = __all__.copy
