"""The fleet: one row per worker process, written by the process (`metrics.workers.reporter`).

Report times are the database's, so that the clocks of several hosts need not agree.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from django.db import models
from django.db.models import DurationField, ExpressionWrapper, F, QuerySet

from core.work.models import Now, Work, all_kinds
from metaeval.messages import Message, from_json, message
from metrics.models.catalogue import ConfiguredMetric
from metrics.models.runs import MetricRun, Slice
from metrics.registry import METRICS

# What the queues are for, as pages name it.
PURPOSES = {
    "cpu": message("queue.cpu", "lexical metrics"),
    "gpu": message("queue.gpu", "neural metrics and training"),
    "judges": message("queue.judges", "judges"),
    "documents": message("queue.documents", "results"),
    "documents-slow": message("queue.documents-slow", "results that take long"),
    "mail": message("queue.mail", "e-mails"),
    "slow": message("queue.slow", "large imports"),
}
# Workers report every five seconds; a process that loads a large model may miss a round or two.
SILENT_AFTER = timedelta(seconds=20)
DROPPED_AFTER = timedelta(days=1)


def purpose_of(queue: str) -> Message:
    """Return what a queue is for; its name if no setting names it."""
    return PURPOSES.get(queue) or message("queue.other", "{queue}", queue=queue)


class Worker(models.Model):
    """The report of one worker process.

    `uid` is created when the process starts, so a restarted worker of the same name has another
    row. `devices` are dicts of `kind` (gpu, cpu), `name`, `total` and `free` in bytes.
    `checkpoints` maps checkpoints on the host to their facts (`metrics.stock.inventory`), `lacks`
    the metrics that cannot run there to what is missing, as JSON of messages. `plugins` are its
    plug-ins (:mod:`metrics.plugins`).
    """

    uid = models.CharField(max_length=32, unique=True)
    name = models.CharField(max_length=200)
    host = models.CharField(max_length=200)
    pid = models.PositiveIntegerField()
    queues = models.JSONField(default=list)
    devices = models.JSONField(default=list)
    memory = models.PositiveBigIntegerField(null=True)
    checkpoints = models.JSONField(default=dict)
    lacks = models.JSONField(default=dict)
    versions = models.JSONField(default=dict)
    plugins = models.JSONField(default=list)
    is_stopping = models.BooleanField(default=False)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["host", "name", "pid"]

    def __str__(self) -> str:
        return f"{self.name} ({self.pid})"

    @property
    def purposes(self) -> list[Message]:
        """What it takes jobs for."""
        return [purpose_of(queue) for queue in self.queues]

    @property
    def gpu(self) -> str:
        """The name of its first GPU; empty without one."""
        names = [device["name"] for device in self.devices if device["kind"] == "gpu"]
        return str(names[0]) if names else ""

    @property
    def lacking(self) -> dict[str, list[Message]]:
        """What is missing on its host, by metric."""
        return {
            metric: [
                from_json(each)
                if isinstance(each, dict)
                else message("worker.lacks", "{text}", text=each)  # from an earlier version
                for each in found
            ]
            for metric, found in self.lacks.items()
        }


class WorkerChild(models.Model):
    """A process in which a worker runs background jobs, one per slot.

    The worker itself writes `memory`, in bytes; the child its `device` and `resident`, the
    checkpoints that it has in memory.
    """

    worker = models.ForeignKey(Worker, models.CASCADE, related_name="children")
    pid = models.PositiveIntegerField()
    memory = models.PositiveBigIntegerField(null=True)
    device = models.CharField(max_length=120, blank=True)
    resident = models.JSONField(default=list)

    class Meta:
        ordering = ["worker", "pk"]
        constraints = [models.UniqueConstraint(fields=["worker", "pid"], name="child_once")]

    def __str__(self) -> str:
        return f"{self.pid} of {self.worker_id}"


def live_workers() -> QuerySet[Worker]:
    """Return the workers whose last report is recent."""
    return Worker.objects.filter(seen_at__gte=Now() - SILENT_AFTER)


def drop_old(row: Worker) -> None:
    """Delete rows that are silent for a day, and the silent predecessor of this worker."""
    Worker.objects.filter(seen_at__lt=Now() - DROPPED_AFTER).delete()
    before = Worker.objects.filter(name=row.name, host=row.host).exclude(uid=row.uid)
    before.filter(seen_at__lt=Now() - SILENT_AFTER).delete()


def layers_on_workers(name: str) -> int | None:
    """Return the number of layers of an encoder that a worker reports; None if none does."""
    for row in Worker.objects.order_by("-seen_at", "-pk"):
        layers = row.checkpoints.get(name, {}).get("layers")
        if layers:
            return int(layers)
    return None


@dataclass(frozen=True)
class Part:
    """A run that a child works on, and its contents per second there."""

    run: MetricRun
    rate: float | None


class Slot(NamedTuple):
    """A child of a worker, and its current job."""

    child: "WorkerChild"
    part: Part | None


@dataclass(frozen=True)
class Seat:
    """A worker as the page shows it.

    `seconds` is the time since its last report; `parts` is what its children work on, by process
    id.
    """

    worker: Worker
    seconds: float
    parts: Mapping[int, Part]

    @property
    def state(self) -> str:
        """The state: silent, stopping, working or idle."""
        if self.seconds > SILENT_AFTER.total_seconds():
            return "silent"
        if self.worker.is_stopping:
            return "stopping"
        return "working" if self.parts else "idle"

    @property
    def children(self) -> list[Slot]:
        """Its processes, each with its current job."""
        return [Slot(child, self.parts.get(child.pid)) for child in self.worker.children.all()]

    @property
    def memory(self) -> int:
        """Bytes of its processes; shared memory is counted in each."""
        children = sum(child.memory or 0 for child in self.worker.children.all())
        return children + (self.worker.memory or 0)

    @property
    def versions(self) -> list[tuple[str, str]]:
        """(package, version), Touchstone itself first; databases keep no order in JSON."""
        known = self.worker.versions
        return sorted(known.items(), key=lambda pair: (pair[0] != "touchstone", pair[0]))


def fleet() -> list[Seat]:
    """Return all workers, by host and name, with the runs that their children work on."""
    age = ExpressionWrapper(Now() - F("seen_at"), output_field=DurationField())
    rows = list(Worker.objects.annotate(age=age).prefetch_related("children"))
    work = _work_of(row.uid for row in rows)
    return [Seat(row, max(0.0, row.age.total_seconds()), work.get(row.uid, {})) for row in rows]


def _work_of(uids: Iterable[str]) -> dict[str, dict[int, Part]]:
    """Return, by worker and process id, the runs of which they are scoring slices."""
    wanted = set(uids)
    found: dict[str, dict[int, Part]] = {}
    running = Slice.objects.filter(status=Slice.Status.RUNNING)
    for each in running.select_related("worker", "run__test_set"):
        if each.worker is None:
            continue
        uid, _, pid = each.worker.process.partition(".")
        if uid in wanted:
            found.setdefault(uid, {})[int(pid)] = Part(each.run, each.worker.rate)
    return found


@dataclass(frozen=True)
class QueueState:
    """The live workers that serve a queue, and how many jobs wait and run there."""

    name: str
    workers: Sequence[str]
    waiting: int
    running: int

    @property
    def purpose(self) -> Message:
        """What the queue is for."""
        return purpose_of(self.name)

    @property
    def is_starved(self) -> bool:
        """Return True if jobs wait and no worker serves the queue."""
        return bool(self.waiting) and not self.workers


def queue_states(seats: Iterable[Seat], queues: Iterable[str]) -> list[QueueState]:
    """Return the state of the named queues, and of all others that live workers serve."""
    listening: dict[str, list[str]] = {}
    for seat in seats:
        if seat.state not in ("silent", "stopping"):
            for queue in seat.worker.queues:
                listening.setdefault(queue, []).append(seat.worker.name)
    active = _active_runs() + _active_work()
    names = dict.fromkeys([*queues, *sorted(set(listening) | {queue for queue, _ in active})])
    return [
        QueueState(
            name,
            listening.get(name, ()),
            active[name, Work.Status.QUEUED],
            active[name, Work.Status.RUNNING],
        )
        for name in names
    ]


def _active_work() -> Counter[tuple[str, str]]:
    """Count other jobs that are due or run, by queue and status."""
    counted: Counter[tuple[str, str]] = Counter()
    for kind in all_kinds():
        if kind.model is not Slice:
            rows = kind.model._default_manager.filter(status__in=Work.ACTIVE, not_before__lte=Now())
            for queue, status, n in (
                rows.order_by().values_list("queue", "status").annotate(models.Count("pk"))
            ):
                counted[queue, status] += n
    return counted


def _active_runs() -> Counter[tuple[str, str]]:
    """Count the runs that wait or run, by queue and status."""
    configured = dict(ConfiguredMetric.objects.values_list("name", "description__queue"))
    active = MetricRun.objects.filter(status__in=MetricRun.ACTIVE).order_by()
    counted: Counter[tuple[str, str]] = Counter()
    for metric, status, n in active.values_list("metric", "status").annotate(models.Count("pk")):
        queue = METRICS[metric][0].queue if metric in METRICS else configured.get(metric, "cpu")
        counted[queue, status] += n
    return counted
