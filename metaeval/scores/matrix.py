"""Scores as systems x segments matrices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from metaeval.arrays import BoolArray, FloatArray, IntArray, as_floats, mean_along, one_length
from metaeval.documents import clusters_from
from metaeval.messages import data_error
from metaeval.results import ShortRepr


@dataclass(frozen=True, eq=False)
class ScoreMatrix(ShortRepr):
    """Scores of one human measure or one metric.

    Parameters
    ----------
    values
        float64, systems x segments; nan means missing. Copied and made read-only.
    systems, segments
        Names of the rows and of the columns, each unique.
    documents
        The document of each segment, by name. Segments of one document depend on each other, so
        intervals and tests take the document as their unit. A segment with an empty name, and
        every segment where nothing is given, is a document of its own.

    Raises
    ------
    DataError
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
    documents: tuple[str, ...] | None

    def __init__(
        self,
        values: ArrayLike,
        systems: Iterable[str],
        segments: Iterable[str],
        documents: Iterable[str] | None = None,
    ) -> None:
        array = as_floats("values", values, ndim=2).copy()
        array.setflags(write=False)
        object.__setattr__(self, "values", array)
        object.__setattr__(self, "systems", _names("systems", systems, array.shape[0]))
        object.__setattr__(self, "segments", _names("segments", segments, array.shape[1]))
        object.__setattr__(self, "documents", _documents(documents, array.shape[1]))

    @property
    def shape(self) -> tuple[int, int]:
        """(systems, segments)."""
        return len(self.systems), len(self.segments)

    @property
    def mask(self) -> BoolArray:
        """True where a score is present, systems x segments."""
        return ~np.isnan(self.values)

    @cached_property
    def clusters(self) -> IntArray:
        """The number of each segment's document, (segments,): 0, 1, … in order of appearance."""
        return clusters_from(self.documents, len(self.segments))

    def by_segment(self) -> ScoreMatrix:
        """Return the same scores with every segment as a document of its own."""
        return ScoreMatrix(self.values, self.systems, self.segments)

    def subset(
        self, *, systems: Sequence[str] | None = None, segments: Sequence[str] | None = None
    ) -> ScoreMatrix:
        """Return the named rows and columns, in the order given; DataError for an unknown name."""
        rows = _positions("systems", self.systems, systems)
        columns = _positions("segments", self.segments, segments)
        return ScoreMatrix(
            self.values[np.ix_(rows, columns)],
            [self.systems[i] for i in rows],
            [self.segments[j] for j in columns],
            None if self.documents is None else [self.documents[j] for j in columns],
        )

    def system_means(self) -> FloatArray:
        """Mean over the segments present, one per system; nan for a system without scores."""
        return mean_along(self.values, axis=1)

    def segment_means(self) -> FloatArray:
        """Mean over the systems present, one per segment; nan for a segment without scores."""
        return mean_along(self.values, axis=0)

    def at(self, systems: Sequence[str], segments: Sequence[str]) -> FloatArray:
        """Return the values at the places of other names (systems x segments), else nan."""
        return placed(self.values, (self.systems, self.segments), (systems, segments))

    def with_values(self, values: ArrayLike) -> ScoreMatrix:
        """Return a matrix of the same systems and segments with other values."""
        array = as_floats("values", values, ndim=2).copy()
        if array.shape != self.shape:
            return ScoreMatrix(array, self.systems, self.segments, self.documents)
        array.setflags(write=False)
        found = copy(self)  # Its names are known to be unique.
        object.__setattr__(found, "values", array)
        return found

    @classmethod
    def from_mapping(cls, scores: Mapping[str, ArrayLike]) -> ScoreMatrix:
        """Return the matrix of system -> scores of segments 1..N, all of one length."""
        rows = [as_floats(f"scores[{name!r}]", row, ndim=1) for name, row in scores.items()]
        if len({len(row) for row in rows}) > 1:
            other = next(at for at, row in enumerate(rows) if len(row) != len(rows[0]))
            raise data_error(
                "data.lengths-differ",
                "{one} has {n_one} segments, but {other} has {n_other}.",
                one=next(iter(scores)),
                n_one=len(rows[0]),
                other=list(scores)[other],
                n_other=len(rows[other]),
            )
        width = len(rows[0]) if rows else 0
        values = np.array(rows).reshape(len(rows), width)
        return cls(values, scores, [str(j + 1) for j in range(width)])


def align(first: ScoreMatrix, *others: ScoreMatrix) -> tuple[ScoreMatrix, ...]:
    """Return the matrices cut to the systems and segments all have, in the first's order."""
    if all((o.systems, o.segments) == (first.systems, first.segments) for o in others):
        return first, *others
    systems = [name for name in first.systems if all(name in o.systems for o in others)]
    common = set(first.segments).intersection(*(o.segments for o in others))
    segments = [name for name in first.segments if name in common]
    return tuple(
        matrix
        if matrix.systems == tuple(systems) and matrix.segments == tuple(segments)
        else matrix.subset(systems=systems, segments=segments)
        for matrix in (first, *others)
    )


def placed(
    values: FloatArray, own: tuple[Sequence[str], ...], wanted: tuple[Sequence[str], ...]
) -> FloatArray:
    """Return systems x segments (x k) values in the order of other names; nan for unknown ones."""
    if all(tuple(theirs) == tuple(ours) for ours, theirs in zip(own, wanted, strict=True)):
        return values
    padded = np.pad(values, [(0, 1), (0, 1)] + [(0, 0)] * (values.ndim - 2), constant_values=np.nan)
    places = [dict(zip(names, range(len(names)), strict=True)) for names in own]
    at = [[of.get(name, -1) for name in names] for of, names in zip(places, wanted, strict=True)]
    return np.asarray(padded[np.ix_(*(np.array(each, dtype=np.int64) for each in at))])


def _names(name: str, labels: Iterable[str], expected: int) -> tuple[str, ...]:
    names = tuple(map(str, labels))
    one_length(**{name: names, "values": range(expected)})
    if len(set(names)) != len(names):
        seen: set[str] = set()
        double = next(label for label in names if label in seen or seen.add(label))  # type: ignore[func-returns-value]
        raise data_error("data.twice", "{name}: “{double}” occurs twice.", name=name, double=double)
    return names


def _documents(documents: Iterable[str] | None, expected: int) -> tuple[str, ...] | None:
    if documents is None:
        return None
    names = tuple(map(str, documents))
    one_length(documents=names, segments=range(expected))
    return names


def _positions(name: str, names: tuple[str, ...], wanted: Sequence[str] | None) -> list[int]:
    if wanted is None:
        return list(range(len(names)))
    index = {label: position for position, label in enumerate(names)}
    for label in wanted:
        if label not in index:
            raise data_error(
                "data.unknown", "{name}: there is no “{label}”.", name=name, label=label
            )
    return [index[label] for label in wanted]
