"""Explain why no worker takes waiting jobs, from the reports and current jobs of workers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, auto

from core.work.models import Now, Work, all_kinds
from metaeval.messages import Message, message
from metrics import catalogue
from metrics.models.fleet import Worker, live_workers, purpose_of
from metrics.stock import hosts

# What each host lacks.
Lacking = Mapping[str, Sequence[Message | str]]
# A job that has waited for this time should have a worker; more jobs are not looked at.
WAITED_SECONDS, MOST_SHOWN = 15.0, 100
# Current jobs of workers, by the name of their kind.
JOBS = {
    "document": message("job.results", "results"),
    "hash-check": message("job.hash-check", "a check of hashes"),
    "import": message("job.import", "an import"),
    "letter": message("job.emails", "emails"),
    "notification": message("job.notifications", "notifications"),
    "training": message("job.training", "a training job"),
    "translation": message("job.translation", "a translation"),
}


class Reason(StrEnum):
    """Why no worker takes a waiting job."""

    ABSENT = auto()
    REFUSING = auto()
    BUSY = auto()
    UNKNOWN = auto()


@dataclass(frozen=True)
class Idle:
    """A queue with a waiting job that no worker has taken.

    `workers` maps each worker of the queue to what its host lacks (REFUSING), to its current jobs
    (BUSY), or to nothing.
    """

    queue: str
    reason: Reason
    workers: Mapping[str, Sequence[Message | str]] = field(default_factory=dict)

    @property
    def purpose(self) -> Message:
        """What the queue is for."""
        return purpose_of(self.queue)


def explain(waiting: Mapping[str, Iterable[Lacking]]) -> list[Idle]:
    """Return for each queue why its waiting jobs are not taken.

    `waiting` has, by queue, what each host lacks for each job. Costs one query per kind of job,
    none if nothing waits.
    """
    if not waiting:
        return []
    workers = list(live_workers().filter(is_stopping=False).prefetch_related("children"))
    current: dict[str, list[Message | str]] = {}
    infos = catalogue.infos(retired=True)
    for kind in all_kinds():
        rows = kind.model._default_manager.filter(status=Work.Status.RUNNING, expires_at__gte=Now())
        names = rows.values_list("owner", "run__metric" if kind.name == "slice" else "status")
        for owner, name in names:
            what = JOBS.get(kind.name) or (infos[name].label if name in infos else name)
            current.setdefault(owner.partition(".")[0], []).append(what)

    return [
        _explain(queue, list(lacking), [row for row in workers if queue in row.queues], current)
        for queue, lacking in sorted(waiting.items())
    ]


def waiting_jobs() -> dict[str, list[Lacking]]:
    """Return by queue what each host lacks for jobs, other than runs, that have waited for long."""
    found: dict[str, list[Lacking]] = {}
    for kind in all_kinds():
        if kind.name != "slice":
            for row in kind.overdue(WAITED_SECONDS)[:MOST_SHOWN]:
                found.setdefault(row.queue, []).append(getattr(row, "lacking", {}))
    return found


def missing(queue: str, checkpoints: Iterable[str] = ()) -> list[Message]:
    """Return what keeps every worker from taking a job that is not started yet.

    Folders are not checked: workers report the checkpoints that they find by name.
    """
    rows = [row for row in live_workers().filter(is_stopping=False) if queue in row.queues]
    if not rows:
        return [
            message(
                "start.no-worker",
                "No worker takes jobs of this kind now ({purpose}).",
                purpose=purpose_of(queue),
            )
        ]
    found = {name for row in rows for name in row.checkpoints}
    return [
        message(
            "start.no-checkpoint",
            "No worker has the checkpoint {checkpoint}. On the worker’s host, run: {command}",
            checkpoint=name,
            command=hosts.fetch_command(name),
        )
        for name in dict.fromkeys(checkpoints)
        if name and name not in found and not name.startswith(("/", "."))
    ]


def _explain(
    queue: str,
    lacking: Sequence[Lacking],
    workers: Sequence[Worker],
    current: Mapping[str, Sequence[Message | str]],
) -> Idle:
    if not workers:
        return Idle(queue, Reason.ABSENT)
    able = [row for row in workers if any(not each.get(row.host) for each in lacking)]
    if not able:
        lacks = {row.name: _missing(row.host, lacking) for row in workers}
        return Idle(queue, Reason.REFUSING, lacks)
    busy = {row.name: tuple(dict.fromkeys(current.get(row.uid, ()))) for row in able}
    slots = {row.name: max(1, len(row.children.all())) for row in able}
    is_busy = all(len(current.get(row.uid, ())) >= slots[row.name] for row in able)
    return Idle(queue, Reason.BUSY if is_busy else Reason.UNKNOWN, busy)


def _missing(host: str, lacking: Sequence[Lacking]) -> tuple[Message | str, ...]:
    return tuple(dict.fromkeys(each for lacks in lacking for each in lacks.get(host, ())))
