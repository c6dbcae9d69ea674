"""What would change: with other judgments, fewer segments, another layer, within each system.

Every function takes plain arrays of systems x segments in which a larger score is better
(`metaeval.scores.oriented`), and computes many small variants of the same few correlations.
"""

from metaeval.sensitivity.folds import Choice, Profile, choose, layer_profile
from metaeval.sensitivity.gaps import gaps
from metaeval.sensitivity.levels import (
    LEVELS,
    SizePoint,
    curves,
    draw_segments,
    level_correlations,
    ranks,
    resampled_levels,
)
from metaeval.sensitivity.simpson import Pooled, WithinSystem, pooled, within_systems
from metaeval.sensitivity.variants import Movement, movement, variant_tables

__all__ = [
    "LEVELS",
    "Choice",
    "Movement",
    "Pooled",
    "Profile",
    "SizePoint",
    "WithinSystem",
    "choose",
    "curves",
    "draw_segments",
    "gaps",
    "layer_profile",
    "level_correlations",
    "movement",
    "pooled",
    "ranks",
    "resampled_levels",
    "variant_tables",
    "within_systems",
]
__dir__ = __all__.copy
