"""Scores as systems x segments matrices."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metaeval.arrays import BoolArray, FloatArray, IntArray, as_floats, factorize
from metaeval.results import MissingDataWarning, Notes, Result


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """Scores of one human measure or one metric.

    Parameters
    ----------
    values
        float64, systems x segments; nan means missing. Copied and made read-only.
    systems, segments
        Names of the rows and of the columns, each unique.

    Raises
    ------
    ValueError
        If shapes and names disagree, a name occurs twice, or a value is infinite.

    Examples
    --------
    >>> matrix = ScoreMatrix([[1.0, 2.0], [3.0, float("nan")]], ["A", "B"], ["s1", "s2"])
    >>> matrix.shape, int(matrix.mask.sum())
    ((2, 2), 3)
    >>> matrix.subset(systems=["A"]).values.tolist()
    [[1.0, 2.0]]
    """

    values: FloatArray
    systems: tuple[str, ...]
    segments: tuple[str, ...]

    def __init__(self, values: ArrayLike, systems: Iterable[str], segments: Iterable[str]) -> None:
        array = as_floats("values", values, ndim=2).copy()
        array.setflags(write=False)
        object.__setattr__(self, "values", array)
        object.__setattr__(self, "systems", _names("systems", systems, array.shape[0]))
        object.__setattr__(self, "segments", _names("segments", segments, array.shape[1]))

    @property
    def shape(self) -> tuple[int, int]:
        """(systems, segments)."""
        return len(self.systems), len(self.segments)

    @property
    def mask(self) -> BoolArray:
        """True where a score is present, systems x segments."""
        return ~np.isnan(self.values)

    def subset(
        self, *, systems: Sequence[str] | None = None, segments: Sequence[str] | None = None
    ) -> ScoreMatrix:
        """Return the named rows and columns, in the order given; KeyError names a stranger."""
        rows = _positions("systems", self.systems, systems)
        columns = _positions("segments", self.segments, segments)
        return ScoreMatrix(
            self.values[np.ix_(rows, columns)],
            [self.systems[i] for i in rows],
            [self.segments[j] for j in columns],
        )

    def system_means(self) -> FloatArray:
        """Mean over the segments present, one per system; nan for a system without scores."""
        return _means(self.values, axis=1)

    def segment_means(self) -> FloatArray:
        """Mean over the systems present, one per segment; nan for a segment without scores."""
        return _means(self.values, axis=0)

    def with_values(self, values: ArrayLike) -> ScoreMatrix:
        """Return a matrix of the same systems and segments with other values."""
        return ScoreMatrix(values, self.systems, self.segments)

    @classmethod
    def from_mapping(cls, scores: Mapping[str, ArrayLike]) -> ScoreMatrix:
        """Return the matrix of system -> scores of segments 1..N, all of one length."""
        rows = [as_floats(f"scores[{name!r}]", row, ndim=1) for name, row in scores.items()]
        if len({len(row) for row in rows}) > 1:
            lengths = {name: len(row) for name, row in zip(scores, rows, strict=True)}
            raise ValueError(f"scores: systems have different numbers of segments: {lengths}")
        width = len(rows[0]) if rows else 0
        values = np.array(rows).reshape(len(rows), width)
        return cls(values, scores, [str(j + 1) for j in range(width)])


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanScores(Result):
    """Judgments averaged per system and segment.

    ``matrix`` holds the means, ``counts`` (systems x segments) the judgments behind each;
    ``system_scores`` is the mean of a system's segment means, ``judgment_means`` the mean of all
    its judgments, which weighs segments by their redundancy. ``n`` counts judgments.
    """

    matrix: ScoreMatrix
    counts: IntArray
    system_scores: FloatArray
    judgment_means: FloatArray


def mean_scores(
    scores: ArrayLike, systems: Iterable[Hashable], segments: Iterable[Hashable]
) -> MeanScores:
    """Average judgments (long form) per system and segment.

    The segment score is the plain mean over the judgments present, the system score the mean of
    its segment scores (Barrault et al. 2021, findings of WMT21, section 3).

    Parameters
    ----------
    scores
        One number per judgment, raw or z; nan judgments are excluded and counted.
    systems, segments
        The labels of each judgment; rows and columns come out sorted.

    Examples
    --------
    >>> result = mean_scores([10, 20, 60], ["A", "A", "A"], ["s1", "s1", "s2"])
    >>> result.matrix.values.tolist(), result.system_scores.tolist()
    ([[15.0, 60.0]], [37.5])
    """
    values = as_floats("scores", scores, ndim=1)
    row_names, rows = factorize(systems)
    column_names, columns = factorize(segments)
    if not len(values) == len(rows) == len(columns):
        raise ValueError(
            f"scores, systems and segments must have one length, "
            f"got {len(values)}, {len(rows)}, {len(columns)}"
        )
    notes = Notes()
    present = ~np.isnan(values)
    notes.exclude("missing score", int((~present).sum()))
    shape = (len(row_names), len(column_names))
    cells = (rows * shape[1] + columns)[present]
    counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    sums = np.bincount(cells, weights=values[present], minlength=counts.size).reshape(shape)
    means = _divide(sums, counts)
    judgment_means = _divide(sums.sum(axis=1), counts.sum(axis=1))
    if np.isnan(judgment_means).any():
        empty = [str(row_names[i]) for i in np.flatnonzero(np.isnan(judgment_means))]
        notes.warn(MissingDataWarning(f"No judgment at all for: {', '.join(empty)}."))
    return MeanScores(
        n=int(present.sum()),
        reasons=notes.reasons,
        warnings=notes.warnings,
        matrix=ScoreMatrix(means, map(str, row_names), map(str, column_names)),
        counts=counts.astype(np.int64),
        system_scores=_means(means, axis=1),
        judgment_means=judgment_means,
    )


def align(first: ScoreMatrix, *others: ScoreMatrix) -> tuple[ScoreMatrix, ...]:
    """Return the matrices cut to the systems and segments all have, in the first's order."""
    systems = [name for name in first.systems if all(name in o.systems for o in others)]
    common = set(first.segments).intersection(*(o.segments for o in others))
    segments = [name for name in first.segments if name in common]
    return tuple(
        matrix
        if matrix.systems == tuple(systems) and matrix.segments == tuple(segments)
        else matrix.subset(systems=systems, segments=segments)
        for matrix in (first, *others)
    )


def _names(name: str, labels: Iterable[str], expected: int) -> tuple[str, ...]:
    names = tuple(str(label) for label in labels)
    if len(names) != expected:
        raise ValueError(f"{name}: {len(names)} names for {expected} entries of values")
    if len(set(names)) != len(names):
        seen: set[str] = set()
        double = next(label for label in names if label in seen or seen.add(label))  # type: ignore[func-returns-value]
        raise ValueError(f"{name}: {double!r} occurs twice")
    return names


def _positions(name: str, names: tuple[str, ...], wanted: Sequence[str] | None) -> list[int]:
    if wanted is None:
        return list(range(len(names)))
    index = {label: position for position, label in enumerate(names)}
    for label in wanted:
        if label not in index:
            raise KeyError(f"{name}: no {label!r} in this matrix")
    return [index[label] for label in wanted]


def _divide(sums: NDArray[Any], counts: NDArray[Any]) -> FloatArray:
    result = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=result, where=counts > 0)
    return result


def _means(values: FloatArray, *, axis: int) -> FloatArray:
    present = ~np.isnan(values)
    return _divide(np.where(present, values, 0.0).sum(axis=axis), present.sum(axis=axis))
