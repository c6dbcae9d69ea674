"""Arrange outputs in a grid of systems × segments."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db.models import Count, Max
from numpy.typing import NDArray

from annotation.models import Output, System
from core.caching import Cache, memo
from metaeval.arrays import positions
from metrics.base import IMPORTED, Scores, ScoreWarning

Corpus = Callable[[Scores], Scores]
COMPUTED = "computed"


@dataclass(frozen=True, eq=False)
class MeasureScores:
    """One measure over systems and segments.

    `values` is systems × segments, nan without an output or a score. If the system score is not the
    mean of segments, `statistics` is systems × segments × k and `corpus` turns (h, k) sums over
    segments into (h,) scores; otherwise both are None. `systems` has imported system scores (nan
    for systems without one). They replace the means, but only for all segments. `parts` has
    imported scores of documents and domains, one per system, by level and name. `own_references`
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
    parts: Mapping[tuple[str, str], Scores] = field(default_factory=dict)
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


NOTHING = -1
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
BYTES = 32 * 2**20


@dataclass(frozen=True, eq=False)
class Grid:
    """Outputs over systems × segments, in the order that was asked for.

    `outputs` holds primary keys, NOTHING where a system has no output for a segment. The n outputs
    that there are occupy `cells` of the flattened grid and have the content `keys`. `state` is the
    same for the same outputs in the same cells.
    """

    outputs: Integers
    cells: NDArray[np.intp]
    keys: Sequence[str]
    state: tuple[Any, ...]

    def spread(self, found: Floats) -> Floats:
        """Return (n, …) numbers of the outputs as systems × segments (× …), else nan."""
        table = np.full((self.outputs.size, *found.shape[1:]), np.nan)
        table[self.cells] = found
        return table.reshape(*self.outputs.shape, *found.shape[1:])

    def placed(self, outputs: Integers, values: Floats) -> Floats:
        """Return values of some outputs, by primary key, as systems × segments, else nan."""
        places = self.places(outputs)
        table = np.full(self.outputs.size, np.nan)
        table[places[places != NOTHING]] = values[places != NOTHING]
        return table.reshape(self.outputs.shape)

    def places(self, outputs: Integers) -> Integers:
        """Return the cells of some outputs in the flattened grid, NOTHING for unknown ones."""
        found = positions(self.outputs.ravel()[self.cells], outputs)
        return np.append(self.cells, NOTHING)[found]


_cache: Cache[Grid] = Cache(BYTES, keeps_newest=True)


@memo
def read_grid(systems: tuple[System, ...], segments: tuple[int, ...]) -> Grid:
    """Return the grid of some systems; outputs never change, so a cached grid is only counted."""
    rows = Output.objects.filter(system__in=systems).order_by()
    there = tuple(rows.aggregate(Count("pk"), Max("pk")).values())
    state = (tuple(system.pk for system in systems), segments, *there)
    found = _cache.get(state)
    if found is None:
        found = _read(state, list(rows.values_list("content_key", "pk", "system_id", "segment_id")))
        # A content key is 64 characters, and there are two numbers an output.
        _cache.put(state, found, len(found.keys) * 136 + found.outputs.nbytes)
    return found


def _read(state: tuple[Any, ...], rows: Sequence[tuple[str, int, int, int]]) -> Grid:
    systems, segments = state[:2]
    row_of = {system: row for row, system in enumerate(systems)}
    column_of = {segment: column for column, segment in enumerate(segments)}
    cells = [row_of[system] * len(segments) + column_of[segment] for *_, system, segment in rows]
    outputs = np.full(len(systems) * len(segments), NOTHING, dtype=np.int64)
    outputs[cells] = [pk for _, pk, _, _ in rows]
    outputs.flags.writeable = False
    shape = (len(systems), len(segments))
    keys = [key for key, *_ in rows]
    return Grid(outputs.reshape(shape), np.array(cells, dtype=np.intp), keys, state)
