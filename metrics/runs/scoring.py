"""Process a slice of a run: load the metric, score the texts, store the scores.

Several workers may do so at once. Scores are keyed by content and inserted once, so scoring a slice
twice (after its worker was killed or considered dead) changes nothing.
"""

import json
import logging
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from core.database.waits import db_retry
from core.messages import as_json
from core.work import claims, processes, working
from core.work.kinds import unexpected
from core.work.models import kind_named
from metaeval.messages import Message, MessageError, from_json, message
from metrics import truncation
from metrics.base import (
    Metric,
    MetricError,
    MetricWarning,
    NamesMissing,
    Scores,
    ScoresAsTextsCome,
    ScoreWarning,
    UnfinishedError,
)
from metrics.contents import Chunk, find_missing, load_chunk, load_part, pack_ids
from metrics.error_spans import FindsSpans, Spans
from metrics.models import MetricRun, Slice
from metrics.runs import queue, saving, slices, state
from metrics.runs.saving import Loaded
from metrics.workers import signatures, telemetry
from metrics.workers.signatures import HostError

# Warnings of metrics while they score: counted with each slice, and shown with the run.


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
        ScoreWarning("metric_warning", _with_count(from_json(json.loads(key)), n))
        for key, n in sorted(run.remarks.items())
    )


def _key(warning: Message) -> str:
    """Return a message without its count, as JSON."""
    return json.dumps(as_json(_with_count(warning, 0)), sort_keys=True)


def _with_count(warning: Message, n: int) -> Message:
    return replace(warning, parameters={**warning.parameters, "n": n})


logger = logging.getLogger(__name__)

CHUNK_SECONDS = 1.0
FIRST_CHUNK, LARGEST_CHUNK = 16, slices.LARGEST
# A worker whose signature differs from that of a run looks again after this time.
STRANGER_SECONDS = 30.0
# After a temporary fault a slice is tried again after this time, doubled with each attempt.
RETRY_SECONDS = 15.0


class _Memory:
    """The metric of one run at a time: two metrics could need more memory than there is."""

    loaded: Loaded | None = None
    sizes: dict[str, int] = {}


def is_loaded(row: Slice) -> bool:
    """Whether the metric of a slice is in the memory of this process."""
    return _Memory.loaded is not None and _Memory.loaded.run_id == row.run_id


def size_for(row: Slice) -> int:
    """Return how many texts of a slice this process scores in about a second."""
    metric = _Memory.loaded.metric if _Memory.loaded and is_loaded(row) else None
    first: int = getattr(metric, "first_slice", FIRST_CHUNK)
    return _Memory.sizes.get(row.run.metric, first)


def forget() -> None:
    """Clear the metric in memory, its speed, and the runs to leave alone."""
    _Memory.loaded = None
    _Memory.sizes.clear()
    queue.memory = queue.Memory()


class TextError(MessageError):
    """A text cannot be scored: `position` is its position in the plan."""

    def __init__(self, message: Message, position: int, *, seconds: float) -> None:
        super().__init__(message)
        self.position, self.seconds = position, seconds


def work(row: Slice) -> None:
    """Make a plan or score a slice that this process has taken."""
    if not row.size:
        _plan(row)
        return
    loaded = _load(row)
    if row.run.signature_id != loaded.signature.pk:
        _differ(row, loaded)
    elif isinstance(loaded.metric, ScoresAsTextsCome):
        saving.score_streaming(row, loaded, loaded.metric)
    else:
        _score_slice(row, loaded)


def _load(row: Slice) -> Loaded:
    """Load the metric of a run and find its signature, unless it is in memory."""
    run = row.run
    if _Memory.loaded is None or not is_loaded(row):
        _Memory.loaded = None
        metric, signature = db_retry(partial(signatures.load, run))
        telemetry.begin(metric)
        _Memory.loaded = Loaded(run.pk, metric, signature)
    if row.is_loading:
        row.is_loading = False
        db_retry(partial(claims.hold, row, is_loading=False))
    queue.memory.take_up(run.info.checkpoint if run.info else "")
    return _Memory.loaded


def _plan(row: Slice) -> None:
    """Plan what to score; load the metric only where its signature is not known."""
    signature = None if is_loaded(row) else db_retry(partial(signatures.known, row.run))
    reading: dict[str, Any] = {}
    if signature is None:
        loaded = _load(row)
        signature, reading = loaded.signature, telemetry.read(loaded.metric).as_fields()
    missing = db_retry(partial(find_missing, row.run, signature))
    finish = partial(
        slices.plan,
        row,
        signature=signature.pk,
        total=missing.total,
        output_ids=pack_ids(missing.output_ids),
        reading=reading,
    )
    db_retry(finish)


