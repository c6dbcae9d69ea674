"""Trainings as background jobs (`core.work`): a child trains, saves and stores the result.

A host that lacks packages or checkpoints for a job leaves it to others; the job's page says so.
"""

import logging
import socket
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from core import disk
from core.messages import as_json
from core.shared_files import SharedFolder
from core.work import processes
from core.work.claims import fail, finish, give_back, hold
from core.work.kinds import Lease, WorkKind, unexpected
from core.work.models import Now
from core.work.working import do_one
from metaeval.messages import Message, message
from metaeval.results import plain
from metrics import catalogue
from metrics.models import ConfiguredMetric
from metrics.stock import hosts, inventory
from metrics.workers import capability
from training import contract
from training.contract import KINDS, JobError, NewMetric, Outcome, StoppedError, Work
from training.jobs import saving
from training.models import TrainingJob, Translation
from training.parallel.corpora import as_corpus

logger = logging.getLogger(__name__)
# A process that lost a job, for example without a database, saves and stops within seconds.
LOCK_SECONDS = 20.0
# With a bucket: seconds between two looks at what a training has saved, and between two tries to
# store it there.
SHARE_SECONDS, BUCKET_SECONDS = 60.0, 5.0
LONGEST_LABEL = ConfiguredMetric._meta.get_field("label").max_length
COMMAND_ENDED = message(
    "training.command-lost",
    "The command that ran this job stopped responding. Run the same command again to continue from "
    "what was saved.",
)


class Trainings(WorkKind[TrainingJob]):
    """Jobs of all kinds.

    A job saves in its folder, so that any process that sees the folder can continue it.
    """

    name = "training"
    model = TrainingJob
    max_attempts = 5
    soft_seconds = hard_seconds = None
    # Longer than any step that reports nothing, such as loading an encoder or aligning words.
    hang_seconds = 3600.0
    is_long = True

    def fit(self, rows: QuerySet[TrainingJob]) -> QuerySet[TrainingJob]:
        """Exclude jobs of commands, and those for which this host lacks something."""
        ours = rows.filter(is_here=False)
        return ours.exclude(pk__in=[row.pk for row in ours if note(row)])

    def claim(self, row: TrainingJob) -> bool:
        """Record which worker has it, since when."""
        taken = super().claim(row)
        if taken:
            started = Coalesce("started_at", Now())
            worker = command_here() if row.is_here else processes.label()
            changed = {"worker": worker[:200], "started_at": started, "lacks": {}}
            TrainingJob.objects.filter(pk=row.pk).update(**changed)
        return taken

    def do(self, row: TrainingJob, lease: Lease) -> None:
        """Train; JobError ends the job, StoppedError leaves it to another worker."""
        try:
            with _folder(row):
                shared = SharedFolder(row.folder, (saving.LOCK,))
                if KINDS[row.kind].has_folder:
                    shared.take()
                _store(row, _train(row, _work(row, lease, shared), shared))
        except StoppedError:
            give_back(row)
        except JobError as error:
            fail(row, error.message)

    def failed(self, row: TrainingJob, error: Exception) -> None:
        """Fail: the same error would occur again."""
        fail(row, _reason(error, row.folder))

    def lost(self, row: TrainingJob) -> None:
        """Fail a job of a command, which may read what no worker has; retry any other."""
        if row.is_here:
            fail(row, COMMAND_ENDED)
        else:
            super().lost(row)

    def ended(self, row: TrainingJob) -> None:
        """Record when it ended."""
        TrainingJob.objects.filter(pk=row.pk).update(finished_at=Now())


trainings = Trainings()


def command_here() -> str:
    """Return the name of a command of this machine as the worker of its job."""
    return f"manage.py train on {socket.gethostname()}"


def work_here(job: TrainingJob) -> None:
    """Run a job that `is_here`, for the command of this process."""
    do_one(trainings, TrainingJob.objects.filter(pk=job.pk, is_here=True))


def _reason(error: Exception, folder: Path) -> Message:
    """Return the refusal of the disk, or the error as Python names it."""
    place = Path(error.filename) if isinstance(error, OSError) and error.filename else folder
    return disk.refusal(error, place) or unexpected(error)


