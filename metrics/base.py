"""What a metric is: its description, its input, its protocol and its errors.

Pure: neither Django nor torch, so that the web process and a worker read the same descriptions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


class MetricError(Exception):
    """A metric cannot score.

    ``permanent`` is true where a retry cannot help (missing reference, missing package), false
    where it may (out of memory). ``index`` is the position in the given inputs of the segment at
    fault, where one segment is.
    """

    def __init__(self, message: str, *, permanent: bool, index: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.permanent = permanent
        self.index = index


class MetricWarning(UserWarning):
    """A value is defined, but not by the usual computation; the message says how and how often."""


@dataclass(frozen=True)
class MetricInfo:
    """One row of the registry.

    ``measures`` are the keys of the segment-level values in column order, unique over all metrics,
    and ``measure_labels`` their names for people. ``statistics`` name the sufficient statistics
    that are added over segments before :meth:`Metric.corpus`; where empty, a system's score is the
    mean of its segments.
    """

    name: str
    label: str
    measures: tuple[str, ...]
    measure_labels: tuple[str, ...]
    statistics: tuple[str, ...]
    higher_is_better: bool
    needs_source: bool
    needs_reference: bool
    queue: str = "cpu"
    description: str = ""
    citation: str = ""

    def __post_init__(self) -> None:
        if len(self.measures) != len(self.measure_labels):
            raise ValueError(f"measure_labels of {self.name!r}: one label per measure is needed")

    @property
    def width(self) -> int:
        """Number of columns that :meth:`Metric.score` returns."""
        return len(self.measures) + len(self.statistics)


@dataclass(frozen=True)
class SegmentInput:
    """One output of one system: source, hypothesis and any number of references."""

    source: str
    hypothesis: str
    references: tuple[str, ...]


class Metric(Protocol):
    """What the registry loads."""

    info: MetricInfo

    def signature(self) -> str:
        """Everything that changes a value, as ``name|key:value|…|version:…``."""
        ...

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return float64 (n, measures + statistics); :class:`MetricError` where impossible."""
        ...

    def corpus(self, summed: Scores) -> Scores:
        """Turn (h, statistics) sums into (h, measures) scores of h (hybrid) systems."""
        ...


class MeanOfSegments:
    """The corpus side of a metric without sufficient statistics."""

    info: MetricInfo

    def corpus(self, summed: Scores) -> Scores:
        """Refuse: the system score is the mean of the segment scores."""
        raise MetricError(
            f"{self.info.label} has no corpus statistics: its system score is the mean of segments",
            permanent=True,
        )


def format_signature(name: str, fields: Mapping[str, str | int]) -> str:
    """Join a metric's name and its settings, in the given order, as sacrebleu does."""
    return "|".join([name, *(f"{key}:{value}" for key, value in fields.items())])


def check_inputs(info: MetricInfo, inputs: Sequence[SegmentInput]) -> None:
    """Raise a permanent :class:`MetricError` for the first segment that ``info`` cannot score."""
    for index, segment in enumerate(inputs):
        if info.needs_reference and not segment.references:
            raise MetricError(
                f"{info.label}: segment {index} of the batch has no reference",
                permanent=True,
                index=index,
            )
        for field, text in _texts(segment):
            if not _is_encodable(text):
                raise MetricError(
                    f"{info.label}: {field} of segment {index} of the batch holds a lone surrogate",
                    permanent=True,
                    index=index,
                )


def _texts(segment: SegmentInput) -> Iterator[tuple[str, str]]:
    yield "source", segment.source
    yield "hypothesis", segment.hypothesis
    for number, reference in enumerate(segment.references, start=1):
        yield f"reference {number}", reference


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def group_by_references(inputs: Sequence[SegmentInput]) -> dict[tuple[str, ...], list[int]]:
    """Map each set of references to the positions that use it, so it is prepared only once."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, segment in enumerate(inputs):
        groups.setdefault(segment.references, []).append(index)
    return groups
