"""Scores of systems x segments, and scores of whole systems made of them or of counts."""

from metaeval.scores.corpus import (
    FORMULAS,
    CorpusStatistics,
    bleu_score,
    bleu_star_score,
    chrf_score,
    system_scores,
    ter_score,
)
from metaeval.scores.matrix import ScoreMatrix, align

__all__ = [
    "FORMULAS",
    "CorpusStatistics",
    "ScoreMatrix",
    "align",
    "bleu_score",
    "bleu_star_score",
    "chrf_score",
    "system_scores",
    "ter_score",
]
__dir__ = __all__.copy
