"""Statistics of human judgments of translation and of metric meta-evaluation.

Pure numpy and scipy; usable on its own. Each room holds some ten names: `metaeval.significance.`
shows those of significance. ``docs/statistics.md`` names every statistic with its formula, its
source, and when (not) to use it.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from metaeval.results import Interval, Result, StatisticResult, StatisticsWarning
from metaeval.scores.matrix import ScoreMatrix

if TYPE_CHECKING:
    from metaeval import (
        challenges,
        correlation,
        files,
        judgments,
        replication,
        scores,
        sensitivity,
        significance,
        spans,
        systems,
        wmt,
    )

# The version of everything in this repository (docs/versions.md).
__version__ = "1.0.0"

__all__ = [
    "Interval",
    "Result",
    "ScoreMatrix",
    "StatisticResult",
    "StatisticsWarning",
    "__version__",
    "challenges",
    "correlation",
    "files",
    "judgments",
    "replication",
    "scores",
    "sensitivity",
    "significance",
    "spans",
    "systems",
    "wmt",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> ModuleType:
    """Import a room when it is asked for: scipy's statistics take half a second."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
