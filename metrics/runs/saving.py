"""Hold the metric in memory, store scores with the end of their slice, and call metrics back."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress

import numpy as np
from django.db import transaction
from numpy.typing import NDArray

from core.database.waits import db_retry
from core.work import claims, processes
from metaeval.messages import plural
from metrics.base import (
    HearsOfScores,
    Metric,
    MetricError,
    Scored,
    Scores,
    ScoresAsTextsCome,
    SegmentInput,
)
from metrics.contents import load_chunk, load_part
from metrics.error_spans import FindsSpans, Spans
from metrics.models import MetricSignature, Slice
from metrics.runs import slices
from metrics.scores import store_scores
from metrics.spans.stored import store_spans
from metrics.truncation import Mark
from metrics.workers import telemetry

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


# Score a slice that moves along its plan, for metrics that score texts as they come.
#
# Texts are added at its end while others are scored, and removed at its front, so that the
# connections of a judge are never idle between two slices. There is one claim, on all texts of the
# moving slice: if its process dies, they wait for other workers.


# How often what is done is stored, and when a slice ends although nobody else waits: a task has
# a limit of minutes.
STORE_SECONDS, LONGEST_SECONDS = 2.0, 240.0


class _LostError(Exception):
    """Another worker has the slice by now, or its run has ended."""


def score_streaming(row: Slice, loaded: Loaded, metric: ScoresAsTextsCome) -> None:
    """Score a slice, and the texts behind it as long as there is time."""
    window = Window(row, loaded, metric.stream_seconds)
    try:
        metric.score_from(window)
        window.store_front()
    except _LostError:
        window.store_rest()
        return
    except MetricError:
        window.store_front()
        window.store_rest()
        notify(loaded.metric)
        raise
    if row.size:
        problem = plural(
            "run.texts-unanswered",
            "{metric} returned no result for {n} text.",
            "{metric} returned no result for {n} texts.",
            n=row.size,
            metric=loaded.metric.info.label,
        )
        raise MetricError(problem, permanent=True)


class Window:
    """The feed (:class:`metrics.base.Feed`) of one slice."""

    def __init__(self, row: Slice, loaded: Loaded, seconds: float) -> None:
        self.row, self.loaded, self._seconds = row, loaded, seconds
        self._began = self._stored_at = self._looked_at = time.monotonic()
        self._is_over = False
        self._n_taken = 0
        # A metric that has scored nothing yet may never do so, and each text costs money.
        self._is_promising = row.run.done > row.run.reused
        # By positions in the plan: the keys of texts in the slice, and their results.
        self._keys: dict[int, str] = {}
        self._scored: dict[int, Scored] = {}
        self._places: list[int] = []

    def more(self, n: int) -> Sequence[SegmentInput]:
        """Return the slice itself, then up to `n` texts from behind it; none once it should end."""
        while not self._is_over:
            first = self.row.first + (self.row.size if self._n_taken else 0)
            size = self._take(n)
            self._is_over = not size
            output_ids = db_retry(partial(load_part, self.row.run_id, first, size)) if size else ()
            chunk = db_retry(partial(load_chunk, self.loaded.signature, output_ids))
            at = {pk: place for place, pk in enumerate(output_ids, start=first)}
            places = [at[pk] for pk in chunk.output_ids]
            self._keys |= zip(places, chunk.keys, strict=True)
            self._places += places
            if places:
                return chunk.inputs
        return ()

    def _take(self, n: int) -> int:
        if not self._n_taken:
            size = self.row.size
        else:
            n = n if self._is_promising else min(n, slices.HOPELESS - self._n_taken)
            is_wanted = n > 0 and self._has_time()
            size = db_retry(partial(slices.extend, self.row, n)) if is_wanted else 0
            self.row.size += size
        self._n_taken += size
        return size

    def _has_time(self) -> bool:
        seconds = time.monotonic() - self._began
        if processes.is_stopping() or seconds > LONGEST_SECONDS:
            return False
        others = Slice.objects.filter(queue=self.row.queue).exclude(run=self.row.run_id)
        return seconds < self._seconds or not db_retry(others.exists)

    def done(self, scored: Mapping[int, Scored]) -> None:
        """Take results; store them at intervals, and check that the slice is still ours."""
        self._scored |= {self._places[number]: each for number, each in scored.items()}
        self._is_promising |= any(not each.problem for each in scored.values())
        if time.monotonic() - self._looked_at > STORE_SECONDS:
            self._looked_at = time.monotonic()
            self.store_front()
            if self.row.size and not db_retry(claims.held(self.row).exists):
                raise _LostError

    def store_front(self) -> None:
        """Store the finished texts at the front, and remove them from the slice."""
        stop = end = self.row.first + self.row.size
        for place in range(self.row.first, end):
            if place in self._keys and place not in self._scored:
                stop = place
                break
        if n := stop - self.row.first:
            self._leave(n)

    def _leave(self, n: int) -> None:
        front = range(self.row.first, self.row.first + n)
        places = [place for place in front if place in self._keys]
        seconds = time.monotonic() - self._stored_at
        self.loaded.measure(n, seconds)
        complete = partial(
            slices.complete,
            self.row,
            reused=n - len(places),
            failed={p: problem for p in places if (problem := self._scored[p].problem)},
            is_final=True,
            seconds=seconds,
            rate=self.loaded.rate,
            reading=telemetry.read(self.loaded.metric).as_fields(),
            n=n,
        )
        if not self._store(places, complete):
            raise _LostError
        self._stored_at = time.monotonic()
        self.row.first, self.row.size = self.row.first + n, self.row.size - n
        for place in places:
            del self._keys[place], self._scored[place]
        metric = self.loaded.metric
        self.loaded.notified_at = notify_at_intervals(metric, self.row, self.loaded.notified_at)

    def store_rest(self) -> None:
        """Store the scores of texts behind the front, which go back with the slice."""
        self._store(list(self._scored), lambda: True)

    def _store(self, places: Sequence[int], complete: Callable[[], bool]) -> bool:
        """Store scores and complete their texts together; return True if the slice was ours."""
        metric, is_held = self.loaded.metric, [False]
        scored = [self._scored[place] for place in places]
        rows = np.array([each.row for each in scored]).reshape(-1, metric.info.width)
        good = np.array([not each.problem for each in scored], dtype=bool)
        spans = [each.spans for each in scored] if isinstance(metric, FindsSpans) else None
        keys = [self._keys[place] for place in places]
        marks = [each.is_truncated for each in scored]

        def end() -> None:
            is_held[0] = complete()

        stored = (keys, rows, spans, good, marks)
        db_retry(partial(store, self.loaded.signature, *stored, end))
        return is_held[0]
