"""A slice that moves along its plan, for metrics that score texts as they come.

Texts are taken in at its end while others are scored, and leave at its front, so that whatever the
metric waits for (connections to a judge) is never idle between two slices. The claim is one, on
whatever is in hand: where its process dies, that waits for others.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from core.database.waits import db_retry
from core.work import claims, processes
from metrics.base import MetricError, Scored, ScoresAsTextsCome, SegmentInput
from metrics.contents import load_chunk, load_part
from metrics.error_spans import FindsSpans
from metrics.models import Slice
from metrics.runs import slices, telling
from metrics.runs.keeping import Loaded, store
from metrics.workers import telemetry

# How often what is done is stored, and when a slice ends although nobody else waits: a task has
# a limit of minutes.
STORE_SECONDS, LONGEST_SECONDS = 2.0, 240.0


class _LostError(Exception):
    """The slice is another's by now, or its run has ended."""


def score(row: Slice, loaded: Loaded, metric: ScoresAsTextsCome) -> None:
    """Score a slice, and what waits behind it as long as there is time."""
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
        telling.tell(loaded.metric)
        raise
    if row.size:
        message = f"{loaded.metric.info.label} left {row.size} texts without an answer."
        raise MetricError(message, permanent=True)


class Window:
    """The feed (:class:`metrics.base.Feed`) of one slice."""

    def __init__(self, row: Slice, loaded: Loaded, seconds: float) -> None:
        self.row, self.loaded, self._seconds = row, loaded, seconds
        self._began = self._stored_at = self._looked_at = time.monotonic()
        self._is_over = False
        self._n_taken = 0
        # A metric that has scored nothing yet may be one that never will, and each text is paid.
        self._is_promising = row.run.done > row.run.reused
        # By places in the plan: the keys of texts in hand, and what became of them.
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
        """Keep what became of texts; now and then store it, and look whether the slice is ours."""
        self._scored |= {self._places[number]: each for number, each in scored.items()}
        self._is_promising |= any(not each.problem for each in scored.values())
        if time.monotonic() - self._looked_at > STORE_SECONDS:
            self._looked_at = time.monotonic()
            self.store_front()
            if self.row.size and not db_retry(claims.held(self.row).exists):
                raise _LostError

    def store_front(self) -> None:
        """Store the texts at the front that are done with, and let go of them."""
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
            failed={p: self._scored[p].problem for p in places if self._scored[p].problem},
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
        self.loaded.told_at = telling.tell_now_and_then(metric, self.row, self.loaded.told_at)

    def store_rest(self) -> None:
        """Store what is done behind the front: it goes back with the slice, and has scores."""
        self._store(list(self._scored), lambda: True)

    def _store(self, places: Sequence[int], complete: Callable[[], bool]) -> bool:
        """Store scores and the end of their texts together; whether the slice was still ours."""
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
