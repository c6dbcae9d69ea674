"""Record which outputs a metric truncated because a text is longer than its limit.

A model reads a limited number of tokens: two outputs that differ only after that get the same
score. Pure: neither Django nor torch.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

from metaeval.messages import plural
from metrics.base import MetricInfo, Scores, ScoreWarning, SegmentInput

Subject = TypeVar("Subject")
# Families without a model, which read texts of any length. Metrics without a family are lexical.
UNLIMITED = frozenset(
    (
        *("", "lexical", "sentbleu-wmt", "floor", "wmd", "yisi-0", "yisi-static"),
        *("trained-sentinel", "ibm1"),
    )
)
# A metric's input is one output with its source and references; True where any was truncated.
Mark = bool | None


@runtime_checkable
class NamesTruncated(Protocol):
    """A metric that tells which inputs of its last call it truncated, by their positions.

    An input counts if one of its texts, or all together, are longer than the limit.
    """

    truncated: Collection[int]


_noted: ContextVar[set[str] | None] = ContextVar("noted", default=None)


def note(text: str) -> None:
    """Record that a text was truncated, if the caller is :func:`noting`."""
    noted = _noted.get()
    if noted is not None:
        noted.add(text)


@contextmanager
def noting() -> Iterator[set[str]]:
    """Collect the texts that are truncated meanwhile."""
    texts: set[str] = set()
    token = _noted.set(texts)
    try:
        yield texts
    finally:
        _noted.reset(token)


def reported(
    score: Callable[[Subject, Sequence[SegmentInput]], Scores],
) -> Callable[[Subject, Sequence[SegmentInput]], Scores]:
    """Make a metric's ``score`` set ``truncated`` from the texts that are noted during the call."""

    @wraps(score)
    def reporting(metric: Subject, inputs: Sequence[SegmentInput]) -> Scores:
        with noting() as texts:
            rows = score(metric, inputs)
        subject: Any = metric
        subject.truncated = [
            position
            for position, each in enumerate(inputs)
            if texts and not texts.isdisjoint(read(subject.info, each))
        ]
        return rows

    return reporting


def read(info: MetricInfo, segment: SegmentInput) -> list[str]:
    """Return the texts of an input that a metric reads: output, source, references."""
    references = segment.references[:1] if info.references == "first" else segment.references
    return [
        segment.hypothesis,
        *([segment.source] if info.needs_source else []),
        *(references if info.needs_reference else []),
    ]


def is_unlimited(info: MetricInfo) -> bool:
    """Return True for a metric that reads texts of any length."""
    return info.family in UNLIMITED and not info.checkpoint


def marks(metric: Any, n: int) -> list[Mark]:
    """Return for each of the ``n`` inputs of a metric's last call whether it was truncated.

    None if the metric does not tell.
    """
    if is_unlimited(metric.info):
        return [False] * n
    if not isinstance(metric, NamesTruncated) or metric.truncated is None:
        return [None] * n
    truncated = frozenset(metric.truncated)
    return [position in truncated for position in range(n)]


@dataclass(frozen=True)
class Counts:
    """Numbers of outputs: with a score, with a text beyond the metric's limit, and unknown.

    ``in_parts`` is True if the metric reads texts beyond its limit in parts
    (:mod:`metrics.families.long_texts`); otherwise it truncates them.
    """

    n_scored: int
    n_truncated: int
    n_unknown: int
    in_parts: bool = False

    @classmethod
    def of(cls, info: MetricInfo | None, counted: Mapping[Mark, int]) -> Self:
        """Return the counts from the numbers of scores by mark.

        A metric that reads texts of any length truncated none, with or without stored marks.
        """
        is_known = info is not None and is_unlimited(info)
        n_unknown = 0 if is_known else counted.get(None, 0)
        in_parts = info is not None and info.reads_long_texts
        return cls(sum(counted.values()), counted.get(True, 0), n_unknown, in_parts)

    def warnings(self, label: str) -> tuple[ScoreWarning, ...]:
        """Return what readers of a metric's scores must know; nothing if it read all texts."""
        found = []
        if self.n_truncated and self.in_parts:
            about = plural(
                "scores.in-parts",
                "{metric} scored {n} of {total} outputs in parts, because a text is longer than "
                "its limit. The score is the mean over the parts.",
                "{metric} scored {n} of {total} outputs in parts, because these texts are longer "
                "than its limit. Each score is the mean over the parts.",
                n=self.n_truncated,
                metric=label,
                total=self.n_scored,
            )
            found.append(ScoreWarning("in_parts", about))
        elif self.n_truncated:
            about = plural(
                "scores.truncated",
                "{metric} truncated the output, source or reference of {n} of {total} outputs, "
                "because a text is longer than its limit. Text after the limit does not change "
                "the score.",
                "{metric} truncated the output, source or reference of {n} of {total} outputs, "
                "because these texts are longer than its limit. Text after the limit does not "
                "change the score.",
                n=self.n_truncated,
                metric=label,
                total=self.n_scored,
            )
            found.append(ScoreWarning("truncated", about))
        if self.n_unknown:
            about = plural(
                "scores.truncation-unknown",
                "{metric}: it is unknown whether {n} of {total} outputs was truncated.",
                "{metric}: it is unknown whether {n} of {total} outputs were truncated.",
                n=self.n_unknown,
                metric=label,
                total=self.n_scored,
            )
            found.append(ScoreWarning("truncation_unknown", about))
        return tuple(found)
