"""Share lexical weights, n-grams and references between the variants of YiSi.

Raises :class:`metrics.base.MetricError` for files of sentences that cannot be read.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from extensions.neural import files
from extensions.neural.slices import score_in_slices
from extensions.neural.yisi.core import LexicalWeights, combine, precision_recall
from metrics import truncation
from metrics.base import (
    MeanOfSegments,
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
)
from metrics.families import references

Array = NDArray[np.float64]
Cut = Callable[[str], Sequence[str]]
Compare = Callable[[str, str], tuple[Array, Sequence[str], Sequence[str]]]
# Increase it with every change that alters a value.
REVISION = 1


@dataclass(frozen=True)
class Tables:
    """Hold the lexical weights of the compared text and of the output.

    ``digest`` identifies their files.
    """

    other: LexicalWeights
    output: LexicalWeights
    digest: str


def load_tables(info: MetricInfo, cut_other: Cut, cut_output: Cut) -> Tables:
    """Learn weights from the files of the options; without files every unit has weight 1.

    If outputs are compared with references, one file serves both sides unless there is one for
    outputs.
    """
    other, output = str(info.option("weights")), str(info.option("output-weights"))
    if not other:
        return Tables(LexicalWeights(), LexicalWeights(), "uniform")
    first = files.read(other)
    second = files.read(output) if output else first
    tables = [
        LexicalWeights(cut(line) for line in file.lines)
        for file, cut in ((first, cut_other), (second, cut_output))
    ]
    return Tables(tables[0], tables[1], f"{first.digest}-{second.digest}")


class Yisi(MeanOfSegments, ABC):
    """Compute YiSi of outputs against sources or references; a text without units scores 0."""

    tables: Tables
    revision = REVISION

    def __init__(self, info: MetricInfo) -> None:
        self.info = info
        self.order, self.alpha = int(info.option("order")), float(info.option("alpha"))

    @abstractmethod
    def fields(self) -> dict[str, str | int]:
        """Return the fields of a signature for the units."""

    @abstractmethod
    def prepare(self, outputs: Sequence[str], others: Sequence[str]) -> Compare:
        """Return a function of (other text, output): similarities and both sides' units."""

    def signature(self) -> str:
        """Return everything that changes a value."""
        shared: dict[str, str | int] = {
            "n": self.order,
            "alpha": f"{self.alpha:g}",
            "against": "reference" if self.info.needs_reference else "source",
            "weights": self.tables.digest,
            **references.field(self.info),
            "revision": self.revision,
        }
        return format_signature(self.info.name, self.fields() | shared)

    @truncation.reported
    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return scores, (n, 1); see :meth:`_value` for several references."""
        check_inputs(self.info, inputs)
        return score_in_slices(self._score, inputs)

    def _score(self, inputs: Sequence[SegmentInput]) -> Scores:
        others = [references.others(self.info, segment) for segment in inputs]
        outputs = [segment.hypothesis for segment in inputs]
        compare = self.prepare(outputs, [text for texts in others for text in texts])
        values = [
            self._value([self._match(compare, text, output) for text in texts])
            for output, texts in zip(outputs, others, strict=True)
        ]
        return np.array(values, dtype=np.float64).reshape(-1, 1)

    def _match(self, compare: Compare, other: str, output: str) -> tuple[float, float]:
        similarity, left, right = compare(other, output)
        weights = self.tables.other.of(left), self.tables.output.of(right)
        return precision_recall(similarity, *weights, self.order)

    def _value(self, matched: Sequence[tuple[float, float]]) -> float:
        """Combine the largest precision and recall over the references, or return the mean."""
        if self.info.references == "mean":
            return float(np.mean([combine(p, r, self.alpha) for p, r in matched]))
        precision, recall = np.max(matched, axis=0).tolist()
        return combine(precision, recall, self.alpha)
