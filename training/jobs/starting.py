"""Start, cancel and resume training jobs: by page, command and API.

Jobs that ended before they were done go on from what they saved. `work` does them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils.text import slugify

from core.work import claims
from core.work.models import Now
from core.work.sending import send_on_commit
from metrics import options
from training.contract import KINDS
from training.jobs import folders
from training.jobs.work import command_here
from training.models import ParallelCorpus, TrainingJob

# The metric that comes of it is named after the job and its number.
LONGEST_NAME = 45


def check(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked settings of a job; ValidationError has the settings at fault by name."""
    if kind not in KINDS:
        raise ValidationError(f"There is no kind of job named {kind!r}.")
    chosen = KINDS[kind]
    known = {option.name for option in chosen.options}
    unknown = sorted(set(given) - known)
    if unknown:
        raise ValidationError(f"{chosen.label} has no setting {', '.join(unknown)}.")
    cleaned, wrong = dict[str, Any](), dict[str, str]()
    for option in chosen.options:
        try:
            cleaned |= options.clean_all([option], given)
        except ValueError as error:
            wrong[option.name] = str(error)
    if not wrong:
        labels = {option.name: option.label for option in chosen.options}
        found = chosen.conflicts(cleaned)
        wrong = {name: f"{labels[name]}: {message}" for name, message in found.items()}
    if wrong:
        raise ValidationError(wrong)
    return cleaned


def slug_of(name: str) -> str:
    """Return a name as addresses and metrics have it: a–z, digits, hyphens.

    ValidationError where nothing is left, or too much for a metric's name.
    """
    slug = slugify(slugify(name).replace("_", "-"))
    if not slug or len(slug) > LONGEST_NAME:
        raise ValidationError(
            f"Give a name of letters a–z and digits, {LONGEST_NAME} characters at most."
        )
    return slug


@transaction.atomic
def start(
    *,
    kind: str,
    name: str,
    given: Mapping[str, Any],
    corpora: Sequence[ParallelCorpus] = (),
    sweep: str = "",
    user: Any = None,
    enqueue: bool = True,
    here: bool = False,
) -> TrainingJob:
    """Start a job, or with `here` leave it to the caller's own process.

    ValidationError where its settings or its corpus do not fit.
    """
    cleaned = check(kind, given)
    if KINDS[kind].needs_corpus and not corpora:
        raise ValidationError("Choose a parallel corpus.")
    job = TrainingJob.objects.create(
        kind=kind,
        name=slug_of(name),
        options=cleaned,
        queue=cleaned.get("queue") or KINDS[kind].queue,
        sweep=sweep,
        is_here=here,
        created_by=user,
    )
    job.corpora.set(corpora)
    if enqueue and not here:
        send_on_commit([job])
    return job


def cancel(job: TrainingJob) -> bool:
    """Cancel a job; its worker stops at its next report, and what it saved is kept."""
    rows = TrainingJob.objects.filter(pk=job.pk)
    with transaction.atomic():
        return bool(claims.cancel(rows) and rows.update(finished_at=Now()))


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
    chosen, wanted = check(kind, given), {corpus.pk for corpus in corpora}
    begun = TrainingJob.objects.filter(kind=kind, name=slug_of(name), is_here=True)
    for job in begun.exclude(status=Status.DONE).order_by("-pk"):
        if job.options == chosen and {corpus.pk for corpus in job.corpora.all()} == wanted:
            return job
    return None
