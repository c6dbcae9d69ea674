"""Leases on slices of a run: taken, completed, handed back, and taken from workers that died.

Every function locks the run's row first and the rest after it, so that workers never wait for each
other in a ring, and does nothing where the run has ended or the lease is another's by now. Times
are the database's own, so that the clocks of several hosts need not agree.
"""

import os
import secrets
import socket
import threading
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce

from metrics.clock import Now
from metrics.losses import MAX_ATTEMPTS, take_from_the_silent
from metrics.models import Lease, MetricRun, RunPlan, RunWorker
from metrics.run_state import Status, end, finish_if_done, lock, rate_of, settle, there

RETRY_SECONDS = 15.0
# A slice that has failed so often is taken when there is nothing else.
SUSPECT = 2

_thread = threading.local()


@dataclass(frozen=True)
class Member:
    """A worker as runs know it; `process` is of one thread of one process."""

    name: str
    process: str
    host: str


def identify(name: str) -> Member:
    """Return who the calling thread is. A forked process is another one."""
    if getattr(_thread, "pid", None) != os.getpid():
        _thread.pid, _thread.token = os.getpid(), secrets.token_hex(16)
    return Member(name[:200], _thread.token, socket.gethostname()[:200])


def take(run_id: int, member: Member, *, size: int) -> Lease | None:
    """Lease what waits to be done again, or up to `size` contents that nobody has had.

    The first lease of a run is its plan. None where there is nothing to take now, or the run has
    ended. The lease holds the run as it was.
    """
    with transaction.atomic():
        run = lock(run_id)
        if run is None or not take_from_the_silent(run):
            return None
        lease = _held_or_free(run, member) or _fresh(run, size) or _suspect(run)
        if lease is None:
            settle(run)
            return None
        lease.worker = _join(run, member)
        lease.save()
        MetricRun.objects.filter(pk=run.pk).update(
            status=Status.RUNNING,
            cursor=run.cursor,
            worker=member.name,
            heartbeat_at=Now(),
            started_at=Coalesce("started_at", Now()),
        )
        return lease


def _held_or_free(run: MetricRun, member: Member) -> Lease | None:
    """A lease that waits to be done, before it one that the worker has and does not know of: its
    connection broke with the answer."""
    is_own = Q(worker__name=member.name, worker__process=member.process)
    leases = run.leases.filter(is_own | (_is_free() & Q(attempts__lt=SUSPECT)))
    return leases.order_by(F("worker").desc(nulls_last=True), "first").first()


def _is_free() -> Q:
    return Q(worker=None, due_at__lte=Now())


def _suspect(run: MetricRun) -> Lease | None:
    """A slice that failed more than once: last of all, so that nothing else waits for it."""
    return run.leases.filter(_is_free()).order_by("attempts", "first").first()


def _fresh(run: MetricRun, size: int) -> Lease | None:
    """The next slice of the plan, or the making of it; moves the cursor of `run`."""
    if run.cursor >= run.planned:
        return None
    first = max(run.cursor, 0)
    lease = Lease(run=run, first=first, size=min(size, run.planned - first))
    if run.cursor < 0:
        lease.size = 0
    run.cursor = first + lease.size
    return lease


def _join(run: MetricRun, member: Member) -> RunWorker:
    row, _ = RunWorker.objects.get_or_create(
        run=run, name=member.name, process=member.process, defaults={"host": member.host}
    )
    RunWorker.objects.filter(pk=row.pk).update(seen_at=Now(), left_at=None, is_lost=False)
    return row


def beat(run_id: int, member: Member) -> None:
    """Give a sign of life."""
    _rows(run_id, member).update(seen_at=Now())


def _rows(run_id: int, member: Member) -> QuerySet[RunWorker]:
    return RunWorker.objects.filter(run=run_id, name=member.name, process=member.process)


def _owner(lease: Lease) -> int:
    if lease.worker_id is None:
        raise ValueError(f"lease {lease} is not taken")
    return lease.worker_id


