"""Statistics of human judgments of translation and of metric meta-evaluation.

Pure numpy and scipy; usable on its own. Each room holds some ten names: `metaeval.significance.`
shows those of significance. ``docs/statistics.md`` names every statistic with its formula, its
source, and when (not) to use it.
"""

from metaeval import (
    correlation,
    files,
    judgments,
    replication,
    scores,
    sensitivity,
    significance,
    systems,
)
from metaeval.results import Interval, Result, StatisticResult, StatisticsWarning
from metaeval.scores.matrix import ScoreMatrix
from metaeval.systems import shortness

__version__ = "0.1.0"

__all__ = [
    "Interval",
    "Result",
    "ScoreMatrix",
    "StatisticResult",
    "StatisticsWarning",
    "__version__",
    "correlation",
    "files",
    "judgments",
    "replication",
    "scores",
    "sensitivity",
    "significance",
    "systems",
]

# A completion shows the names of a room, not the modules they come from.
for _room in (
    correlation,
    correlation.hybrids,
    correlation.intervals,
    files,
    judgments,
    judgments.agreement,
    judgments.controls,
    judgments.planning,
    replication,
    replication.questions,
    scores,
    sensitivity,
    significance,
    systems,
    shortness,
):
    vars(_room)["__dir__"] = _room.__all__.copy
