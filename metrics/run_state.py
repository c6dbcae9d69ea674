"""The state of a run that several workers share: whether it is active, who is there, its end.

What is done to a run is done under :func:`lock`. Times are the database's own, so that the clocks
of several hosts need not agree.
"""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Min, Q, QuerySet, Sum

from metrics.clock import Now
from metrics.models import MetricRun, RunPlan, RunWorker

Status = MetricRun.Status


def is_silent() -> Q:
    """Whether a worker of a run has given no sign of life for RUN_STALE_SECONDS."""
    return Q(seen_at__lt=Now() - timedelta(seconds=settings.RUN_STALE_SECONDS))


def lock(run_id: int) -> MetricRun | None:
    """Lock a run that is active; None where it has ended."""
    rows = MetricRun.objects.select_for_update().filter(status__in=MetricRun.ACTIVE)
    return rows.filter(pk=run_id).first()


def there(run: MetricRun) -> QuerySet[RunWorker]:
    """The workers that take part now."""
    return RunWorker.objects.filter(run=run, left_at=None)


def rate_of(run: MetricRun) -> float | None:
    """Contents a second of all workers together."""
    rate: float | None = there(run).aggregate(rate=Sum("rate"))["rate"]
    return rate


def fail(run_id: int, message: str) -> None:
    """No retry would help; `message` says why."""
    with transaction.atomic():
        if run := lock(run_id):
            end(run, Status.FAILED, message)


def cancel(run_id: int) -> bool:
    """End a run that is active; its workers stop after the slices in hand."""
    with transaction.atomic():
        run = lock(run_id)
        if run:
            end(run, Status.CANCELLED, run.message)
        return run is not None


def end(run: MetricRun, status: Status, message: str) -> None:
    """End a locked run; nothing of it can be taken any more."""
    run.leases.all().delete()
    RunPlan.objects.filter(run=run).delete()
    MetricRun.objects.filter(pk=run.pk).update(
        status=status, rate=None, message=message, finished_at=Now()
    )


def finish_if_done(run: MetricRun) -> bool:
    """End a locked run of which nothing is left and nothing in hand."""
    if run.cursor < run.planned or run.leases.exists():
        return False
    end(run, Status.DONE, "")
    return True


def settle(run: MetricRun) -> None:
    """Bring the status of a locked run in line: done, or queued where nobody is at work."""
    if finish_if_done(run) or there(run).exists():
        return
    due = run.leases.filter(worker=None).aggregate(due=Min("due_at"))["due"]
    MetricRun.objects.filter(pk=run.pk).update(
        status=Status.QUEUED, rate=None, requeue_at=due or Now()
    )
