"""Hold the metric in memory, store scores with the end of their slice, and call metrics back."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from django.db import transaction
from numpy.typing import NDArray

from metrics.base import HearsOfScores, Metric, Scores
from metrics.error_spans import Spans
from metrics.models import MetricSignature, Slice
from metrics.scores import store_scores
from metrics.spans.stored import store_spans
from metrics.truncation import Mark

logger = logging.getLogger(__name__)
INTERVAL_SECONDS = 20.0


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


def notify_at_intervals(metric: Metric, row: Slice, notified_at: float) -> float:
    """Call a metric back after a slice, at intervals and at the end of its run.

    Returns the time of the last call.
    """
    is_over = not row.run.slices.exists()
    if not is_over and time.monotonic() - notified_at < INTERVAL_SECONDS:
        return notified_at
    notify(metric)
    return time.monotonic()


def notify(metric: Metric) -> None:
    """Call a metric back if it has a callback; log its exceptions."""
    if not isinstance(metric, HearsOfScores):
        return
    try:
        metric.stored()
    except Exception:
        # The scores are stored: a fault of the callback must not undo that.
        logger.exception("The callback of %s failed", metric.info.label)
