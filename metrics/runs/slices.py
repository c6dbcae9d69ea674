"""Slices of a run: taken, cut, completed, and cut smaller where they fail.

Every function locks the run's row first and the rest after it, so that workers never wait for each
other in a ring, and does nothing where the run has ended or the slice is another's by now.
"""

import socket
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce

from core.work import claims, processes, sending
from core.work.models import Now
from metaeval.messages import Message
from metrics.contents import describe, load_part
from metrics.models import FailedText, MetricRun, RunPlan, RunWorker, Slice
from metrics.runs.state import Status, count, end, finish_if_done, lock, settle, there

# A text alone has so many tries, and the loading of a metric.
MAX_ATTEMPTS, MAX_LOADS = 3, 5
PIECES = 10
LARGEST = 8192
# A run of which so many texts have failed before any has a score is given up.
HOPELESS = 10


def claim(row: Slice, take: Callable[[Slice], bool], *, size: int, is_loading: bool) -> bool:
    """Take a slice and leave what exceeds `size` to others; whether nobody was faster."""
    run = lock(row.run_id)
    if run is None or not take(row):
        return False
    if row.size > size:
        _add(row, row.first + size, row.size - size)
        row.size = size
    row.run, row.worker, row.is_loading = run, _join(run), is_loading
    Slice.objects.filter(pk=row.pk).update(
        size=row.size, worker=row.worker, is_loading=row.is_loading
    )
    MetricRun.objects.filter(pk=run.pk).update(
        status=Status.RUNNING,
        worker=row.worker.name,
        heartbeat_at=Now(),
        started_at=Coalesce("started_at", Now()),
    )
    return True


def _join(run: MetricRun) -> RunWorker:
    who = {"name": processes.label()[:200], "process": processes.name()}
    host = socket.gethostname()[:200]
    return RunWorker.objects.get_or_create(run=run, **who, defaults={"host": host})[0]


def _worker_of(row: Slice) -> QuerySet[RunWorker]:
    return RunWorker.objects.filter(pk__in=[row.worker_id])


def _add(row: Slice, first: int, size: int, attempts: int = 0) -> Slice:
    """Let a part of a slice wait beside it."""
    return Slice.objects.create(
        run_id=row.run_id,
        first=first,
        size=size,
        attempts=attempts,
        queue=row.queue,
        requires=row.requires,
        sent_at=row.sent_at,
    )


def _let_go(row: Slice) -> bool:
    """Delete a slice; whether it was still the worker's."""
    return bool(claims.held(row).delete()[0])


def _leave(row: Slice, n: int) -> bool:
    """Let go of `n` texts at the front of a slice; whether it was still the worker's."""
    if n == row.size:
        return _let_go(row)
    return bool(claims.held(row).update(first=row.first + n, size=row.size - n))


def plan(
    row: Slice, *, signature: int, total: int, output_ids: bytes, reading: dict[str, Any]
) -> None:
    """Complete the plan: `output_ids` (packed int64) of `total` contents have no score."""
    with transaction.atomic():
        run = lock(row.run_id)
        if run is None or not _let_go(row):
            return
        n_missing = len(output_ids) // 8
        _worker_of(row).update(seen_at=Now(), **reading)
        RunPlan.objects.update_or_create(run=run, defaults={"output_ids": output_ids})
        MetricRun.objects.filter(pk=run.pk).update(
            signature=signature,
            total=total,
            done=total - n_missing,
            reused=total - n_missing,
            message="",
        )
        starts = range(0, n_missing, LARGEST)
        found = [_add(row, start, min(LARGEST, n_missing - start)) for start in starts]
        sending.send_on_commit(found)
        finish_if_done(run)


def complete(
    row: Slice,
    *,
    reused: int,
    failed: Mapping[int, str],
    seconds: float,
    rate: float,
    reading: dict[str, Any],
    is_final: bool = False,
    n: int | None = None,
    remarks: Mapping[str, int] | None = None,
) -> bool:
    """Finish a slice, of which `reused` contents had been scored by others, in `seconds`.

    `failed` maps places in the plan to errors: those texts are tried again, alone, unless the
    metric says that this `is_final`. Where `n` is given, only so many texts at the front are done,
    and the others stay in hand. `remarks` are the metric's warnings, with their numbers of texts.
    Whoever calls stores the scores in the same transaction. A slice that was taken away counts
    when its new owner completes it, and False is returned.
    """
    n = row.size if n is None else n
    with transaction.atomic():
        run = lock(row.run_id)
        if run is None or not _leave(row, n):
            return False
        n_done = n - len(failed)
        _worker_of(row).update(
            segments=F("segments") + n_done - reused,
            seconds=F("seconds") + seconds,
            rate=rate,
            seen_at=Now(),
            **reading,
        )
        count(run, done=n_done, reused=reused)
        if remarks:
            run.remarks = dict(Counter(run.remarks) + Counter(remarks))
            run.save(update_fields=["remarks"])
        for place, error in failed.items():
            if is_final and RunPlan.objects.filter(run=run).exists():
                is_hopeful = run.reused > 0
                _record(run, place, error, attempts=row.attempts + 1, is_hopeful=is_hopeful)
            elif not is_final:
                _try_alone(run, row, place, error, attempts=row.attempts + 1)
        finish_if_done(run)
    return True


