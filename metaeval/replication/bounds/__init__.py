"""Baselines that a metric has to beat, and the human ceiling, for a question."""

from metaeval.replication.bounds.ceiling import Ceiling, NoOverlapWarning, Ratings, ceiling
from metaeval.replication.bounds.floor import (
    ABOVE,
    BELOW,
    NOT_ABOVE,
    FloorTest,
    against_floors,
)

__all__ = [
    "ABOVE",
    "BELOW",
    "NOT_ABOVE",
    "Ceiling",
    "FloorTest",
    "NoOverlapWarning",
    "Ratings",
    "against_floors",
    "ceiling",
]
__dir__ = __all__.copy
