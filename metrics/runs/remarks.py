"""What a metric warns of while it scores: counted with the slice, and shown with its run."""

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from metrics.base import MetricWarning, ScoreWarning
from metrics.models import MetricRun


@contextmanager
def heard() -> Iterator[Counter[str]]:
    """Count the texts of each :class:`MetricWarning`; other warnings go where they would go."""
    said: Counter[str] = Counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MetricWarning)
        yield said
    for each in caught:
        if isinstance(each.message, MetricWarning):
            said[each.message.about] += each.message.n
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def of_run(run: MetricRun) -> tuple[ScoreWarning, ...]:
    """Return what the metric of a run warned of so far."""
    return tuple(
        ScoreWarning("metric_warning", about.replace("{n}", f"{n:,}"))
        for about, n in sorted(run.remarks.items())
    )