def _score_slice(row: Slice, loaded: Loaded) -> None:
    began = time.monotonic()
    output_ids = db_retry(partial(load_part, row.run_id, row.first, row.size))
    places = {pk: place for place, pk in enumerate(output_ids, start=row.first)}
    chunk = db_retry(partial(load_chunk, loaded.signature, output_ids))
    try:
        with counted_warnings() as warnings:
            rows, spans = _score(loaded.metric, chunk, places)
    except UnfinishedError as error:
        good = np.isfinite(error.rows).all(axis=1)
        found = (error.rows, error.spans, good, [None] * len(good))
        db_retry(partial(saving.store, loaded.signature, chunk.keys, *found, lambda: None))
        saving.notify(loaded.metric)
        raise
    good, marks = np.isfinite(rows).all(axis=1), truncation.marks(loaded.metric, len(rows))
    loaded.measure(row.size, time.monotonic() - began)
    metric = loaded.metric
    missing = metric.missing if isinstance(metric, NamesMissing) else {}
    no_score = message(
        "run.no-finite-score", "{metric} returned no finite score.", metric=metric.info.label
    )
    complete = partial(
        slices.complete,
        row,
        reused=row.size - len(chunk.keys),
        failed={
            places[pk]: missing.get(index, no_score)
            for index, (pk, is_good) in enumerate(zip(chunk.output_ids, good, strict=True))
            if not is_good
        },
        is_final=bool(missing),
        seconds=time.monotonic() - began,
        rate=loaded.rate,
        reading=telemetry.read(loaded.metric).as_fields(),
        warnings=warnings,
    )
    scored = (rows, spans, good, marks)
    db_retry(partial(saving.store, loaded.signature, chunk.keys, *scored, complete))
    loaded.notified_at = saving.notify_at_intervals(loaded.metric, row, loaded.notified_at)
    _grow(row, time.monotonic() - began)


def _grow(row: Slice, seconds: float) -> None:
    """Set the size of the next slice by the time of one that had the size we asked for."""
    if row.size >= size_for(row):
        _Memory.sizes[row.run.metric] = _next_size(row.size, seconds)


def _differ(row: Slice, loaded: Loaded) -> None:
    """Handle scores whose signature (precision, version) is not that of the plan.

    They must not be mixed: plan the run again if no other worker scores it, otherwise leave it.
    """
    if db_retry(partial(slices.start_over, row)):
        _plan(row)
        return
    queue.memory.leave(row.run_id, STRANGER_SECONDS)
    db_retry(partial(claims.give_back, row))
    logger.warning("Run %s has another signature than this worker's metric", row.run_id)


def give_up(row: Slice, error: Exception) -> None:
    """Handle an error of loading the metric or of scoring the texts."""
    if isinstance(error, TextError):
        slices.shrink(row, error.message, position=error.position, seconds=error.seconds)
        return
    if isinstance(error, HostError):
        # Only this host failed: another one takes the slice.
        queue.memory.leave(row.run_id, STRANGER_SECONDS)
        claims.give_back(row, is_loading=False)
        return
    if isinstance(error, UnfinishedError) and not error.permanent:
        # The texts are not at fault; those that have a score are not scored again.
        slices.put_off(row, error.message, RETRY_SECONDS * 2**row.attempts)
        return
    if isinstance(error, MetricError):
        if error.permanent:
            state.fail(row.run_id, error.message)
            return
        problem, seconds = error.message, RETRY_SECONDS * 2**row.attempts
        queue.memory.leave(row.run_id, seconds)
    else:
        problem, seconds = unexpected(error), 0.0
    if row.size and not row.is_loading:
        slices.shrink(row, problem, seconds=seconds)
        _end_where_cuda_is_broken(error)
    elif isinstance(error, MetricError):
        slices.put_off(row, problem, seconds)
    else:
        state.fail(row.run_id, problem)


def _end_where_cuda_is_broken(error: Exception) -> None:
    """End this process after an error of a kernel: its calls cannot reach the GPU any more."""
    text = str(error)
    if "CUDA error" in text and "out of memory" not in text:
        processes.end_child(text.partition("\n")[0])


def _next_size(size: int, seconds: float) -> int:
    """Aim at one second per slice, growing at most fourfold at a time."""
    n_texts = int(size * CHUNK_SECONDS / max(seconds, 1e-3))
    return max(1, min(n_texts, 4 * size, LARGEST_CHUNK))


def _score(
    metric: Metric, chunk: Chunk, places: Mapping[int, int]
) -> tuple[Scores, Sequence[Spans] | None]:
    """Score a chunk, with its spans where the metric finds any.

    A :class:`TextError` names the text at fault, where one is.
    """
    expected = (len(chunk.inputs), metric.info.width)
    spans: Sequence[Spans] | None = None
    if not chunk.inputs:
        return np.empty(expected), spans
    try:
        if isinstance(metric, FindsSpans):
            rows, spans = metric.score_with_spans(chunk.inputs)
        else:
            rows = metric.score(chunk.inputs)
    except MetricError as error:
        if error.index is None:
            raise
        seconds = 0 if error.permanent else RETRY_SECONDS
        at_fault = places[chunk.output_ids[error.index]]
        raise TextError(error.message, at_fault, seconds=seconds) from error
    if rows.shape != expected:
        problem = message(
            "run.wrong-shape",
            "{metric} returned scores of shape {shape} instead of {expected}.",
            metric=metric.info.label,
            shape=str(rows.shape),
            expected=str(expected),
        )
        raise MetricError(problem, permanent=True)
    return rows, spans


def drain(
    run_id: int, *, worker: str = "in place", report: Callable[[], None] = lambda: None
) -> None:
    """Process the waiting slices of one run here, and call `report` after every slice.

    The run's row has the result. Slices that are to be tried again later keep waiting.
    """
    processes.set_worker_label(worker)
    kind = kind_named("slice")
    while working.do_one(kind, working.due(kind).filter(run=run_id)):
        report()
