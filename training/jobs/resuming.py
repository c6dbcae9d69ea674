"""Jobs that ended before they were done go on from what they saved: by page, command and API."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q

from core.work.models import Now
from core.work.sending import send_on_commit
from training.jobs import folders, starting
from training.jobs.work import command_here
from training.models import ParallelCorpus, TrainingJob

Status = TrainingJob.Status


@transaction.atomic
def resume(job: TrainingJob, *, here: bool = False) -> None:
    """Have a job go on: by a worker, or in this process where `here`.

    ValidationError says why it cannot: it is done, it goes on already, or its folder is in use.
    """
    if job.status == Status.DONE:
        raise ValidationError(f"Job {job.pk}, {job.name}, is done.")
    if holder := folders.holder(job.folder):
        raise ValidationError(f"Job {job.pk}, {job.name}, is being trained by {holder}.")
    resumed = TrainingJob.objects.filter(_has_stopped(), pk=job.pk).update(
        status=Status.QUEUED, is_here=here, owner="", message="", attempts=0, finished_at=None
    )
    if not resumed:
        raise ValidationError(f"Job {job.pk}, {job.name}, goes on already. {_seen(job)}".strip())
    job.refresh_from_db()
    if not here:
        send_on_commit([job])


def _has_stopped() -> Q:
    """Failed, cancelled or silent; or started by a command of this machine whose process, as its
    folder is free, no longer lives."""
    ended = Q(status__in=(Status.FAILED, Status.CANCELLED))
    silent = Q(status=Status.RUNNING, expires_at__lt=Now())
    was_here = Q(worker__in=("", command_here()), status__in=TrainingJob.ACTIVE)
    return ended | silent | Q(is_here=True) & was_here


def _seen(job: TrainingJob) -> str:
    if job.status == Status.QUEUED:
        return "It waits for a worker."
    return f"{job.worker} gave its last sign of life at {job.heartbeat_at:%H:%M:%S} UTC."


def left_by_command(
    *, kind: str, name: str, given: Mapping[str, Any], corpora: Sequence[ParallelCorpus]
) -> TrainingJob | None:
    """Return the newest job that the same command began here and did not end, or None.

    ValidationError as :func:`jobs.start`.
    """
    chosen, wanted = starting.check(kind, given), {corpus.pk for corpus in corpora}
    begun = TrainingJob.objects.filter(kind=kind, name=starting.slug_of(name), is_here=True)
    for job in begun.exclude(status=Status.DONE).order_by("-pk"):
        if job.options == chosen and {corpus.pk for corpus in job.corpora.all()} == wanted:
            return job
    return None
