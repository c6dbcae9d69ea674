"""The slices of metric runs as a kind of background job."""

from django.db.models import QuerySet

from core.work.kinds import Lease, WorkKind
from metrics.models import Slice
from metrics.runs import queue, scoring, slices, state
from metrics.support import support_of
from metrics.workers import capability


class Slices(WorkKind[Slice]):
    """Plan a run, then score one slice after the other."""

    name = "slice"
    model = Slice

    def fit(self, rows: QuerySet[Slice]) -> QuerySet[Slice]:
        return rows.filter(run__in=capability.fit())

    def choose(self, rows: QuerySet[Slice]) -> Slice | None:
        return queue.choose(rows)

    def claim(self, row: Slice) -> bool:
        size, is_loading = scoring.size_for(row), not scoring.is_loaded(row)
        return slices.claim(row, super().claim, size=size, is_loading=is_loading)

    def end_seconds(self, row: Slice) -> float:
        """Wait longer where the family of the metric says so."""
        info = row.run.info
        extra = support_of(info).end_seconds(info) if info else 0.0
        return super().end_seconds(row) + extra

    def do(self, row: Slice, lease: Lease) -> None:
        scoring.work(row)

    def failed(self, row: Slice, error: Exception) -> None:
        scoring.give_up(row, error)

    def lost(self, row: Slice) -> None:
        slices.lose(row)

    def tidy(self) -> None:
        state.settle()

    def left(self) -> None:
        state.settle(seconds=0)


kind = Slices()
