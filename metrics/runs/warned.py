"""Warnings of metrics while they score: counted with each slice, and shown with the run."""

import json
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from core.messages import as_json
from metaeval.messages import Message, from_json, message
from metrics.base import MetricWarning, ScoreWarning
from metrics.models import MetricRun


@contextmanager
def counted_warnings() -> Iterator[Counter[str]]:
    """Count the texts of each :class:`MetricWarning` by its message; pass on other warnings."""
    counts: Counter[str] = Counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MetricWarning)
        yield counts
    for each in caught:
        if isinstance(each.message, MetricWarning):
            counts[_key(each.message.message)] += each.message.message.count
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def of_run(run: MetricRun) -> tuple[ScoreWarning, ...]:
    """Return the warnings of the metric of a run so far."""
    return tuple(
        ScoreWarning("metric_warning", _message(key, n)) for key, n in sorted(run.remarks.items())
    )


def _key(warning: Message) -> str:
    """Return a message without its count, as JSON."""
    return json.dumps(as_json(_with_count(warning, 0)), sort_keys=True)


def _message(key: str, n: int) -> Message:
    if not key.startswith("{"):  # stored by an earlier version
        return message("run.metric-warning", "{text}", text=key.replace("{n}", f"{n:,}"))
    return _with_count(from_json(json.loads(key)), n)


def _with_count(warning: Message, n: int) -> Message:
    return replace(warning, parameters={**warning.parameters, "n": n})
