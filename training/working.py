"""What a worker does with a job: claim it, do it, and say how it ended."""

import logging
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce

from metrics import catalogue, disk
from metrics.clock import Now
from metrics.models import ConfiguredMetric
from metrics.periodic import Periodic
from training import folders, kinds
from training.corpora import as_corpus
from training.kinds import JobError, NewMetric, Outcome, StoppedError, Work
from training.models import TrainingJob

logger = logging.getLogger(__name__)
Status = TrainingJob.Status
MAX_ATTEMPTS = 5
BEAT_SECONDS = 2.0
# A worker that lost its job, as while the database was away, saves and leaves within seconds.
PATIENCE_SECONDS = 20.0
LONGEST_LABEL = ConfiguredMetric._meta.get_field("label").max_length


def work_off(
    pk: int,
    *,
    worker: str,
    should_stop: Callable[[], bool] = lambda: False,
    here: bool = False,
) -> None:
    """Claim a job and do it; does nothing where somebody else has it. How it ended is in it.

    A job `is_here` for the command that started it, and for nobody else.

    Raises only where the database stays away: then the job goes stale and the next worker goes on
    from what it saved.
    """
    token = _claim(pk, worker, here)
    if not token:
        return
    job = TrainingJob.objects.get(pk=pk)
    held = TrainingJob.objects.filter(pk=pk, claim=token, status=Status.RUNNING)
    with Periodic("job heartbeat", BEAT_SECONDS, lambda: bool(held.update(heartbeat_at=Now()))):
        try:
            with _folder(job):
                _finish(job, held, kinds.load(job.kind)(_work(job, held, should_stop)))
        except StoppedError:
            _release(held)
        except JobError as error:
            _fail(held, str(error))
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:
            logger.exception("Job %s failed", pk)
            _fail(held, _told(error, job.folder))
        except BaseException:
            _release(held)
            raise


def _claim(pk: int, worker: str, here: bool) -> str:
    """Take a job that is queued or stale; empty where another worker has it or it is over."""
    waits = Q(status=Status.QUEUED) | TrainingJob.is_stale()
    takeable = TrainingJob.objects.filter(waits, pk=pk, is_here=here)
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
    _fail(takeable, f"Given up after {MAX_ATTEMPTS} attempts.")
    return ""


def _fail(rows: QuerySet[TrainingJob], message: str) -> None:
    rows.update(status=Status.FAILED, message=message, claim="", finished_at=Now())


def _told(error: Exception, folder: Path) -> str:
    """What went wrong, in a sentence where the disk refused."""
    place = Path(error.filename) if isinstance(error, OSError) and error.filename else folder
    return disk.refusal(error, place) or f"{type(error).__name__}: {error}"


def _release(held: QuerySet[TrainingJob]) -> None:
    """Hand the job back for any worker; one that was cancelled is held by nobody."""
    held.update(status=Status.QUEUED, claim="", attempts=F("attempts") - 1, message="")


def _folder(job: TrainingJob) -> AbstractContextManager[None]:
    """The job's folder for us alone; rows are guarded by the claim."""
    if not kinds.KINDS[job.kind].has_folder:
        return nullcontext()
    return folders.held(job.folder, f"job {job.pk}, {job.name}", PATIENCE_SECONDS)


def _work(job: TrainingJob, held: QuerySet[TrainingJob], should_stop: Callable[[], bool]) -> Work:
    def report(progress: dict[str, Any]) -> None:
        if should_stop() or not held.update(progress=progress, heartbeat_at=Now()):
            raise StoppedError

    return Work(
        options=job.options,
        folder=job.folder,
        corpora=[as_corpus(row) for row in job.corpora.order_by("name")],
        report=report,
        pk=job.pk,
    )


def _finish(job: TrainingJob, held: QuerySet[TrainingJob], outcome: Outcome) -> None:
    """Store the outcome and register its metric, both or neither."""
    with transaction.atomic():
        made = _register(job, outcome.metric) if outcome.metric and held.exists() else None
        held.update(
            status=Status.DONE,
            result=outcome.result,
            metric=made,
            message="",
            claim="",
            finished_at=Now(),
        )


def _register(job: TrainingJob, metric: NewMetric) -> ConfiguredMetric:
    return catalogue.configure(
        family=metric.family,
        name=f"{job.name}-{job.pk}",
        label=metric.label[:LONGEST_LABEL],
        options=metric.options,
        user=job.created_by,
    )
