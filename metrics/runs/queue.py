"""Choose the run that a worker serves next: runs of one checkpoint together, short ones first.

The cost of a run is the number of seconds that it still needs, minus the seconds that it has
waited. So a short run does not wait behind a long one, and a long one is not overtaken for ever.
"""

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.db.models import DurationField, Exists, ExpressionWrapper, F, OuterRef, QuerySet
from django.db.models.functions import Coalesce

from core.work.models import Now
from metrics import catalogue
from metrics.models import MetricRun, Slice
from metrics.runs import state

# A run that its workers finish sooner is not worth the loading of a checkpoint.
JOIN_SECONDS = 2.0
# After so long with one checkpoint a shorter run of another one gets its turn.
STAY_SECONDS = 60.0
# Texts a second where nobody has scored yet: of metrics without a checkpoint, and of others.
FAST, SLOW = 1000.0, 20.0


@dataclass
class Memory:
    """What this process remembers: its checkpoint, since when, and runs it ignores for a time."""

    checkpoint: str = ""
    since: float = 0.0
    resting: dict[int, float] | None = None

    def take_up(self, checkpoint: str) -> None:
        """Note that a run of this checkpoint is served now."""
        if checkpoint != self.checkpoint:
            self.checkpoint, self.since = checkpoint, time.monotonic()

    def leave(self, run_id: int, seconds: float) -> None:
        """Take no slices of a run for a while."""
        self.resting = self.left_alone() | {run_id: time.monotonic() + seconds}

    def left_alone(self) -> dict[int, float]:
        """Return the runs that this process ignores now."""
        now = time.monotonic()
        return {run: until for run, until in (self.resting or {}).items() if until > now}

    @property
    def has_stayed(self) -> bool:
        """Return True if it is time for runs of other checkpoints."""
        return time.monotonic() - self.since > STAY_SECONDS


memory = Memory()


@dataclass(frozen=True)
class Waiting:
    """An active run in the queue; `seconds` is the time it needs minus the time it waited."""

    run: MetricRun
    checkpoint: str
    is_at_work: bool
    seconds_left: float
    seconds: float

    @property
    def group(self) -> str:
        """Runs of one group follow each other."""
        return self.checkpoint or f"run {self.run.pk}"


def waiting(runs: QuerySet[MetricRun]) -> list[Waiting]:
    """Look at active runs; one query besides that of the metrics."""
    infos = catalogue.infos(retired=True)
    age = ExpressionWrapper(
        Now() - Coalesce("heartbeat_at", "created_at"), output_field=DurationField()
    )
    busy = Exists(state.running_slices().filter(run=OuterRef("pk")))
    found = []
    for run in runs.annotate(age=age, is_at_work=busy).order_by("pk"):
        info = infos.get(run.metric)
        checkpoint = info.checkpoint if info else ""
        left = run.left / (run.rate or (SLOW if checkpoint else FAST))
        waited = max(0.0, run.age.total_seconds())
        found.append(Waiting(run, checkpoint, run.is_at_work, left, left - waited))
    return found


def in_order(found: Iterable[Waiting], memory: Memory | None = None) -> list[Waiting]:
    """Return runs in the order in which a worker serves them; without `memory` a fresh one."""
    found = list(found)
    least: dict[str, float] = {}
    for one in found:
        least[one.group] = min(one.seconds, least.get(one.group, one.seconds))
    here = "" if memory is None or memory.has_stayed else memory.checkpoint

    def rank(one: Waiting) -> tuple[bool, bool, float, str, float, int]:
        is_strange = not one.checkpoint or one.checkpoint != here
        return (
            is_strange,
            one.is_at_work,
            least[one.group],
            one.group,
            one.seconds,
            one.run.pk,
        )

    return sorted(found, key=rank)


def is_worth_it(one: Waiting, memory: Memory) -> bool:
    """Return False for a run that others finish before its checkpoint is loaded here."""
    is_here = not one.checkpoint or one.checkpoint == memory.checkpoint
    return is_here or not one.is_at_work or one.seconds_left >= JOIN_SECONDS


def choose(rows: QuerySet[Slice], *, without: Collection[int] = ()) -> Slice | None:
    """Return the slice of `rows` to take next."""
    rows = rows.exclude(run__in=[*without, *memory.left_alone()])
    runs = MetricRun.objects.filter(status__in=MetricRun.ACTIVE, pk__in=rows.values("run"))
    found = [one for one in waiting(runs) if is_worth_it(one, memory)]
    return _first(rows, in_order(found, memory))


def _first(rows: QuerySet[Slice], ordered: Sequence[Waiting]) -> Slice | None:
    """Order slices: those that failed come last, but first in a run without any score.

    Such a run may be hopeless, which should show soon.
    """
    if not ordered:
        return None
    run = ordered[0].run
    attempts = F("attempts").asc() if run.done > run.reused else F("attempts").desc()
    return rows.filter(run=run).order_by(attempts, "first").first()
