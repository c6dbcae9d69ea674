"""Score a slice that moves along its plan, for metrics that score texts as they come.

Texts are added at its end while others are scored, and removed at its front, so that the
connections of a judge are never idle between two slices. There is one claim, on all texts of the
moving slice: if its process dies, they wait for other workers.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from core.database.waits import db_retry
from core.work import claims, processes
from metaeval.messages import plural
from metrics.base import MetricError, Scored, ScoresAsTextsCome, SegmentInput
from metrics.contents import load_chunk, load_part
from metrics.error_spans import FindsSpans
from metrics.models import Slice
from metrics.runs import slices
from metrics.runs.saving import Loaded, notify, notify_at_intervals, store
from metrics.workers import telemetry

# How often what is done is stored, and when a slice ends although nobody else waits: a task has
# a limit of minutes.
STORE_SECONDS, LONGEST_SECONDS = 2.0, 240.0


class _LostError(Exception):
    """Another worker has the slice by now, or its run has ended."""


def score(row: Slice, loaded: Loaded, metric: ScoresAsTextsCome) -> None:
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
