"""The state of a run that several workers share: its activity, its workers, its end.

A run is only changed under :func:`lock`. Times are those of the database, so that the clocks of
several hosts need not agree.
"""

import time
from datetime import timedelta

from django.db import OperationalError, transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Sum

from core.database.waits import is_lock_timeout
from core.work.models import Now, Work
from metaeval.messages import Message, message
from metrics.contents import describe
from metrics.models import MetricRun, RunPlan, RunWorker, Slice

Status = MetricRun.Status
# Between two slices a run has nobody at work for a moment.
IDLE_SECONDS = 10.0
LOCKED = message(
    "run.locked",
    "The run was not cancelled, because a worker is storing scores of it and does not respond. "
    "Cancel the run again in a minute; the database ends the worker's transaction by then.",
)


class RunLockedError(OperationalError):
    """A worker is in a long transaction that changes the run."""

    message = LOCKED

    def __str__(self) -> str:
        return LOCKED.text


def lock(run_id: int, *, is_waiting: bool = True) -> MetricRun | None:
    """Lock an active run; return None if it has ended.

    Raises OperationalError if another transaction holds the lock for too long, or at all unless
    `is_waiting`.
    """
    rows = MetricRun.objects.select_for_update(nowait=not is_waiting)
    return rows.filter(pk=run_id, status__in=MetricRun.ACTIVE).first()


def running_slices() -> QuerySet[Slice]:
    """Return the slices that workers are scoring."""
    return Slice.objects.filter(status=Slice.Status.RUNNING)


def there(run: MetricRun) -> QuerySet[RunWorker]:
    """Return the workers that are scoring a slice of a run."""
    return RunWorker.objects.filter(Exists(running_slices().filter(worker=OuterRef("pk"))), run=run)


def rate_of(run: MetricRun) -> float | None:
    """Return the contents per second of all workers together."""
    rate: float | None = there(run).aggregate(rate=Sum("rate"))["rate"]
    return rate


def fail(run_id: int, problem: Message) -> None:
    """End a run for which no retry would help."""
    with transaction.atomic():
        if run := lock(run_id):
            end(run, Status.FAILED, problem)


def cancel(run_id: int) -> bool:
    """End a run that is active; its workers stop within seconds.

    Raises RunLockedError where a worker locks the run for more than a second.
    """
    for pause in (0.1, 0.3, 0.6, 0.0):
        try:
            with transaction.atomic():
                run = lock(run_id, is_waiting=False)
                if run:
                    end(run, Status.CANCELLED, run.message)
                return run is not None
        except OperationalError as error:
            if not is_lock_timeout(error):
                raise
            time.sleep(pause)
    raise RunLockedError


def end(run: MetricRun, status: Work.Status, about: Message | str = "") -> None:
    """End a locked run; no worker can take a slice of it any more."""
    run.slices.all().delete()
    RunPlan.objects.filter(run=run).delete()
    MetricRun.objects.filter(pk=run.pk).update(
        status=status, rate=None, message=about, finished_at=Now()
    )


def finish_if_done(run: MetricRun) -> None:
    """End a run without slices; it has failed if none of its texts has a score."""
    run.refresh_from_db(fields=["status", "failed", "total"])
    if not run.is_active or run.slices.exists():
        return
    if run.failed and run.failed == run.total:
        end(run, Status.FAILED, _no_text_scored(run))
    else:
        end(run, Status.DONE)


def _no_text_scored(run: MetricRun) -> Message:
    failure = run.failed_texts.order_by("pk").last()
    if failure is None:
        return message("run.no-text-scored", "No text could be scored.")
    return message(
        "run.no-text-scored-because",
        "No text could be scored. The last error, in {output}: {error}",
        output=describe(failure.output_id),
        error=failure.error,
    )


def settle(seconds: float = IDLE_SECONDS) -> None:
    """Queue the runs that no worker has worked on for `seconds`."""
    since = Now() - timedelta(seconds=seconds)
    idle = ~Exists(running_slices().filter(run=OuterRef("pk")))
    rows = MetricRun.objects.filter(idle, status=Status.RUNNING, heartbeat_at__lte=since)
    rows.update(status=Status.QUEUED, rate=None)


def count(run: MetricRun, *, done: int = 0, reused: int = 0, failed: int = 0) -> None:
    """Add to the counts of a locked run."""
    MetricRun.objects.filter(pk=run.pk).update(
        done=F("done") + done,
        reused=F("reused") + reused,
        failed=F("failed") + failed,
        rate=rate_of(run),
        heartbeat_at=Now(),
    )
