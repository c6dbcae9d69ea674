"""What a worker takes up, one run after the other, read from the rows: messages only wake it.

Runs of the checkpoint that is in memory come first, then those that nobody works on, then those
where another pair of hands helps; among them the oldest, with all others of its checkpoint.
"""

import time
from collections.abc import Callable, Container, Iterable
from functools import partial

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from metrics import catalogue, scoring
from metrics.clock import Now
from metrics.models import Lease, MetricRun
from metrics.patience import patiently

Status = MetricRun.Status
# A run that its workers finish sooner is not worth the loading of a checkpoint.
JOIN_SECONDS = 2.0
# After so long a worker lets other tasks of its queue have their turn between two runs.
DRAIN_SECONDS = 60.0


class _Memory:
    """What this process remembers: its checkpoint, and runs that it leaves alone until a time."""

    checkpoint = ""
    resting: dict[int, float] = {}


def resident() -> str:
    """Return the checkpoint of the last run that this process worked on."""
    return _Memory.checkpoint


def resting() -> set[int]:
    """Return the runs in which this process can do nothing for a while."""
    now = time.monotonic()
    _Memory.resting = {run: until for run, until in _Memory.resting.items() if until > now}
    return set(_Memory.resting)


def work(
    *, queues: Container[str], worker: str, hinted: int, should_stop: Callable[[], bool]
) -> None:
    """Work on one run after the other until none waits, or others want their turn."""
    deadline = time.monotonic() + DRAIN_SECONDS
    idle: set[int] = set()
    while not should_stop() and time.monotonic() < deadline:
        choose = partial(
            next_run, queues, resident=resident(), hinted=hinted, without=idle | resting()
        )
        run = patiently(choose)
        if run is None:
            return
        if not _work_on(run, worker, should_stop):
            idle.add(run.pk)


def _work_on(run: MetricRun, worker: str, should_stop: Callable[[], bool]) -> bool:
    """Take part in a run; whether there was anything to take."""
    outcome = scoring.work_off(run.pk, worker=worker, should_stop=should_stop)
    if outcome.rest_seconds:
        _Memory.resting[run.pk] = time.monotonic() + outcome.rest_seconds
    if not outcome.is_idle:
        _Memory.checkpoint = run.info.checkpoint if run.info else ""
    return not outcome.is_idle


def next_run(
    queues: Container[str],
    *,
    resident: str = "",
    hinted: int | None = None,
    without: Iterable[int] = (),
) -> MetricRun | None:
    """Return the run that a worker of these queues does best to take up; None where none waits.

    `resident` is the checkpoint that it has in memory. The `hinted` run counts as due.
    """
    infos = catalogue.infos(retired=True)
    waiting = []
    for run in _with_work(hinted).exclude(pk__in=list(without)).order_by("pk"):
        info = infos.get(run.metric)
        if (info.queue if info else "cpu") in queues:
            waiting.append((run, info.checkpoint if info else ""))
    oldest: dict[str, int] = {}
    for run, checkpoint in waiting:
        oldest.setdefault(checkpoint, run.pk)

    def rank(entry: tuple[MetricRun, str]) -> tuple[bool, bool, int, int]:
        run, checkpoint = entry
        is_strange = not checkpoint or checkpoint != resident
        group = oldest[checkpoint] if checkpoint else run.pk
        return is_strange, run.status == Status.RUNNING, group, run.pk

    return min(waiting, key=rank)[0] if waiting else None


def _with_work(hinted: int | None) -> QuerySet[MetricRun]:
    """Active runs of which something can be taken now."""
    again = Exists(Lease.objects.filter(run=OuterRef("pk"), worker=None, due_at__lte=Now()))
    is_due = Q(requeue_at__lte=Now()) | Q(pk=hinted)
    is_long = Q(rate__gt=0, planned__gt=F("cursor") + F("rate") * JOIN_SECONDS)
    return MetricRun.objects.filter(
        (Q(status=Status.QUEUED) & is_due & (again | Q(cursor__lt=F("planned"))))
        | (Q(status=Status.RUNNING) & (again | is_long))
    )
