"""Claim, split and complete slices of a run, and split them further where they fail.

Every function locks the row of the run first and other rows after it, so that workers cannot
deadlock. It does nothing where the run has ended or another worker has the slice by now.
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
from metaeval.messages import Message, message
from metrics.contents import describe, load_part
from metrics.models import FailedText, MetricRun, RunPlan, RunWorker, Slice
from metrics.runs.state import Status, count, end, finish_if_done, lock, settle, there

# Number of attempts for a single text, and for loading a metric.
MAX_ATTEMPTS, MAX_LOADS = 3, 5
PIECES = 10
LARGEST = 8192
# A run stops when this number of texts have failed before any text has a score.
HOPELESS = 10


def claim(row: Slice, take: Callable[[Slice], bool], *, size: int, is_loading: bool) -> bool:
    """Take up to `size` texts of a slice; return True if this process got the claim."""
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
    """Queue a part of a slice as a slice of its own."""
    return Slice.objects.create(
        run_id=row.run_id,
        first=first,
        size=size,
        attempts=attempts,
        queue=row.queue,
        requires=row.requires,
        sent_at=row.sent_at,
    )


def _delete(row: Slice) -> bool:
    """Delete a slice; return True if it still was the worker's."""
    return bool(claims.held(row).delete()[0])


def _leave(row: Slice, n: int) -> bool:
    """Remove `n` texts from the front of a slice; return True if it still was the worker's."""
    if n == row.size:
        return _delete(row)
    return bool(claims.held(row).update(first=row.first + n, size=row.size - n))


def plan(
    row: Slice, *, signature: int, total: int, output_ids: bytes, reading: dict[str, Any]
) -> None:
    """Complete the plan: `output_ids` (packed int64) of `total` contents have no score."""
    with transaction.atomic():
        run = lock(row.run_id)
        if run is None or not _delete(row):
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
    failed: Mapping[int, Message],
    seconds: float,
    rate: float,
    reading: dict[str, Any],
    is_final: bool = False,
    n: int | None = None,
    warnings: Mapping[str, int] | None = None,
) -> bool:
    """Finish a slice, of which `reused` contents had been scored by others, in `seconds`.

    `failed` maps positions in the plan to errors: those texts are tried again, alone, unless the
    metric reports that this `is_final`. If `n` is given, only the first `n` texts are done,
    and the others stay in the slice. `warnings` are the metric's warnings, with their numbers of
    texts (`metrics.runs.scoring`). The caller stores the scores in the same transaction. If another
    worker took the slice over, the counts wait for that worker, and False is returned.
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
        if warnings:
            run.remarks = dict(Counter(run.remarks) + Counter(warnings))
            run.save(update_fields=["remarks"])
        for position, error in failed.items():
            if is_final and RunPlan.objects.filter(run=run).exists():
                is_hopeful = run.reused > 0
                _record(run, position, error, attempts=row.attempts + 1, is_hopeful=is_hopeful)
            elif not is_final:
                _try_alone(run, row, position, error, attempts=row.attempts + 1)
        finish_if_done(run)
    return True


def extend(row: Slice, n: int) -> int:
    """Add up to `n` of the texts that wait behind a running slice to it.

    Returns their number; 0 also if another worker has the slice by now.
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
    run: MetricRun,
    row: Slice,
    position: int,
    error: Message,
    *,
    attempts: int,
    seconds: float = 0,
) -> None:
    """Queue one text of a slice to be tried again, or record that it failed."""
    if attempts >= MAX_ATTEMPTS:
        _record(run, position, error, attempts)
        return
    again = _add(row, position, 1, attempts)
    Slice.objects.filter(pk=again.pk).update(message=error, not_before=claims.after(seconds))


