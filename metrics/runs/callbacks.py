"""Call metrics back after scores of their runs were stored (`HearsOfScores`)."""

import logging
import time

from metrics.base import HearsOfScores, Metric
from metrics.models import Slice

logger = logging.getLogger(__name__)
INTERVAL_SECONDS = 20.0


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