def _folder(job: TrainingJob) -> AbstractContextManager[None]:
    """Lock the folder of the job; the claim protects its rows."""
    if not contract.KINDS[job.kind].has_folder:
        return nullcontext()
    return saving.locked(job.folder, job.title, LOCK_SECONDS)


def _train(job: TrainingJob, work: Work, shared: SharedFolder) -> Outcome:
    """Train, and store in the site's bucket what was saved, however it ends."""
    try:
        outcome = contract.load(job.kind)(work)
    except (StoppedError, JobError):
        _give(job, shared)
        raise
    while not _give(job, shared):
        # Without its files the result is of no use to other hosts.
        work.report({"stage": message("stage.bucket", "waiting for the storage of files")})
        time.sleep(BUCKET_SECONDS)
    return outcome


def _give(job: TrainingJob, shared: SharedFolder) -> bool:
    """Store what this host saved in the bucket, as long as it has the job; False if it refuses."""
    try:
        shared.give(lambda: hold(job))
    except OSError:
        logger.warning("The files of job %s could not be shared", job.pk, exc_info=True)
        return False
    return True


def _work(job: TrainingJob, lease: Lease, shared: SharedFolder) -> Work:
    given_at = time.monotonic()

    def report(progress: dict[str, Any]) -> None:
        nonlocal given_at
        lease.progress()
        if lease.should_stop or not hold(job, progress=plain(progress)):
            raise StoppedError
        if time.monotonic() - given_at > SHARE_SECONDS:
            _give(job, shared)
            given_at = time.monotonic()

    return Work(
        options=job.options,
        folder=job.folder,
        corpora=[as_corpus(row) for row in job.corpora.order_by("name")],
        report=report,
        pk=job.pk,
    )


def _store(job: TrainingJob, outcome: Outcome) -> None:
    """Store the outcome and register its metric, both or neither."""
    with transaction.atomic():
        made = _register(job, outcome.metric) if outcome.metric and hold(job) else None
        finish(job, result=plain(outcome.result), metric=made, message="", finished_at=Now())


def _register(job: TrainingJob, metric: NewMetric) -> ConfiguredMetric:
    return catalogue.configure(
        family=metric.family,
        name=f"{job.name}-{job.pk}",
        label=metric.label[:LONGEST_LABEL],
        options=metric.options,
        user=job.created_by,
    )


INSTALL = "pip install -r requirements.txt"


def lacking(job: TrainingJob) -> list[Message]:
    """Return what this host lacks for a job, with the command that would fix it."""
    if job.kind not in KINDS:
        return [
            message(
                "host.unknown-kind", "This host does not know jobs of kind {kind}.", kind=job.kind
            )
        ]
    return list(_lacking(job))


def missing_package(package: str) -> Message:
    """Return the message that a package is not installed."""
    return message(
        "host.missing-package",
        "The package {package} is not installed. Run: {command}",
        package=package,
        command=INSTALL,
    )


def missing_checkpoint(name: str) -> Message:
    """Return the message that a checkpoint is missing."""
    return message(
        "host.missing-checkpoint",
        "The checkpoint {checkpoint} is missing. Run: {command}",
        checkpoint=name,
        command=hosts.fetch_command(name),
    )


def _lacking(job: TrainingJob) -> Iterator[Message]:
    kind = KINDS[job.kind]
    for package in kind.packages:
        if find_spec(package) is None:
            yield missing_package(package)
    for name in kind.checkpoints(job.options):
        if inventory.fetched(name) is None:
            yield missing_checkpoint(name)
    if names := kind.metrics(job.options):
        known = catalogue.infos(retired=True)
        for name in names:
            if name in known:
                yield from capability.lacking(known[name])


def note(job: TrainingJob) -> list[Message]:
    """Store and return what this host lacks for a job that waits."""
    return store_lacks(job, lacking(job))


def store_lacks(row: TrainingJob | Translation, lacks: list[Message]) -> list[Message]:
    """Store in a row what this host lacks for it; return that."""
    host, new = socket.gethostname(), [as_json(each) for each in lacks]
    if row.lacks.get(host, []) != new:
        by_host = {name: found for name, found in (row.lacks | {host: new}).items() if found}
        rows = type(row)._default_manager.filter(pk=row.pk, lacks=row.lacks)
        rows.update(lacks=by_host)
    return lacks