def _record(
    run: MetricRun, position: int, error: Message, attempts: int, *, is_hopeful: bool = False
) -> None:
    """Record a text that failed; the run goes on if it `is_hopeful` or a text has a score."""
    (output_id,) = load_part(run.pk, position, 1)
    FailedText.objects.update_or_create(
        run=run,
        output_id=output_id,
        defaults={"error": error, "attempts": attempts},  # type: ignore[misc]  # MessageField
    )
    count(run, failed=1)
    run.refresh_from_db(fields=["done", "reused", "failed"])
    if run.failed >= HOPELESS and run.done <= run.reused and not is_hopeful:
        problem = message(
            "run.first-texts-failed",
            "The run was stopped, because the first {count} texts failed. The last error, in "
            "{output}: {error}",
            count=run.failed,
            output=describe(output_id),
            error=error,
        )
        end(run, Status.FAILED, problem)


def shrink(row: Slice, error: Message, *, position: int | None = None, seconds: float = 0) -> None:
    """Queue a failed slice in smaller parts; in the end the text at fault is alone and recorded.

    `position` is that of the text in the plan, where it is known.
    """
    with transaction.atomic():
        run = lock(row.run_id)
        if run is None or not _delete(row):
            return
        if row.size == 1:
            _try_alone(run, row, row.first, error, attempts=row.attempts + 1, seconds=seconds)
        else:
            _split(run, row, error, position, seconds)
        finish_if_done(run)


def _split(
    run: MetricRun, row: Slice, error: Message, position: int | None, seconds: float
) -> None:
    stop = row.first + row.size
    if position is None:
        step = -(-row.size // PIECES)
        for first in range(row.first, stop, step):
            _add(row, first, min(step, stop - first))
        run.slices.filter(first__gte=row.first, first__lt=stop).update(
            not_before=claims.after(seconds), message=error
        )
        return
    for first, end_ in ((row.first, position), (position + 1, stop)):
        if first < end_:
            _add(row, first, end_ - first)
    _try_alone(run, row, position, error, attempts=row.attempts + 1, seconds=seconds)


def put_off(row: Slice, problem: Message, seconds: float) -> None:
    """Queue a slice for later, because the metric could not be loaded; in the end the run fails.

    The texts are not at fault.
    """
    with transaction.atomic():
        run = lock(row.run_id)
        if run is None or not claims.held(row).exists():
            return
        if row.attempts + 1 >= MAX_LOADS:
            failure = message(
                "run.attempts-failed",
                "The run was stopped after {count} attempts. {error}",
                count=MAX_LOADS,
                error=problem,
            )
            end(run, Status.FAILED, failure)
            return
        claims.give_back(row, seconds=seconds, attempts=F("attempts") + 1, message=problem)
        about = message("run.retried", "The run will be tried again. {error}", error=problem)
        MetricRun.objects.filter(pk=run.pk).update(message=about)
        settle(seconds=0)


def start_over(row: Slice) -> bool:
    """Turn a slice into a new plan of the run, because its worker has another signature.

    If other workers are scoring the run, nothing happens and False is returned.
    """
    with transaction.atomic():
        run = lock(row.run_id)
        if run is None or there(run).exclude(pk__in=[row.worker_id]).exists():
            return False
        run.slices.exclude(pk=row.pk).delete()
        row.first = row.size = 0
        return bool(claims.held(row).update(first=0, size=0))


def lose(row: Slice) -> None:
    """Release the slice of a worker that died or does not respond."""
    worker = row.worker.name if row.worker else message("run.unnamed-worker", "A worker")
    _worker_of(row).update(is_lost=True, rate=None)
    about = message(
        "run.worker-lost",
        "{worker} stopped responding. Other workers continue the run.",
        worker=worker,
    )
    MetricRun.objects.filter(pk=row.run_id, status__in=MetricRun.ACTIVE).update(message=about)
    if row.is_loading or not row.size:
        problem = message(
            "run.worker-lost-loading",
            "{worker} stopped responding while it loaded the metric or planned the run.",
            worker=worker,
        )
        put_off(row, problem, 0)
    else:
        problem = message("run.worker-lost-scoring", "{worker} stopped responding.", worker=worker)
        shrink(row, problem)
