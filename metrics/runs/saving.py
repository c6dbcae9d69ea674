"""Hold the metric in memory, and store scores together with the end of their slice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from django.db import transaction
from numpy.typing import NDArray

from metrics.base import Metric, Scores
from metrics.error_spans import Spans
from metrics.models import MetricSignature
from metrics.scores import store_scores
from metrics.spans.stored import store_spans
from metrics.truncation import Mark


@dataclass
class Loaded:
    """A metric in the memory of this process, for one run, and how fast it is."""

    run_id: int
    metric: Metric
    signature: MetricSignature
    rate: float = 0.0
    notified_at: float = 0.0

    def measure(self, n_contents: int, seconds: float) -> None:
        """Include contents that were scored in `seconds` in the rate."""
        rate = n_contents / max(seconds, 1e-3)
        self.rate = 0.7 * self.rate + 0.3 * rate if self.rate else rate


def store(
    signature: MetricSignature,
    keys: Sequence[str],
    rows: Scores,
    spans: Sequence[Spans] | None,
    good: NDArray[np.bool_],
    marks: Sequence[Mark],
    complete: Callable[[], object],
) -> None:
    """Store scores and spans of contents that are `good`, and the end of their slice, together.

    `marks` say which were truncated (:func:`metrics.truncation.marks`).

    Scores stay even where the slice is lost.
    """
    good_keys = list(compress(keys, good))
    with transaction.atomic():
        if spans is not None:
            store_spans(signature, good_keys, list(compress(spans, good)))
        store_scores(signature, good_keys, rows[good], list(compress(marks, good)))
        complete()
