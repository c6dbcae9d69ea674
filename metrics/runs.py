"""Start, cancel and requeue metric runs. Workers do the rest: `claims` and `scoring`."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Q, Value
from django.db.models.functions import Concat, Now
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from annotation.models import Output, Segment, System, TestSet
from metrics import registry, tasks
from metrics.claims import stale
from metrics.models import MetricRun

logger = logging.getLogger(__name__)
Status = MetricRun.Status
# A message is sent again this many seconds after nobody took it, at most.
LONGEST_WAIT = 300
# A run that nobody took for this many seconds makes the pages say how to start a worker.
PATIENCE_SECONDS = 15
NO_SYSTEMS = "Choose at least one system that has outputs."


@dataclass
class Started:
    """New runs, identical runs that were active already, and refusals in sentences."""

    runs: list[MetricRun] = field(default_factory=list)
    active: list[MetricRun] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


@transaction.atomic
def start(
    *,
    test_set: TestSet,
    metrics: Iterable[str],
    systems: Iterable[System] | None = None,
    user: Any = None,
    enqueue: bool = True,
) -> Started:
    """Start one run for each metric over some systems (None: all systems of the test set).

    A metric that cannot run is refused with a sentence and the others start. A run that is active
    over the same systems is not started twice. Without `enqueue` the caller works the runs off;
    if it does not, a worker takes them after a while.

    Raises ValidationError where there is nothing to score, ValueError for a foreign system.
    """
    TestSet.objects.select_for_update().get(pk=test_set.pk)  # two clicks at once start one run
    chosen = _check_systems(test_set, systems)
    total = Output.objects.filter(system__in=chosen).values("content_key").distinct().count()
    if not total:
        raise ValidationError(NO_SYSTEMS)
    active = _active_runs(test_set)
    refusals = refusals_for(test_set, chosen)
    started = Started()
    for name in dict.fromkeys(metrics):
        if name in refusals or name not in registry.METRICS:
            started.refused.append(refusals.get(name) or f"There is no metric named {name}.")
        elif existing := active.get((name, frozenset(system.pk for system in chosen))):
            started.active.append(existing)
        else:
            started.runs.append(_create(test_set, name, chosen, total, user))
    if enqueue:
        for run in started.runs:
            transaction.on_commit(partial(hand_out, run))
    return started


def _check_systems(test_set: TestSet, systems: Iterable[System] | None) -> list[System]:
    chosen = list(test_set.systems.all() if systems is None else systems)
    for system in chosen:
        if system.test_set_id != test_set.pk:
            raise ValueError(f"systems: {system.name} belongs to another test set")
    return chosen


def _active_runs(test_set: TestSet) -> dict[tuple[str, frozenset[int]], MetricRun]:
    runs = MetricRun.objects.filter(test_set=test_set, status__in=MetricRun.ACTIVE)
    return {
        (run.metric, frozenset(system.pk for system in run.systems.all())): run
        for run in runs.prefetch_related("systems")
    }


def _create(
    test_set: TestSet, metric: str, systems: Sequence[System], total: int, user: Any
) -> MetricRun:
    run = MetricRun.objects.create(
        test_set=test_set,
        metric=metric,
        total=total,
        created_by=user,
        requeue_at=timezone.now() + timedelta(seconds=settings.RUN_STALE_SECONDS),
    )
    run.systems.set(systems)
    return run


def refusals_for(test_set: TestSet, systems: Sequence[System] | None = None) -> dict[str, str]:
    """Say, by metric name, why a metric cannot run over these systems (None: all of the set)."""
    segments = Segment.objects.filter(test_set=test_set, references__isnull=True)
    if systems is not None:
        segments = segments.filter(outputs__system__in=systems)
    bare = segments.distinct().order_by("position").values_list("key", flat=True)
    count = bare.count()
    if not count:
        return {}
    which = (
        "this test set has none"
        if count == test_set.segments.count()
        else (f"{count} of its segments have none, the first is {bare[0]}")
    )
    return {
        info.name: f"{info.label} needs a reference for every segment; {which}."
        for info, _ in registry.METRICS.values()
        if info.needs_reference
    }


def hand_out(run: MetricRun) -> None:
    """Put a run into the queue of its metric; where the broker is away, a worker does it later."""
    try:
        tasks.score_run.apply_async(args=[run.pk], queue=run.queue)
    except (BrokerError, OSError):
        logger.warning("Run %s waits until the broker is back", run.pk, exc_info=True)


def cancel(run: MetricRun) -> bool:
    """Cancel a run that is queued or running; its worker stops after the chunk in hand."""
    return bool(
        MetricRun.objects.filter(pk=run.pk, status__in=MetricRun.ACTIVE).update(
            status=Status.CANCELLED, claim="", rate=None, finished_at=Now()
        )
    )


def requeue_stale(*, everything: bool = False) -> int:
    """Hand out again what no living worker has; return how many runs that were.

    Runs whose worker fell silent, and queued runs whose message nobody took: brokers lose the
    message of a worker that is killed. With `everything`, all queued runs: a worker that starts
    may follow one that took messages to its grave. A message too many does no harm.
    """
    MetricRun.objects.filter(stale()).update(
        status=Status.QUEUED,
        claim="",
        rate=None,
        requeue_at=Now(),
        message=Concat(F("worker"), Value(" stopped answering; the run goes on elsewhere.")),
    )
    due = Q() if everything else Q(requeue_at__lte=Now())
    waiting = MetricRun.objects.filter(due, status=Status.QUEUED).order_by("pk")
    return sum(_requeue(run) for run in waiting)


def _requeue(run: MetricRun) -> bool:
    """Send one message, unless another process has just done so and moved `requeue_at`."""
    waited = (timezone.now() - run.created_at).total_seconds()
    seconds = min(max(waited, settings.RUN_STALE_SECONDS), LONGEST_WAIT)
    # Not `=`: SQLite writes its own times with three digits of a second, Django with six.
    is_mine = MetricRun.objects.filter(
        pk=run.pk, status=Status.QUEUED, requeue_at__lte=run.requeue_at
    ).update(requeue_at=Now() + timedelta(seconds=seconds))
    if is_mine:
        hand_out(run)
    return bool(is_mine)


def idle_queues(shown: Iterable[MetricRun]) -> list[str]:
    """Return the queues of runs among these that wait although no worker is busy there."""
    waiting = {run.queue for run in shown if _is_waiting(run)}
    if not waiting:
        return []
    running = MetricRun.objects.filter(~stale(), status=Status.RUNNING)
    return sorted(waiting - {run.queue for run in running})


def _is_waiting(run: MetricRun) -> bool:
    """Whether a worker, if there were one, would have taken this run by now.

    A run that was handed back is due at `requeue_at`; every worker's caretaker postpones that.
    """
    since = run.requeue_at if run.attempts else run.created_at
    waited = (timezone.now() - since).total_seconds()
    return run.status == Status.QUEUED and waited > PATIENCE_SECONDS


def silence(run: MetricRun) -> float | None:
    """Seconds for which the worker of a running run gave no sign of life, where that is long."""
    if run.status != Status.RUNNING or run.heartbeat_at is None:
        return None
    seconds = (timezone.now() - run.heartbeat_at).total_seconds()
    return seconds if seconds > PATIENCE_SECONDS else None
