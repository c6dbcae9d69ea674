"""Start and cancel metric runs, and find what they wait for. Workers do the rest: `work`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max, Min, Q, QuerySet
from django.utils import timezone

from annotation.access import visible_test_sets
from annotation.models import Output, Project, Segment, System, TestSet, listed
from annotation.models.corpus import NO_SOURCE
from annotation.projects import count_start, refuse_start
from core.work import claims, sending
from core.work.models import Now
from metaeval.messages import Message, message, plural, truncated
from metrics import catalogue, documents
from metrics.base import MetricInfo
from metrics.models import MetricRun, Slice
from metrics.runs import state
from metrics.runs.allowance import budget_for
from metrics.support import NO_LIMIT, Budget, support_of

Status = MetricRun.Status
# If no worker takes a run for this many seconds, pages show how to start one.
PATIENCE_SECONDS = 15
NO_SYSTEMS = message("run.no-systems", "Choose at least one system that has outputs.")


@dataclass
class Started:
    """New runs, identical runs that were active already, and refusals."""

    runs: list[MetricRun] = field(default_factory=list)
    active: list[MetricRun] = field(default_factory=list)
    refused: list[Message] = field(default_factory=list)


@transaction.atomic
def start(
    *,
    test_set: TestSet,
    metrics: Iterable[str],
    systems: Iterable[System] | None = None,
    user: Any = None,
    enqueue: bool = True,
    budget: Budget = NO_LIMIT,
) -> Started:
    """Start one run for each metric over some systems (None: all systems of the test set).

    A metric that cannot run is refused and the others start, as far as the limits of the test set's
    project allow. A run that is active over the same systems is not started twice. Without
    `enqueue` the caller scores the runs; if it does not, workers take them after a while. `budget`
    is that of each metric that costs something.

    Raises ValidationError where there is nothing to score, ValueError for a foreign system.
    """
    TestSet.objects.select_for_update().get(pk=test_set.pk)  # two clicks at once start one run
    chosen = _check_systems(test_set, systems)
    total = Output.objects.filter(system__in=chosen).values("content_key").distinct().count()
    if not total:
        raise ValidationError([NO_SYSTEMS])
    active = _active_runs(test_set)
    budget.check()
    refusals, known = refusals_for(test_set, chosen), catalogue.infos()
    create = partial(_create, test_set, systems=chosen, total=total, user=user)
    started, project = Started(), test_set.project
    for name in dict.fromkeys(metrics):
        if name not in known:
            started.refused.append(catalogue.refusal(name))
        elif existing := active.get((name, frozenset(system.pk for system in chosen))):
            started.active.append(existing)
        elif why := refuse_start(project):
            started.refused.append(why)
        else:
            allowed = _allowed(project, known[name], budget)
            # Faults of an endpoint or a budget come before those of the texts.
            if isinstance(allowed, Message) or name in refusals:
                started.refused.append(allowed if isinstance(allowed, Message) else refusals[name])
            else:
                started.runs.append(create(known[name], budget=allowed))
                count_start(project)
    _enqueue(started.runs, is_sent=enqueue)
    return started


def _allowed(project: Project | None, info: MetricInfo, wanted: Budget) -> Budget | Message:
    allowed = budget_for(project, info, wanted)
    if isinstance(allowed, Message):
        return allowed
    return support_of(info).refusal(info, allowed) or allowed


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
    test_set: TestSet,
    info: MetricInfo,
    *,
    systems: Sequence[System],
    total: int,
    user: Any,
    budget: Budget,
) -> MetricRun:
    run = MetricRun.objects.create(
        test_set=test_set, metric=info.name, total=total, created_by=user
    )
    run.systems.set(systems)
    support_of(info).started(run, info, budget)
    return run


def _enqueue(runs: Sequence[MetricRun], *, is_sent: bool) -> None:
    """Let the plans of new runs wait for a worker; what is not sent counts as sent later."""
    rows = [Slice.objects.create(run=run, queue=run.queue) for run in runs]
    if is_sent:
        sending.send_on_commit(rows)
    else:
        later = claims.after(settings.RUN_STALE_SECONDS)
        Slice.objects.filter(pk__in=[row.pk for row in rows]).update(sent_at=later)


def refusals_for(test_set: TestSet, systems: Sequence[System] | None = None) -> dict[str, Message]:
    """Return, by metric name, why a metric cannot run over these systems (None: all of the set)."""
    return (
        _without_documents(test_set)
        | _without_reference(test_set, systems)
        | _without_texts(test_set, systems)
    )


def _without_documents(test_set: TestSet) -> dict[str, Message]:
    infos = [info for info in catalogue.infos().values() if info.reads_documents]
    if not infos or documents.has_several(test_set):
        return {}
    return {
        info.name: message(
            "run.no-documents",
            "No document of this test set has several segments, which are needed by {metric}.",
            metric=info.label,
        )
        for info in infos
    }


def _without_texts(test_set: TestSet, systems: Sequence[System] | None) -> dict[str, Message]:
    """Return refusals for judgments that were imported without the judged texts."""
    infos = catalogue.infos().values()
    outputs = Output.objects.filter(segment__test_set=test_set)
    if systems is not None:
        outputs = outputs.filter(system__in=systems)
    if not outputs.exclude(text="").exists():
        return {
            info.name: message(
                "run.no-outputs",
                "{metric} cannot run, because the outputs of these systems are not stored.",
                metric=info.label,
            )
            for info in infos
        }
    if not test_set.segments.filter(source=NO_SOURCE).exists():
        return {}
    return {
        info.name: message(
            "run.no-sources",
            "This test set has no sources, which are needed by {metric}.",
            metric=info.label,
        )
        for info in infos
        if info.needs_source
    }


def _without_reference(test_set: TestSet, systems: Sequence[System] | None) -> dict[str, Message]:
    """Return refusals where no segment has a reference; else those that have none are skipped."""
    segments = Segment.objects.filter(test_set=test_set, references__isnull=False)
    if systems is not None:
        segments = segments.filter(outputs__system__in=systems)
    if segments.exists():
        return {}
    return {
        info.name: message(
            "run.no-references",
            "This test set has no references, which are needed by {metric}.",
            metric=info.label,
        )
        for info in catalogue.infos().values()
        if info.needs_reference
    }


def segments_without_reference(test_set: TestSet) -> Message | None:
    """Return what metrics that need a reference skip; None where every segment has one."""
    rows = test_set.segments.filter(references__isnull=True).order_by("position")
    keys = list(rows.values_list("key", flat=True))
    if not keys or len(keys) == test_set.segments.count():
        return None
    return plural(
        "run.segments-without-reference",
        "{n} segment has no reference: {segments}. Metrics that need one skip it.",
        "{n} segments have no reference: {segments}. Metrics that need one skip them.",
        n=len(keys),
        segments=truncated(keys),
    )


def sets_to_score(user: Any, directions: Iterable[tuple[str, str]] = ()) -> QuerySet[TestSet]:
    """Return test sets with outputs that a user may see, the newest first.

    `directions` are (source, target) languages; none for all.
    """
    chosen = Q()
    for source, target in directions:
        chosen |= Q(source_language=source, target_language=target)
    rows = listed(visible_test_sets(user)).filter(chosen, systems__isnull=False).distinct()
    return rows.order_by("-created_at", "-pk").prefetch_related("systems")


def cancel(run: MetricRun) -> bool:
    """Cancel a run that is queued or running; its workers stop within seconds."""
    return state.cancel(run.pk)


def describe(shown: Iterable[MetricRun]) -> None:
    """Attach the descriptions of the metrics to many runs, by one query."""
    infos = catalogue.infos(retired=True)
    for run in shown:
        run.info = infos.get(run.metric)


def idle_queues(shown: Iterable[MetricRun]) -> list[str]:
    """Return the queues of runs among these that wait although no worker is busy there."""
    queued = [run for run in shown if run.status == Status.QUEUED]
    due = dict(
        Slice.objects.filter(run__in=queued)
        .values_list("run")
        .annotate(due=Min("not_before"))
        .order_by()
    )
    waiting = {run.queue for run in queued if _is_waiting(run, due.get(run.pk))}
    busy = state.running_slices().filter(queue__in=waiting, expires_at__gte=Now())
    return sorted(waiting - set(busy.values_list("queue", flat=True)))


def _is_waiting(run: MetricRun, due: datetime | None) -> bool:
    """Whether a worker, if there were one, would have taken this queued run by now."""
    since = run.heartbeat_at or run.created_at
    return (timezone.now() - max(since, due or since)).total_seconds() > PATIENCE_SECONDS


def silence(run: MetricRun) -> float | None:
    """Return for how many seconds no worker of a running run has reported; None if not for long."""
    if run.status != Status.RUNNING:
        return None
    ends = state.running_slices().filter(run=run).aggregate(ends=Max("expires_at"))["ends"]
    if ends is None:
        return None
    left: float = (ends - timezone.now()).total_seconds()
    seconds = settings.RUN_STALE_SECONDS - left
    return seconds if seconds > PATIENCE_SECONDS else None
