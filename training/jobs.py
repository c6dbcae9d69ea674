"""Start, claim, work off, cancel and hand out training jobs."""

import logging
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce, Now
from django.utils.text import slugify
from kombu.exceptions import OperationalError as BrokerError

from metrics import catalogue, options
from metrics.periodic import Periodic
from training import kinds
from training.corpora import as_corpus
from training.kinds import KINDS, JobError, Outcome, StoppedError, Work
from training.models import ParallelCorpus, TrainingJob

logger = logging.getLogger(__name__)
Status = TrainingJob.Status
MAX_ATTEMPTS = 5
BEAT_SECONDS = 2.0
# The metric that comes of it is named after the job and its number.
LONGEST_NAME = 45
# A message is sent again after so long: brokers lose those of workers that are killed.
RESEND_SECONDS = 60


def check(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked settings of a job; ValidationError names the setting at fault."""
    if kind not in KINDS:
        raise ValidationError(f"There is no kind of job named {kind!r}.")
    chosen = KINDS[kind]
    known = {option.name for option in chosen.options}
    unknown = sorted(set(given) - known)
    if unknown:
        raise ValidationError(f"{chosen.label} has no setting {', '.join(unknown)}.")
    try:
        return options.clean_all(chosen.options, given)
    except ValueError as error:
        raise ValidationError(str(error)) from error


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
) -> TrainingJob:
    """Start a job; ValidationError where its settings or its corpus do not fit."""
    cleaned = check(kind, given)
    if KINDS[kind].needs_corpus and not corpora:
        raise ValidationError("Choose a parallel corpus.")
    if not slugify(name) or len(name) > LONGEST_NAME:
        raise ValidationError("Give the job a short name of letters and digits.")
    job = TrainingJob.objects.create(
        kind=kind,
        name=slugify(name),
        options=cleaned,
        sweep=sweep,
        created_by=user,
        handed_out_at=Now(),
    )
    job.corpora.set(corpora)
    if enqueue:
        transaction.on_commit(partial(hand_out, job))
    return job


def hand_out(job: TrainingJob) -> None:
    """Put a job into its queue; where the broker is away, a worker does it later."""
    from training.tasks import work_off_job

    try:
        work_off_job.apply_async(args=[job.pk], queue=job.queue)
    except (BrokerError, OSError):
        logger.warning("Job %s waits until the broker is back", job.pk, exc_info=True)


def cancel(job: TrainingJob) -> bool:
    """Cancel a job; its worker stops at its next report, and what it saved is kept."""
    return bool(
        TrainingJob.objects.filter(pk=job.pk, status__in=TrainingJob.ACTIVE).update(
            status=Status.CANCELLED, claim="", finished_at=Now()
        )
    )


def _stale() -> Q:
    limit = Now() - timedelta(seconds=settings.RUN_STALE_SECONDS)
    return Q(status=Status.RUNNING, heartbeat_at__lt=limit)


def requeue_stale(*, everything: bool = False) -> int:
    """Hand out again what no living worker has; return how many jobs that were."""
    TrainingJob.objects.filter(_stale()).update(
        status=Status.QUEUED, claim="", handed_out_at=None, message="Its worker stopped answering."
    )
    due = Q(handed_out_at=None) | Q(handed_out_at__lt=Now() - timedelta(seconds=RESEND_SECONDS))
    waiting = TrainingJob.objects.filter(Q() if everything else due, status=Status.QUEUED)
    return sum(_requeue(job, due, everything) for job in waiting.order_by("pk"))


def _requeue(job: TrainingJob, due: Q, everything: bool) -> bool:
    rows = TrainingJob.objects.filter(Q() if everything else due, pk=job.pk, status=Status.QUEUED)
    if not rows.update(handed_out_at=Now()):
        return False
    hand_out(job)
    return True


def _claim(pk: int, worker: str) -> str:
    """Take a job that is queued or stale; empty where another worker has it or it is over."""
    takeable = TrainingJob.objects.filter(Q(status=Status.QUEUED) | _stale(), pk=pk)
    token = secrets.token_hex(16)
    taken = takeable.filter(attempts__lt=MAX_ATTEMPTS).update(
        status=Status.RUNNING,
        claim=token,
        worker=worker[:200],
        attempts=F("attempts") + 1,
        heartbeat_at=Now(),
        started_at=Coalesce("started_at", Now()),
    )
    if taken:
        return token
    takeable.update(
        status=Status.FAILED,
        message=f"Given up after {MAX_ATTEMPTS} attempts.",
        finished_at=Now(),
    )
    return ""


def work_off(pk: int, *, worker: str, should_stop: Callable[[], bool] = lambda: False) -> None:
    """Claim a job and do it; does nothing where somebody else has it. How it ended is in it.

    Raises only where the database stays away: then the job goes stale and the next worker goes on
    from what it saved.
    """
    token = _claim(pk, worker)
    if not token:
        return
    held = TrainingJob.objects.filter(pk=pk, claim=token, status=Status.RUNNING)
    with Periodic("job heartbeat", BEAT_SECONDS, lambda: bool(held.update(heartbeat_at=Now()))):
        try:
            _finish(pk, held, kinds.load(_kind(pk))(_work(pk, held, should_stop)))
        except StoppedError:
            _release(held)
        except JobError as error:
            held.update(status=Status.FAILED, message=str(error), claim="", finished_at=Now())
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:
            logger.exception("Job %s failed", pk)
            message = f"{type(error).__name__}: {error}"
            held.update(status=Status.FAILED, message=message, claim="", finished_at=Now())
        except BaseException:
            _release(held)
            raise


def _kind(pk: int) -> str:
    return TrainingJob.objects.values_list("kind", flat=True).get(pk=pk)


def _release(held: QuerySet[TrainingJob]) -> None:
    """Hand the job back for any worker; one that was cancelled is held by nobody."""
    held.update(
        status=Status.QUEUED, claim="", attempts=F("attempts") - 1, handed_out_at=None, message=""
    )


def _work(pk: int, held: QuerySet[TrainingJob], should_stop: Callable[[], bool]) -> Work:
    job = TrainingJob.objects.get(pk=pk)
    job.folder.mkdir(parents=True, exist_ok=True)

    def report(progress: dict[str, Any]) -> None:
        if should_stop() or not held.update(progress=progress, heartbeat_at=Now()):
            raise StoppedError

    return Work(
        options=job.options,
        folder=job.folder,
        corpora=[as_corpus(row) for row in job.corpora.order_by("name")],
        report=report,
        pk=pk,
    )


def _finish(pk: int, held: QuerySet[TrainingJob], outcome: Outcome) -> None:
    """Store the outcome and register its metric, both or neither."""
    job = TrainingJob.objects.get(pk=pk)
    with transaction.atomic():
        metric = None
        if outcome.metric and held.exists():
            metric = catalogue.configure(
                family=outcome.metric.family,
                name=f"{job.name}-{job.pk}",
                label=outcome.metric.label,
                options=outcome.metric.options,
                user=job.created_by,
            )
        held.update(
            status=Status.DONE,
            result=outcome.result,
            metric=metric,
            message="",
            claim="",
            finished_at=Now(),
        )


def siblings(job: TrainingJob) -> Iterable[TrainingJob]:
    """Return the jobs that were started together with this one, itself included."""
    return TrainingJob.objects.filter(sweep=job.sweep) if job.sweep else [job]
