"""Trainings as work (`core.work`): a child trains, saves as it goes, and stores what it found.

A host that lacks packages or checkpoints for a job lets it wait, and says so on the job's page.
"""

import logging
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from core import disk
from core.work import processes
from core.work.claims import fail, finish, give_back, hold, retry
from core.work.kinds import Lease, WorkKind
from core.work.models import Now
from core.work.working import do_one
from metrics import catalogue
from metrics.models import ConfiguredMetric
from metrics.stock import hosts, inventory
from metrics.workers import capability
from training import contract
from training.contract import KINDS, JobError, NewMetric, Outcome, StoppedError, Work
from training.jobs import folders
from training.models import TrainingJob, Translation
from training.parallel.corpora import as_corpus

logger = logging.getLogger(__name__)
# Whoever lost a job, as while the database was away, saves and leaves within seconds.
PATIENCE_SECONDS = 20.0
LONGEST_LABEL = ConfiguredMetric._meta.get_field("label").max_length
COMMAND_ENDED = (
    "The command that worked on it stopped answering. Started again, the same command goes on from "
    "what was saved."
)


class Trainings(WorkKind[TrainingJob]):
    """Jobs of all contract. What a job saved lies in its folder, so that any process that sees the
    folder can go on with it."""

    name = "training"
    model = TrainingJob
    max_attempts = 5
    soft_seconds = hard_seconds = None
    # Longer than any step that reports nothing, such as loading an encoder or aligning words.
    hang_seconds = 3600.0
    is_long = True

    def fit(self, rows: QuerySet[TrainingJob]) -> QuerySet[TrainingJob]:
        """Leave out jobs of commands, and those for which this host lacks something."""
        ours = rows.filter(is_here=False)
        return ours.exclude(pk__in=[row.pk for row in ours if note(row)])

    def claim(self, row: TrainingJob) -> bool:
        """Note who has it, since when."""
        taken = super().claim(row)
        if taken:
            started = Coalesce("started_at", Now())
            worker = command_here() if row.is_here else processes.label()
            changed = {"worker": worker[:200], "started_at": started, "lacks": {}}
            TrainingJob.objects.filter(pk=row.pk).update(**changed)
        return taken

    def do(self, row: TrainingJob, lease: Lease) -> None:
        """Train; JobError ends the job, StoppedError leaves it to whoever comes next."""
        try:
            with _folder(row):
                _store(row, contract.load(row.kind)(_work(row, lease)))
        except StoppedError:
            give_back(row)
        except JobError as error:
            fail(row, str(error))

    def failed(self, row: TrainingJob, error: Exception) -> None:
        """Whatever it was would come again."""
        fail(row, _told(error, row.folder))

    def lost(self, row: TrainingJob) -> None:
        """A job of a command waits for that command: it may read what no worker has."""
        if row.is_here:
            fail(row, COMMAND_ENDED)
        else:
            retry(row, "Its worker stopped answering.")

    def ended(self, row: TrainingJob) -> None:
        """Note when."""
        TrainingJob.objects.filter(pk=row.pk).update(finished_at=Now())


trainings = Trainings()


def command_here() -> str:
    """Return what a command of this machine is called as the worker of its job."""
    return f"manage.py train on {socket.gethostname()}"


def work_here(job: TrainingJob) -> None:
    """Work a job off that `is_here` for the command of this process."""
    do_one(trainings, TrainingJob.objects.filter(pk=job.pk, is_here=True))


def _told(error: Exception, folder: Path) -> str:
    """What went wrong, in a sentence where the disk refused."""
    place = Path(error.filename) if isinstance(error, OSError) and error.filename else folder
    return str(disk.refusal(error, place) or f"{type(error).__name__}: {error}")


def _folder(job: TrainingJob) -> AbstractContextManager[None]:
    """The job's folder for us alone; rows are guarded by the claim."""
    if not contract.KINDS[job.kind].has_folder:
        return nullcontext()
    return folders.held(job.folder, f"job {job.pk}, {job.name}", PATIENCE_SECONDS)


def _work(job: TrainingJob, lease: Lease) -> Work:
    def report(progress: dict[str, Any]) -> None:
        lease.progress()
        if lease.should_stop or not hold(job, progress=progress):
            raise StoppedError

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
        finish(job, result=outcome.result, metric=made, message="", finished_at=Now())


def _register(job: TrainingJob, metric: NewMetric) -> ConfiguredMetric:
    return catalogue.configure(
        family=metric.family,
        name=f"{job.name}-{job.pk}",
        label=metric.label[:LONGEST_LABEL],
        options=metric.options,
        user=job.created_by,
    )


INSTALL = "pip install -r requirements.txt"


def lacking(job: TrainingJob) -> list[str]:
    """Return what this host lacks for a job: a sentence with the command for each."""
    return list(_lacking(job)) if job.kind in KINDS else [f"This host knows no {job.kind}."]


def _lacking(job: TrainingJob) -> Iterator[str]:
    kind = KINDS[job.kind]
    for package in kind.packages:
        if find_spec(package) is None:
            yield f"The package {package} is not installed: {INSTALL}"
    for name in kind.checkpoints(job.options):
        if inventory.find(name) is None:
            yield f"The checkpoint {name} is missing: {hosts.fetch_command(name)}"
    if names := kind.metrics(job.options):
        known = catalogue.infos(retired=True)
        for name in names:
            if name in known:
                yield from capability.lacking(known[name])


def note(job: TrainingJob) -> list[str]:
    """Return what this host lacks for a job that waits, and tell its page."""
    return tell(job, lacking(job))


def tell(row: TrainingJob | Translation, found: list[str]) -> list[str]:
    """Note in a row what this host lacks for it; return that."""
    host = socket.gethostname()
    if row.lacks.get(host, []) != found:
        told = {name: lacks for name, lacks in (row.lacks | {host: found}).items() if lacks}
        rows = type(row)._default_manager.filter(pk=row.pk, lacks=row.lacks)
        rows.update(lacks=told)
    return found
