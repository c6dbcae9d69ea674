"""Hold scores of one measure over systems and segments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from annotation.models import System
from metrics.base import IMPORTED, Scores, ScoreWarning

Corpus = Callable[[Scores], Scores]
COMPUTED = "computed"


@dataclass(frozen=True, eq=False)
class MeasureScores:
    """One measure over systems and segments.

    `values` is systems × segments, nan without an output or a score. If the system score is not the
    mean of segments, `statistics` is systems × segments × k and `corpus` turns (h, k) sums over
    segments into (h,) scores; otherwise both are None. `systems` has imported system scores (nan
    for systems without one). They replace the means, but only for all segments. `own_references`
    are the positions of systems that are references which the measure uses; they have no score
    here. `own_family` and `segment_family` are those of `family_of`; `is_leading`: the measure
    stands for its metric.
    """

    key: str
    label: str
    metric: str
    signature: str
    higher_is_better: bool
    values: Scores
    statistics: Scores | None
    corpus: Corpus | None
    n_outputs: int
    n_missing: int
    warnings: tuple[ScoreWarning, ...] = ()
    systems: Scores | None = None
    is_imported: bool = False
    own_references: tuple[int, ...] = ()
    own_family: str = ""
    segment_family: str = ""
    is_leading: bool = True

    @property
    def is_complete(self) -> bool:
        """Whether every output has a score."""
        return self.n_missing == 0

    @property
    def has_segments(self) -> bool:
        """Whether any output has a score; else there are scores of systems alone."""
        return self.n_missing < self.n_outputs

    def family_of(self, *, is_over_segments: bool) -> str:
        """Return the metric in whose row of tables the measure is."""
        return (self.segment_family if is_over_segments else "") or self.own_family or self.metric

    @property
    def origin(self) -> str:
        """The origin of the scores, in a word for tables."""
        return IMPORTED if self.is_imported else COMPUTED


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """All measures of some systems of a test set; `segments` are ids, in the order of the set."""

    systems: tuple[System, ...]
    segments: tuple[int, ...]
    measures: Mapping[str, MeasureScores]
