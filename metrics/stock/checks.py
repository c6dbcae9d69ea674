"""Compare hashes of checkpoints by background jobs (`core.work`) on each host that has them."""

from collections.abc import Iterable
from typing import Any

from core.messages import as_json
from core.work.claims import ask, finish
from core.work.kinds import Lease, WorkKind
from core.work.models import Now
from metaeval.messages import Message, from_json, message
from metaeval.reasons import reason_of
from metrics.base import MetricError
from metrics.checkpoints import places
from metrics.models import HashCheck
from metrics.models.fleet import Worker
from metrics.stock import inventory

# Reading gigabytes should not keep a GPU waiting where another queue is served, too.
QUEUES = ("slow", "mail", "documents-slow", "documents", "cpu")


class HashChecks(WorkKind[HashCheck]):
    """Jobs of the host that the row names."""

    name = "hash-check"
    model = HashCheck
    soft_seconds, hard_seconds = 1500.0, 1560.0

    def do(self, row: HashCheck, lease: Lease) -> None:
        """Compare, and store the differences."""
        about = inventory.look(row.checkpoint)
        size = about["size"] if about else None
        problems = [as_json(each) for each in verify(row.checkpoint)]
        finish(row, problems=problems, size=size, checked_at=Now())

    def failed(self, row: HashCheck, error: Exception) -> None:
        """Store that the files could not be compared."""
        problem = message(
            "checkpoint.not-compared",
            "The files cannot be compared: {error}",
            error=reason_of(error),
        )
        finish(row, problems=[as_json(problem)], checked_at=Now())


hash_checks = HashChecks()


def verify(name: str) -> list[Message]:
    """Return the differences from the known hashes on this host."""
    path = inventory.find(name)
    if path is None:
        return [places.missing_message(name)]
    try:
        return places.verify(path)
    except (OSError, ValueError, MetricError) as error:
        return [
            message(
                "checkpoint.not-read", "The files cannot be read: {error}", error=reason_of(error)
            )
        ]


def ask_for_check(name: str, workers: Iterable[Worker]) -> list[str]:
    """Let a worker of every host that has a checkpoint compare its hashes; return the hosts."""
    queues: dict[str, set[str]] = {}
    for worker in workers:
        if name in worker.checkpoints:
            queues.setdefault(worker.host, set()).update(worker.queues)
    for host, served in queues.items():
        queue = next((each for each in QUEUES if each in served), "gpu")
        where = {"queue": queue, "requires": f"host:{host}"}
        row, _ = HashCheck.objects.update_or_create(host=host, checkpoint=name, defaults=where)
        ask([row])
    return list(queues)


def under_way() -> set[tuple[str, str]]:
    """Return (host, checkpoint) of what is being compared or waits for it."""
    active = HashCheck.objects.filter(status__in=HashCheck.ACTIVE)
    return set(active.values_list("host", "checkpoint"))


def add_results(hosts: dict[Message | str, dict[str, Any]]) -> None:
    """Add the results of comparisons to the checkpoints of hosts whose files have not changed."""
    for row in HashCheck.objects.exclude(checked_at=None):
        about = hosts.get(row.host, {}).get(row.checkpoint)
        if about and row.checked_at and about.get("size") == row.size:
            problems = [_problem(each) for each in row.problems]
            about |= {"problems": problems, "checked_at": row.checked_at.timestamp()}


def _problem(stored: Any) -> Message:
    if isinstance(stored, str):  # from an earlier version
        return message("checkpoint.problem", "{text}", text=stored)
    return from_json(stored)
