"""Answers as pages give them, and replication bundles computed again from their files.

`questions` compares all metrics by one statistic; the other modules read a bundle's files, compute
its tables and compare every number with the one that it holds.
"""

from metaeval.replication import questions
from metaeval.replication.judgments import (
    JudgmentFile,
    human_rows,
    quality_rows,
    read_judgments,
)
from metaeval.replication.reproduce import (
    FORMAT,
    Reproduction,
    forget_files,
    reproduce,
    versions,
)
from metaeval.replication.tables import (
    CorrelationRow,
    ScoreFile,
    correlation_table,
    read_scores,
)
from metaeval.results import plain

__all__ = [
    "FORMAT",
    "CorrelationRow",
    "JudgmentFile",
    "Reproduction",
    "ScoreFile",
    "correlation_table",
    "forget_files",
    "human_rows",
    "plain",
    "quality_rows",
    "questions",
    "read_judgments",
    "read_scores",
    "reproduce",
    "versions",
]
__dir__ = __all__.copy
