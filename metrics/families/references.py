"""Choose the references of a segment that a metric uses, and pool their scores.

Imports neither Django nor torch. References are ordered by their names.
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
    """Return the option of a family; ``with_all`` adds the choice to use all at once."""
    choices = ("all", *CHOICES) if with_all else CHOICES
    about = HELP_WITH_ALL if with_all else HELP
    return Option("references", LABEL, "choice", default, choices, help=about, is_rare=True)


def chosen(info: MetricInfo, references: tuple[str, ...]) -> tuple[str, ...]:
    """Return the references that are used."""
    return references[:1] if info.references == "first" else references


def others(info: MetricInfo, segment: SegmentInput) -> tuple[str, ...]:
    """Return the texts that the output is compared with: the references used, or the source."""
    return chosen(info, segment.references) if info.needs_reference else (segment.source,)


def trim(info: MetricInfo, inputs: Sequence[SegmentInput]) -> list[SegmentInput]:
    """Return the inputs with only the references that are used."""
    return [replace(each, references=chosen(info, each.references)) for each in inputs]


def apart(info: MetricInfo, inputs: Sequence[SegmentInput]) -> tuple[list[SegmentInput], Rows]:
    """Return an input for each reference that is used, and its row, (pairs,)."""
    pairs = [
        (row, replace(each, references=(text,)))
        for row, each in enumerate(inputs)
        for text in chosen(info, each.references)
    ]
    return [single for _, single in pairs], np.array([row for row, _ in pairs], dtype=np.intp)


def field(info: MetricInfo) -> dict[str, str | int]:
    """Return the field of a signature; empty if no reference is used."""
    return {"references": info.references} if info.references else {}


class Pool:
    """Collect scores of pairs, in any order and number, into one row for each of ``n`` segments."""

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
        """Return (n, width): the mean over a segment's references, or else the best."""
        return self.values / self.counts if self.is_mean else self.values


def one_of(info: MetricInfo, values: Sequence[float]) -> float:
    """Return the mean of the values of the references, or else the largest."""
    return float(np.mean(values)) if info.references == "mean" else float(np.max(values))


def pool(info: MetricInfo, n: int, rows: Rows | Sequence[int], scores: Scores) -> Scores:
    """Return the (n, width) rows of (pairs, width) scores; see :class:`Pool`."""
    pooled = Pool(info, n)
    pooled.add(rows, scores)
    return pooled.result()