def _let_go(lease: Lease) -> bool:
    """Delete a lease; whether it was still the worker's."""
    return bool(Lease.objects.filter(pk=lease.pk, worker=lease.worker).delete()[0])


def plan(
    lease: Lease, *, signature: int, total: int, output_ids: bytes, reading: dict[str, Any]
) -> bool:
    """Complete the first lease: `output_ids` (packed int64) of `total` contents have no score.

    Returns, as :func:`complete`, whether the run is still active.
    """
    with transaction.atomic():
        run = lock(lease.run_id)
        if run is None or not _let_go(lease):
            return run is not None
        RunWorker.objects.filter(pk=_owner(lease)).update(seen_at=Now(), **reading)
        RunPlan.objects.update_or_create(run=run, defaults={"output_ids": output_ids})
        run.cursor, run.planned = 0, len(output_ids) // 8
        MetricRun.objects.filter(pk=run.pk).update(
            signature=signature,
            total=total,
            planned=run.planned,
            cursor=0,
            done=total - run.planned,
            reused=total - run.planned,
            message="",
            heartbeat_at=Now(),
        )
        finish_if_done(run)
        return True


def complete(
    lease: Lease, *, reused: int, seconds: float, rate: float, reading: dict[str, Any]
) -> bool:
    """Finish a slice, of which `reused` contents had been scored by others, in `seconds`.

    Whoever calls stores the scores in the same transaction. A slice that was taken away counts
    when its new owner completes it. Returns whether the run is still active.
    """
    with transaction.atomic():
        run = lock(lease.run_id)
        if run is None or not _let_go(lease):
            return run is not None
        RunWorker.objects.filter(pk=_owner(lease)).update(
            segments=F("segments") + lease.size - reused,
            seconds=F("seconds") + seconds,
            rate=rate,
            seen_at=Now(),
            **reading,
        )
        MetricRun.objects.filter(pk=run.pk).update(
            done=F("done") + lease.size,
            reused=F("reused") + reused,
            rate=rate_of(run),
            message="",
            heartbeat_at=Now(),
        )
        finish_if_done(run)
        return True


def hand_back(lease: Lease) -> None:
    """Let others have a slice at once: its worker must stop, or cannot do it. No attempt."""
    with transaction.atomic():
        if lock(lease.run_id):
            Lease.objects.filter(pk=lease.pk, worker=lease.worker).update(worker=None, due_at=Now())


def retry(lease: Lease, message: str) -> float:
    """Let any worker try a slice again after a while, longer each time; return the seconds.

    After MAX_ATTEMPTS the run fails.
    """
    delay: float = RETRY_SECONDS * 2**lease.attempts
    with transaction.atomic():
        run = lock(lease.run_id)
        mine = Lease.objects.filter(pk=lease.pk, worker=lease.worker)
        if run is None or not mine.exists():
            return delay
        if lease.attempts + 1 >= MAX_ATTEMPTS:
            end(run, Status.FAILED, f"Given up after {MAX_ATTEMPTS} attempts. {message}")
            return delay
        mine.update(
            worker=None, attempts=F("attempts") + 1, due_at=Now() + timedelta(seconds=delay)
        )
        MetricRun.objects.filter(pk=run.pk).update(message=f"Is tried again. {message}")
    return delay


def start_over(lease: Lease) -> bool:
    """Plan a run anew: its only worker gives scores of another signature than the plan is for.

    Where others are at work on it, nothing happens and False is returned.
    """
    with transaction.atomic():
        run = lock(lease.run_id)
        if run is None or there(run).exclude(pk=_owner(lease)).exists():
            return False
        run.leases.all().delete()
        MetricRun.objects.filter(pk=run.pk).update(cursor=-1, planned=0)
        return True


def leave(run_id: int, member: Member) -> None:
    """Take no part any more; a run that nobody works on waits for the next worker."""
    with transaction.atomic():
        run = lock(run_id)
        _rows(run_id, member).filter(left_at=None).update(left_at=Now(), rate=None)
        if run:
            settle(run)
