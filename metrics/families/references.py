"""Choose the references of a segment that a metric reads, and pool their scores into one.

Pure: neither Django nor torch. A segment's references come in the order of their names.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from metaeval.messages import message
from metrics.base import MetricInfo, Scores, SegmentInput
from metrics.options import Option

Rows = NDArray[np.intp]
CHOICES = ("first", "best", "mean")
LABEL = message("option.references", "Several references")
HELP = message(
    "option.references-help",
    "With first, only the reference that is first by name is used. With best or mean, an output is "
    "scored against each reference, and each value is the best or the mean over them.",
)
HELP_WITH_ALL = message(
    "option.references-help-all",
    "With first, only the reference that is first by name is used. With best or mean, an output is "
    "scored against each reference, and each value is the best or the mean over them. With all, an "
    "n-gram may match any reference, as in BLEU.",
)


def option(default: str, *, with_all: bool = False) -> Option:
    """Return the option of a family; ``with_all`` adds the choice to read all at once."""
    choices = ("all", *CHOICES) if with_all else CHOICES
    about = HELP_WITH_ALL if with_all else HELP
    return Option("references", LABEL, "choice", default, choices, help=about, is_rare=True)


def chosen(info: MetricInfo, references: tuple[str, ...]) -> tuple[str, ...]:
    """Return the references that are read."""
    return references[:1] if info.references == "first" else references


def others(info: MetricInfo, segment: SegmentInput) -> tuple[str, ...]:
    """Return what the output is compared with: its references that are read, or its source."""
    return chosen(info, segment.references) if info.needs_reference else (segment.source,)


def trim(info: MetricInfo, inputs: Sequence[SegmentInput]) -> list[SegmentInput]:
    """Return the inputs with the references that are read and no others."""
    return [replace(each, references=chosen(info, each.references)) for each in inputs]


def apart(info: MetricInfo, inputs: Sequence[SegmentInput]) -> tuple[list[SegmentInput], Rows]:
    """Return an input for each reference that is read, and the (pairs,) row that it is of."""
    pairs = [
        (row, replace(each, references=(text,)))
        for row, each in enumerate(inputs)
        for text in chosen(info, each.references)
    ]
    return [single for _, single in pairs], np.array([row for row, _ in pairs], dtype=np.intp)


def field(info: MetricInfo) -> dict[str, str | int]:
    """Return the field of a signature; empty where no reference is read."""
    return {"references": info.references} if info.references else {}


class Pool:
    """Scores of pairs, in any order and number, as one row for each of ``n`` segments."""

    def __init__(self, info: MetricInfo, n: int) -> None:
        self.is_mean = info.references == "mean"
        self.best = np.maximum if info.higher_is_better else np.minimum
        worst = -np.inf if info.higher_is_better else np.inf
        self.values = np.full((n, info.width), 0.0 if self.is_mean else worst)
        self.counts = np.zeros((n, 1))

    def add(self, rows: Rows | Sequence[int], scores: Scores) -> None:
        """Add (pairs, width) scores of pairs that belong to ``rows``."""
        if self.is_mean:
            np.add.at(self.values, rows, scores)
            np.add.at(self.counts, rows, 1)
        else:
            self.best.at(self.values, rows, scores)

    def result(self) -> Scores:
        """Return (n, width): the mean over a segment's references, otherwise the best."""
        return self.values / self.counts if self.is_mean else self.values


def one_of(info: MetricInfo, values: Sequence[float]) -> float:
    """Return the mean of the values of the references, otherwise the largest."""
    return float(np.mean(values)) if info.references == "mean" else float(np.max(values))


def pool(info: MetricInfo, n: int, rows: Rows | Sequence[int], scores: Scores) -> Scores:
    """Return the (n, width) rows of (pairs, width) scores; see :class:`Pool`."""
    pooled = Pool(info, n)
    pooled.add(rows, scores)
    return pooled.result()
