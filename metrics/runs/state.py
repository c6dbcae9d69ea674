"""The state of a run that several workers share: whether it is active, who is there, its end.

What is done to a run is done under :func:`lock`. Times are the database's own, so that the clocks
of several hosts need not agree.
"""

import time
from datetime import timedelta

from django.db import OperationalError, transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Sum

from core.database.waits import is_lock_timeout
from core.work.models import Now, Work
from metaeval.messages import Message
from metrics.contents import describe
from metrics.models import MetricRun, RunPlan, RunWorker, Slice

Status = MetricRun.Status
# Between two slices a run has nobody at work for a moment.
IDLE_SECONDS = 10.0
HELD = (
    "A worker is storing scores of this run and does not answer. Nothing was cancelled. Cancel the "
    "run again in a minute: by then the database has ended what that worker was doing."
)


class HeldError(OperationalError):
    """A worker is in a transaction that changes the run, and does not end it."""

    def __str__(self) -> str:
        return HELD


def lock(run_id: int, *, is_waiting: bool = True) -> MetricRun | None:
    """Lock a run that is active; None where it has ended.

    Raises OperationalError where another transaction holds it for too long, or at all if not
    `is_waiting`.
    """
    rows = MetricRun.objects.select_for_update(nowait=not is_waiting)
    return rows.filter(pk=run_id, status__in=MetricRun.ACTIVE).first()


def in_hand() -> QuerySet[Slice]:
    """Return the slices that workers are at."""
    return Slice.objects.filter(status=Slice.Status.RUNNING)


def there(run: MetricRun) -> QuerySet[RunWorker]:
    """Return the workers that have a slice of a run in hand."""
    return RunWorker.objects.filter(Exists(in_hand().filter(worker=OuterRef("pk"))), run=run)


def rate_of(run: MetricRun) -> float | None:
    """Contents a second of all workers together."""
    rate: float | None = there(run).aggregate(rate=Sum("rate"))["rate"]
    return rate


def fail(run_id: int, message: Message | str) -> None:
    """No retry would help; `message` says why."""
    with transaction.atomic():
        if run := lock(run_id):
            end(run, Status.FAILED, message)


def cancel(run_id: int) -> bool:
    """End a run that is active; its workers stop within seconds.

    Raises HeldError where a worker holds the run for more than a second: it may have fallen silent.
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
    raise HeldError


def end(run: MetricRun, status: Work.Status, message: Message | str) -> None:
    """End a locked run; nothing of it can be taken any more."""
    run.slices.all().delete()
    RunPlan.objects.filter(run=run).delete()
    MetricRun.objects.filter(pk=run.pk).update(
        status=status, rate=None, message=message, finished_at=Now()
    )


def finish_if_done(run: MetricRun) -> None:
    """End a run of which no slice is left; it has failed where none of its texts has a score."""
    run.refresh_from_db(fields=["status", "failed", "total"])
    if not run.is_active or run.slices.exists():
        return
    if run.failed and run.failed == run.total:
        end(run, Status.FAILED, f"No text could be scored. {last_error(run)}")
    else:
        end(run, Status.DONE, "")


def last_error(run: MetricRun) -> str:
    """Return what became of the text that failed last, in a sentence."""
    failure = run.failed_texts.order_by("pk").last()
    return f"{failure.error} ({describe(failure.output_id)})" if failure else ""


def settle(seconds: float = IDLE_SECONDS) -> None:
    """Let runs wait at which nobody has been at work for so long."""
    since = Now() - timedelta(seconds=seconds)
    idle = ~Exists(in_hand().filter(run=OuterRef("pk")))
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
