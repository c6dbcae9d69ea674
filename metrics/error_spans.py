"""Define error spans as data, and how a metric returns them. Imports neither Django nor torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from metrics.base import Scores, SegmentInput

TARGET, SOURCE, MISSING = "target", "source", "missing"
SIDES = (TARGET, SOURCE, MISSING)
LONGEST_SEVERITY, LONGEST_CATEGORY = 20, 80


@dataclass(frozen=True)
class FoundSpan:
    """An error that a metric found: [start, end) in Unicode code points of the text as stored.

    `side` TARGET marks the output and SOURCE the source; MISSING is an omission, whose position, if
    known, is in the source. `start` and `end` are 0 for an error without a position. `confidence`
    is in [0, 1], None if the metric has none. Raises ValueError for other values.
    """

    side: str
    start: int
    end: int
    severity: str
    category: str = ""
    confidence: float | None = None

    def __post_init__(self) -> None:
        if self.side not in SIDES:
            raise ValueError(f"side {self.side!r} of a span is none of {', '.join(SIDES)}")
        if not (0 <= self.start < self.end or self.start == self.end == 0):
            raise ValueError(f"a span [{self.start}, {self.end}) marks nothing")
        if not 0 < len(self.severity) <= LONGEST_SEVERITY or len(self.category) > LONGEST_CATEGORY:
            raise ValueError("severity or category of a span is empty or too long")
        if self.confidence is not None and not 0 <= self.confidence <= 1:
            raise ValueError(f"confidence {self.confidence} of a span is outside [0, 1]")

    @property
    def has_place(self) -> bool:
        """Whether it marks characters."""
        return self.end > self.start


Spans = Sequence[FoundSpan]


@runtime_checkable
class FindsSpans(Protocol):
    """A metric that returns spans with its scores."""

    def score_with_spans(
        self, inputs: Sequence[SegmentInput]
    ) -> tuple[Scores, Sequence[Spans] | None]:
        """Return the scores as :meth:`Metric.score` does, and the spans of each input.

        An empty list means that nothing was found, None that the metric marks no spans. Spans of
        inputs whose scores are not finite are discarded.
        """
        ...
