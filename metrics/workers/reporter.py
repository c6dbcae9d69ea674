"""Reports of a worker process about itself and its children, in rows (`workers.fleet`).

Two threads, because signs of life must not wait for the hashing of gigabytes. Only a child knows
the models in its memory; it writes them itself after each task.
"""

import os
import socket
import time
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from billiard import current_process
from celery.signals import (
    task_postrun,
    worker_init,
    worker_process_init,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)
from django.db import connections

from core.messages import as_json
from core.work import processes
from core.work.models import Now
from core.work.processes import Periodic
from metrics import catalogue, plugins
from metrics.base import MetricError
from metrics.checkpoints import places
from metrics.models import RunWorker
from metrics.models.fleet import Worker, WorkerChild, drop_old
from metrics.stock import inventory
from metrics.workers import capability
from metrics.workers.devices import device_in_use, devices, gpu_ids, process_memory
from metrics.workers.signatures import versions

# The children of a worker process, one for each slot: on which GPU each computes.

# A model that no single GPU has room for is spread over the GPUs of a slot.
PER_SLOT = int(os.environ.get("GPUS_PER_SLOT", "1"))


class _Worker:
    # Asked once, before the first child is made.
    gpus: list[str] = []


def find_gpus(**_: Any) -> None:
    """Remember the GPUs that this worker may use."""
    _Worker.gpus = gpu_ids()


def take_gpu(**_: Any) -> None:
    """Give this child the GPUs of its slot; a child that replaces a dead one gets the same GPUs."""
    gpus = gpus_of(current_process().index, _Worker.gpus)
    if gpus is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpus


