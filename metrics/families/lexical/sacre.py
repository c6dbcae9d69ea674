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

    Statistics are counted for many texts at once, where sacrebleu counts text by text; tests
    compare them with its ``sentence_score`` and ``corpus_score``. Texts are prepared by the hook
    that its abstract base class defines for subclasses.
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
        groups = group_by_references(inputs)
        prepare = self.scorer._preprocess_segment
        texts = [
            [prepare(text) for text in (*references, *(inputs[k].hypothesis for k in indices))]
            for references, indices in groups.items()
        ]
        rows = np.empty((len(inputs), self.n_statistics))
        if inputs:
            order = [index for indices in groups.values() for index in indices]
            rows[order] = self.counted(texts, [*map(len, groups)])
        return rows

    @abstractmethod
    def counted(self, groups: Sequence[Sequence[str]], references: Sequence[int]) -> Scores:
        """Return the statistics of the hypotheses of all groups, one group after another.

        A group has preprocessed texts, ``references`` says how many of them are its references,
        which come first.
        """
