"""Start and cancel training jobs, and have workers notice those that wait: `working` does them."""

import logging
from collections.abc import Container, Mapping, Sequence
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.text import slugify
from kombu.exceptions import OperationalError as BrokerError

from metrics import options
from metrics.clock import Now
from training import tasks
from training.kinds import KINDS
from training.models import ParallelCorpus, TrainingJob

logger = logging.getLogger(__name__)
Status = TrainingJob.Status
# The metric that comes of it is named after the job and its number.
LONGEST_NAME = 45
COMMAND_ENDED = (
    "The command that worked on it stopped answering. Started again, the same command goes on from "
    "what was saved."
)


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
        sweep=sweep,
        is_here=here,
        created_by=user,
    )
    job.corpora.set(corpora)
    if enqueue and not here:
        transaction.on_commit(partial(hand_out, job))
    return job


def hand_out(job: TrainingJob) -> None:
    """Put a job into its queue; where the broker is away, a worker finds it later."""
    try:
        tasks.work_off_job.apply_async(args=[job.pk], queue=job.queue)
    except (BrokerError, OSError):
        logger.warning("Job %s waits until the broker is back", job.pk, exc_info=True)


def cancel(job: TrainingJob) -> bool:
    """Cancel a job; its worker stops at its next report, and what it saved is kept."""
    return bool(
        TrainingJob.objects.filter(pk=job.pk, status__in=TrainingJob.ACTIVE).update(
            status=Status.CANCELLED, claim="", finished_at=Now()
        )
    )


def requeue_stale() -> None:
    """Let any worker have the jobs of workers that stopped answering.

    What a command worked off by itself waits for that command: it may read what no worker has.
    """
    stale = TrainingJob.objects.filter(TrainingJob.is_stale())
    stale.filter(is_here=False).update(
        status=Status.QUEUED, claim="", message="Its worker stopped answering."
    )
    stale.filter(is_here=True).update(
        status=Status.FAILED, claim="", message=COMMAND_ENDED, finished_at=Now()
    )


def hand_out_next(queues: Container[str]) -> bool:
    """Hand out the oldest job that waits in these queues; whether there is one."""
    waiting = TrainingJob.objects.filter(status=Status.QUEUED, is_here=False).order_by("pk")
    job = next((job for job in waiting if job.queue in queues), None)
    if job:
        hand_out(job)
    return job is not None