def gpus_of(slot: int, gpus: list[str], per_slot: int = PER_SLOT) -> str | None:
    """Return the GPUs of a slot, `per_slot` or all: one group after the other, and again from
    the first if there are more slots. Remaining GPUs are not used. None if there is no GPU."""
    if not gpus:
        return None
    n = min(max(per_slot, 1), len(gpus))
    first = slot % (len(gpus) // n) * n
    return ",".join(gpus[first : first + n])


worker_init.connect(find_gpus)
worker_process_init.connect(take_gpu)


# On what the scores under a signature were computed: processors, devices, builds of libraries.

NOT_RECORDED = {"processor": "not recorded"}


def of_signatures(signatures: Collection[str]) -> dict[str, list[dict[str, str]]]:
    """Return, by signature, every different way in which workers computed its scores.

    Scores are shared by content, so all runs of a signature count. Scores from before builds were
    recorded have the processor "not recorded". Costs one query.
    """
    parts = RunWorker.objects.filter(run__signature__signature__in=set(signatures), segments__gt=0)
    rows = parts.order_by("pk").values_list("run__signature__signature", "device", "builds")
    found: dict[str, list[dict[str, str]]] = {signature: [] for signature in signatures}
    for signature, device, builds in rows:
        way = {"device": device} | dict(sorted((builds or NOT_RECORDED).items()))
        if way not in found[signature]:
            found[signature].append(way)
    return found


BEAT_SECONDS = 5.0
# Files change rarely, and nvidia-smi takes a moment.
LOOK_SECONDS = 60.0
DEVICE_SECONDS = 15.0
# A report that is under way would write the row again after it is deleted.
LAST_SECONDS = 2.0


class Reporter:
    """The reports of one process: `beat` writes the row, `inspect` looks at the disk.

    `find_children` returns the process ids of its children.
    """

    def __init__(
        self,
        name: str,
        queues: list[str],
        find_children: Callable[[], list[int]] = list,
        uid: str = processes.NODE,
    ) -> None:
        self.uid, self.is_stopping, self.find_children = uid, False, find_children
        self._fixed = {
            "name": name,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "queues": queues,
            "versions": versions(),
            "plugins": [each.as_data() for each in plugins.here().values()],
        }
        self._devices: list[Any] = []
        self._devices_at = self._looked_at = -DEVICE_SECONDS - LOOK_SECONDS

    def beat(self) -> None:
        """Write the row; create it where it is missing."""
        if time.monotonic() - self._devices_at >= DEVICE_SECONDS:
            self._devices, self._devices_at = list(devices()), time.monotonic()
        changing = {
            "devices": self._devices,
            "memory": process_memory(),
            "is_stopping": self.is_stopping,
            "seen_at": Now(),
        }
        with processes.forking:
            if not self._row.update(**changing):
                Worker.objects.create(uid=self.uid, started_at=Now(), **self._fixed, **changing)
            self._count_children()

    def _count_children(self) -> None:
        row, pids = self._row.get(), self.find_children()
        row.children.exclude(pid__in=pids).delete()
        for pid in pids:
            memory = {"memory": process_memory(pid)}
            row.children.update_or_create(pid=pid, defaults=memory)

    def inspect(self) -> None:
        """Report the checkpoints of this host once per `LOOK_SECONDS`.

        Only files are hashed while a child may be forked: imports and the database hold locks
        that no thread of the child would ever release.
        """
        if time.monotonic() - self._looked_at < LOOK_SECONDS:
            return
        with processes.forking:
            row = self._row.first()
            if row is None:
                return
            known = catalogue.infos(retired=True)
            served = [each for each in known.values() if each.queue in row.queues]
            needed = inventory.needed(known.values())
            found = inventory.everything_here(needed)
            lacks = capability.lacking_here(served)
        for name in needed.keys() & found.keys():
            found[name]["fingerprint"] = _fingerprint(found[name]["path"])
        with processes.forking:
            drop_old(row)
            self._row.update(
                checkpoints=found,
                lacks={name: [*map(as_json, missing)] for name, missing in lacks.items()},
            )
        self._looked_at = time.monotonic()

    def leave(self) -> None:
        """Delete the row: this worker ends regularly."""
        self._row.delete()

    @property
    def _row(self) -> Any:
        return Worker.objects.filter(uid=self.uid)


def _fingerprint(path: str) -> str:
    """Return a fingerprint of the files; empty where one is unreadable (loading reports that)."""
    try:
        return places.fingerprint(path)
    except MetricError:
        return ""


def resident() -> list[str]:
    """Return the checkpoints that this process holds in memory; none before it has loaded torch."""
    return [name for names in places.RESIDENT for name in names()]


class _Child:
    """The last report of this process as a child."""

    reported: dict[str, Any] = {}


def begin_child_reports(**_: object) -> None:
    """Report after each task of this child."""
    task_postrun.connect(report_child)


def report_child(**_: object) -> None:
    """Write what this child has in memory after a task, if that changed."""
    current = {"resident": resident(), "device": device_in_use()}
    # A worker without a pool of processes is its own child.
    parents = (os.getpid(), os.getppid())
    mine = WorkerChild.objects.filter(
        pid=os.getpid(), worker__pid__in=parents, worker__host=socket.gethostname()
    )
    if current != _Child.reported and mine.update(**current):
        _Child.reported = current


class _Current:
    reporter: Reporter | None = None
    threads: tuple[Periodic, ...] = ()


def begin_reports(sender: Any, **_: object) -> None:
    """Write the first report of a worker that is ready, and start the threads for more."""
    queues = sorted(sender.app.amqp.queues.consume_from)
    children = partial(children_of, sender.pool)
    reporter = _Current.reporter = Reporter(sender.hostname, queues, children)
    _Current.threads = (
        Periodic("reporter", BEAT_SECONDS, reporter.beat),
        Periodic("inspector", BEAT_SECONDS, reporter.inspect),
    )
    for thread in _Current.threads:
        thread.start()
    begin_child_reports()
    reporter.beat()


def children_of(pool: Any) -> list[int]:
    """Return the process ids of a pool's children: none before it begins and after it ends."""
    try:
        return list(pool.info.get("processes", []))
    except AttributeError:  # raised by Celery's prefork pool at such times
        return []


def begin_to_stop(**_: object) -> None:
    """Note that the worker finishes its job and stops; the next report shows it."""
    if _Current.reporter:
        _Current.reporter.is_stopping = True


def end_reports(**_: object) -> None:
    """Stop the reports of a worker that has stopped."""
    for thread in _Current.threads:
        thread.stop()
        thread.join(LAST_SECONDS)
    connections.close_all()  # the database may have been restarted since the first report
    if _Current.reporter:
        _Current.reporter.leave()


worker_process_init.connect(begin_child_reports)
worker_ready.connect(begin_reports)
worker_shutting_down.connect(begin_to_stop)
worker_shutdown.connect(end_reports)
