"""Adapt sacrebleu's metrics: statistics per segment, and scores from their sums."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from sacrebleu.metrics.base import Metric as SacrebleuMetric

from metrics.base import MetricInfo, Scores, SegmentInput, check_inputs, group_by_references


class SacreMetric(ABC):
    """A metric whose segment statistics come from ``scorer``, a metric object of sacrebleu.

    The scorer is made when it is first needed: corpus scores need no tokenizer.

    No public method of sacrebleu returns chrF's statistics, so the three hooks that its abstract
    base class defines for subclasses are called here; tests compare them with ``sentence_score``
    and ``corpus_score``.
    """

    n_statistics: int

    def __init__(self, info: MetricInfo, make: Callable[[], SacrebleuMetric]) -> None:
        self.info = info
        self._make = make

    @cached_property
    def scorer(self) -> Any:
        """Return the metric object of sacrebleu."""
        return self._make()

    @abstractmethod
    def signature(self) -> str:
        """See :class:`metrics.base.Metric`."""

    @abstractmethod
    def segments(self, statistics: Scores) -> Scores:
        """Turn (n, k) statistics of segments into (n, 1) segment scores."""

    @abstractmethod
    def corpus(self, summed: Scores) -> Scores:
        """Turn (h, k) summed statistics into (h, 1) corpus scores."""

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, 1 + k): the segment score and, where the info names them, its statistics."""
        check_inputs(self.info, inputs)
        statistics = self.statistics(inputs)
        values = self.segments(statistics)
        return np.hstack([values, statistics]) if self.info.statistics else values

    def statistics(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return statistics, (n, k); each set of references is prepared once."""
        rows: list[Sequence[float]] = [()] * len(inputs)
        for reference_texts, indices in group_by_references(inputs).items():
            texts = [self.scorer._preprocess_segment(text) for text in reference_texts]
            prepared = self.scorer._extract_reference_info(texts)
            for index in indices:
                text = self.scorer._preprocess_segment(inputs[index].hypothesis)
                rows[index] = self.row(text, prepared)
        return np.array(rows, dtype=np.float64).reshape(len(inputs), self.n_statistics)

    def row(self, hypothesis: str, references: dict[str, Any]) -> Sequence[float]:
        """Return the statistics of a preprocessed hypothesis against prepared references."""
        statistics: Sequence[float] = self.scorer._compute_segment_statistics(
            hypothesis, references
        )
        return statistics
