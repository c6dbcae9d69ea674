"""Metrics that want to know of the scores that were stored of them (`HearsOfScores`)."""

import logging
import time

from metrics.base import HearsOfScores, Metric
from metrics.models import Slice

logger = logging.getLogger(__name__)
TELL_SECONDS = 20.0


def tell_now_and_then(metric: Metric, row: Slice, told_at: float) -> float:
    """Tell a metric after a slice, and at the end of its run; return when it was told last."""
    is_over = not row.run.slices.exists()
    if not is_over and time.monotonic() - told_at < TELL_SECONDS:
        return told_at
    tell(metric)
    return time.monotonic()


def tell(metric: Metric) -> None:
    """Tell a metric, if it wants to know; what it raises is logged."""
    if not isinstance(metric, HearsOfScores):
        return
    try:
        metric.stored()
    except Exception:
        # The scores are stored: what a metric wants to say of them must not undo that.
        logger.exception("%s could not say what its scores look like", metric.info.label)
