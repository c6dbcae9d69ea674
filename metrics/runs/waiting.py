"""Find what active runs wait for: able hosts, what other hosts lack, the turn, and the time."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Sum

from metaeval.messages import Message
from metrics import catalogue
from metrics.base import MetricInfo
from metrics.models import MetricRun, RunWorker
from metrics.models.fleet import Worker, live_workers
from metrics.runs import queue, starting
from metrics.workers import capability, signatures
from metrics.workers.idle import Idle, explain


@dataclass(frozen=True)
class Hosts:
    """The hosts whose workers serve a metric's queue: those that can run it, and what others lack.

    `lacking` maps a host to what is missing, each with the command that gets it. `slots` is the
    number of processes on able hosts, `rate` the contents that one of them scores per second; None
    where the metric has not run on such a device yet.
    """

    able: tuple[str, ...] = ()
    lacking: Mapping[str, Sequence[Message]] = field(default_factory=dict)
    slots: int = 0
    rate: float | None = None

    @property
    def is_stuck(self) -> bool:
        """Return True if there are workers and none of them can run it."""
        return bool(self.lacking) and not self.able

    def seconds(self, contents: int) -> float | None:
        """Return the seconds that all of them together need for this number of contents."""
        if not contents:
            return 0.0
        return contents / (self.rate * self.slots) if self.rate and self.slots else None


@dataclass(frozen=True)
class Turn:
    """The position of an active run in its queue, from 1, and the seconds until it begins and ends.

    The seconds are None if unknown.
    """

    queue: str
    place: int
    hosts: Hosts
    begins_in: float | None
    ends_in: float | None
    takes: float | None


def attach(runs: Iterable[MetricRun]) -> None:
    """Give each of some runs its `turn`; None where it has ended."""
    runs = list(runs)
    found = turns() if any(run.is_active for run in runs) else {}
    for run in runs:
        run.turn = found.get(run.pk)  # type: ignore[attr-defined]


def idle(runs: Iterable[MetricRun]) -> list[Idle]:
    """Return, for each queue in which some of these runs wait for long, why no worker takes them.

    The runs have their turns (:func:`attach`).
    """
    runs = list(runs)
    queues = set(starting.idle_queues(runs))
    lacking: dict[str, list[Mapping[str, Sequence[Message | str]]]] = {
        queue: [] for queue in queues
    }
    for run in runs:
        turn: Turn | None = run.turn  # type: ignore[attr-defined]
        if run.status == MetricRun.Status.QUEUED and run.queue in queues and turn:
            lacking[run.queue].append(turn.hosts.lacking)
    return explain(lacking)


def turns() -> dict[int, Turn]:
    """Return the turn of every active run: running ones, then the others in the order of workers.

    Costs six queries for any number of runs.
    """
    active = MetricRun.objects.filter(status__in=MetricRun.ACTIVE).select_related("test_set")
    ordered = queue.in_order(queue.waiting(active))
    ordered.sort(key=lambda one: not one.is_at_work)
    infos, survey = catalogue.infos(retired=True), _survey()
    places: defaultdict[str, int] = defaultdict(int)
    ahead: defaultdict[str, float | None] = defaultdict(float)
    found = {}
    for one in ordered:
        run = one.run
        run.info = infos.get(run.metric)
        theirs = _hosts(run.info, run.test_set.target_language, survey) if run.info else Hosts()
        places[run.queue] += 1
        begins, takes = ahead[run.queue], theirs.seconds(run.left)
        if run.rate:
            begins, takes = 0.0, run.left / run.rate
        ends = None if begins is None or takes is None else begins + takes
        begins = begins if theirs.able else None
        found[run.pk] = Turn(run.queue, places[run.queue], theirs, begins, ends, takes)
        # A run that waits for another host does not delay the others.
        if not theirs.is_stuck:
            ahead[run.queue] = ends
    return found


def hosts_for(infos: Iterable[MetricInfo], target_language: str = "") -> dict[str, Hosts]:
    """Return, by metric, which hosts can run it, into a language or into most. Four queries."""
    survey = _survey()
    return {info.name: _hosts(info, target_language, survey) for info in infos}


@dataclass(frozen=True)
class _Survey:
    """Live workers, recent failures to load metrics, and the speed of metrics."""

    workers: Sequence[Worker]
    problems: Mapping[str, Mapping[str, list[Message]]]
    rates: Mapping[tuple[str, str], float]


def _survey() -> _Survey:
    workers = list(live_workers().prefetch_related("children"))
    return _Survey(workers, signatures.problems(), rates_seen())


def _hosts(info: MetricInfo, target_language: str, survey: _Survey) -> Hosts:
    names = (info.name, capability.into(info.name, target_language))
    problems, rates = survey.problems.get(info.name, {}), survey.rates
    able: dict[str, None] = {}
    lacking: dict[str, list[Message]] = {}
    slots = []
    for row in survey.workers:
        if info.queue not in row.queues:
            continue
        missing = row.lacking
        lacks = [each for name in names for each in missing.get(name, ())]
        if found := [*lacks, *problems.get(row.host, ())]:
            lacking[row.host] = found
            continue
        able[row.host] = None
        device = row.gpu if info.checkpoint else ""
        slots += [rates.get((info.name, device))] * max(1, len(row.children.all()))
    known = [rate for rate in slots if rate]
    rate = sum(known) / len(known) if known else None
    others = {host: what for host, what in lacking.items() if host not in able}
    return Hosts(tuple(able), others, len(slots), rate)


def rates_seen() -> dict[tuple[str, str], float]:
    """Return the contents per second of one process so far, by metric and GPU (empty: CPU)."""
    parts = RunWorker.objects.filter(seconds__gt=0, segments__gt=0).order_by()
    sums = parts.values_list("run__metric", "device").annotate(Sum("segments"), Sum("seconds"))
    return {(metric, gpu_of(device)): n / seconds for metric, device, n, seconds in sums}


def gpu_of(device: str) -> str:
    """Return the name of a GPU from what a run's log calls its device: ``cuda:0 (NVIDIA A100)``."""
    return device.partition("(")[2].rstrip(")") if device.startswith("cuda") else ""
