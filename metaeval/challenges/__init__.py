"""Challenge sets: does a metric prefer the good translation to one with a known error."""

from metaeval.challenges.sets import ChallengeSet, read_challenge_set
from metaeval.challenges.statistics import (
    ACES_WEIGHTS,
    AcesScore,
    Detection,
    aces_score,
    detection,
    span_f1,
)

__all__ = [
    "ACES_WEIGHTS",
    "AcesScore",
    "ChallengeSet",
    "Detection",
    "aces_score",
    "detection",
    "read_challenge_set",
    "span_f1",
]
__dir__ = __all__.copy
