"""What a job needs of its host: packages and checkpoints. Without them it waits, and says so."""

import socket
from collections.abc import Iterator
from importlib.util import find_spec

from metrics import catalogue
from metrics.stock import hosts, inventory
from metrics.workers import capability
from training.contract import KINDS
from training.models import TrainingJob, Translation

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