def extend(row: Slice, n: int) -> int:
    """Take up to `n` texts more into a slice in hand, from those that wait behind it.

    Returns their number; 0 also where the slice is another's by now.
    """
    with transaction.atomic():
        run = lock(row.run_id)
        if run is None or not claims.held(row).exists():
            return 0
        waiting = run.slices.filter(status=Slice.Status.QUEUED, not_before__lte=Now(), attempts=0)
        behind = waiting.filter(first=row.first + row.size, size__gt=0).first()
        if behind is None:
            return 0
        n = min(n, behind.size)
        if n == behind.size:
            behind.delete()
        else:
            Slice.objects.filter(pk=behind.pk).update(first=F("first") + n, size=F("size") - n)
        claims.held(row).update(size=row.size + n)
    return n


def _try_alone(
    run: MetricRun, row: Slice, place: int, error: str, *, attempts: int, seconds: float = 0
) -> None:
    """Let one text of a slice wait to be tried again, or record that it failed."""
    if attempts >= MAX_ATTEMPTS:
        _record(run, place, error, attempts)
        return
    again = _add(row, place, 1, attempts)
    Slice.objects.filter(pk=again.pk).update(message=error, not_before=claims.after(seconds))


def _record(
    run: MetricRun, place: int, error: str, attempts: int, *, is_hopeful: bool = False
) -> None:
    """Record a text that failed; the run goes on where one `is_hopeful` or a text has a score."""
    (output_id,) = load_part(run.pk, place, 1)
    FailedText.objects.update_or_create(
        run=run, output_id=output_id, defaults={"error": error, "attempts": attempts}
    )
    count(run, failed=1)
    run.refresh_from_db(fields=["done", "reused", "failed"])
    if run.failed >= HOPELESS and run.done <= run.reused and not is_hopeful:
        where = describe(output_id)
        message = f"Given up: the first {run.failed} texts failed. {error} ({where})"
        end(run, Status.FAILED, message)


def shrink(row: Slice, error: str, *, place: int | None = None, seconds: float = 0) -> None:
    """A slice failed: it comes back in pieces, at last as the text at fault, which is recorded.

    `place` is the one of that text in the plan, where it is known.
    """
    with transaction.atomic():
        run = lock(row.run_id)
        if run is None or not _let_go(row):
            return
        if row.size == 1:
            _try_alone(run, row, row.first, error, attempts=row.attempts + 1, seconds=seconds)
        else:
            _cut(run, row, error, place, seconds)
        finish_if_done(run)


def _cut(run: MetricRun, row: Slice, error: str, place: int | None, seconds: float) -> None:
    stop = row.first + row.size
    if place is None:
        step = -(-row.size // PIECES)
        for first in range(row.first, stop, step):
            _add(row, first, min(step, stop - first))
        run.slices.filter(first__gte=row.first, first__lt=stop).update(
            not_before=claims.after(seconds), message=error
        )
        return
    for first, end_ in ((row.first, place), (place + 1, stop)):
        if first < end_:
            _add(row, first, end_ - first)
    _try_alone(run, row, place, error, attempts=row.attempts + 1, seconds=seconds)


def put_off(row: Slice, message: Message | str, seconds: float) -> None:
    """The metric could not be loaded: any worker tries again after a while; at last the run fails.

    Nothing is held against the texts.
    """
    with transaction.atomic():
        run = lock(row.run_id)
        if run is None or not claims.held(row).exists():
            return
        if row.attempts + 1 >= MAX_LOADS:
            end(run, Status.FAILED, f"Given up after {MAX_LOADS} attempts. {message}")
            return
        claims.give_back(row, seconds=seconds, attempts=F("attempts") + 1, message=message)
        MetricRun.objects.filter(pk=run.pk).update(message=f"Is tried again. {message}")
        settle(seconds=0)


def start_over(row: Slice) -> bool:
    """Turn a slice into the making of the plan: its worker gives scores of another signature.

    Where others are at work on the run, nothing happens and False is returned.
    """
    with transaction.atomic():
        run = lock(row.run_id)
        if run is None or there(run).exclude(pk__in=[row.worker_id]).exists():
            return False
        run.slices.exclude(pk=row.pk).delete()
        row.first = row.size = 0
        return bool(claims.held(row).update(first=0, size=0))


def lose(row: Slice) -> None:
    """The worker of a slice died or fell silent."""
    worker = row.worker.name if row.worker else "A worker"
    _worker_of(row).update(is_lost=True, rate=None)
    message = f"{worker} stopped answering; the run goes on elsewhere."
    MetricRun.objects.filter(pk=row.run_id, status__in=MetricRun.ACTIVE).update(message=message)
    if row.is_loading or not row.size:
        where = "while the metric was loaded or the texts were counted"
        put_off(row, f"{worker}, as others before it, stopped answering {where}.", 0)
    else:
        shrink(row, f"{worker} stopped answering.")
