"""Workers that died: what they held is cut into pieces that others take.

A text that kills its workers is thus alone after a few of them, and the run fails naming it.
"""

from django.db import transaction

from metrics.clock import Now
from metrics.contents import describe_slice
from metrics.models import Lease, MetricRun, RunWorker
from metrics.run_state import Status, end, is_silent, lock, settle, there

MAX_ATTEMPTS = 5
PIECES = 10


def reap() -> None:
    """Take from all workers that fell silent what they held."""
    silent = RunWorker.objects.filter(
        is_silent(), left_at=None, run__status__in=MetricRun.ACTIVE
    ).values_list("run", flat=True)
    for run_id in set(silent):
        with transaction.atomic():
            run = lock(run_id)
            if run and take_from_the_silent(run):
                settle(run)


def take_from_the_silent(run: MetricRun) -> bool:
    """Free the slices of dead workers; whether the run goes on."""
    for worker in there(run).filter(is_silent()):
        RunWorker.objects.filter(pk=worker.pk).update(left_at=Now(), is_lost=True, rate=None)
        message = f"{worker.name} stopped answering; the run goes on elsewhere."
        MetricRun.objects.filter(pk=run.pk).update(message=message)
        for lease in worker.leases.all():
            if lease.attempts + 1 >= MAX_ATTEMPTS:
                end(run, Status.FAILED, _poison(worker, lease))
                return False
            _cut(lease)
    return True


def _poison(worker: RunWorker, lease: Lease) -> str:
    return (
        f"Given up after {MAX_ATTEMPTS} attempts: {worker.name}, as others before it, stopped "
        f"answering at {describe_slice(lease)}."
    )


def _cut(lease: Lease) -> None:
    """Put pieces of a slice in its place, free for everybody."""
    step = max(1, -(-lease.size // PIECES))
    Lease.objects.bulk_create(
        Lease(
            run_id=lease.run_id,
            first=first,
            size=min(step, lease.first + lease.size - first),
            attempts=lease.attempts + 1,
        )
        for first in range(lease.first, lease.first + max(lease.size, 1), step)
    )
    lease.delete()
