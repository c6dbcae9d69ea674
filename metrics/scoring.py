"""Work on a run: lease a slice of what is missing, score it, store it, and so on to the end.

Any number of workers do so at once. Scores are keyed by content and inserted once, so a slice that
is done twice (a worker killed between storing and the answer, or thought dead) changes nothing.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from django.db import InterfaceError, OperationalError, transaction

from metrics import catalogue, claims, run_state, telemetry
from metrics.base import Metric, MetricError, Scores
from metrics.contents import (
    Chunk,
    describe,
    find_missing,
    load_chunk,
    load_plan,
    pack_ids,
    references_of,
)
from metrics.models import Lease, MetricRun, MetricSignature
from metrics.patience import patiently
from metrics.periodic import Periodic
from metrics.scores import store_scores

logger = logging.getLogger(__name__)

BEAT_SECONDS = 2.0
CHUNK_SECONDS = 1.0
FIRST_CHUNK, LARGEST_CHUNK = 16, 8192
# A worker that gives other scores than a run is planned for looks again after so many seconds.
STRANGER_SECONDS = 30.0


@dataclass(frozen=True)
class Progress:
    """Where a run stands: contents done and in all, and contents a second lately."""

    done: int
    total: int
    rate: float


Report = Callable[[Progress], None]


@dataclass(frozen=True)
class Outcome:
    """Whether anything was there to take, and for how long to leave the run to others."""

    is_idle: bool = False
    rest_seconds: float = 0.0


class RestError(Exception):
    """This worker can do nothing more for the run for `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


def work_off(
    run_id: int,
    *,
    worker: str,
    should_stop: Callable[[], bool] = lambda: False,
    report: Report | None = None,
) -> Outcome:
    """Take part in a run until it has nothing left to take; others may do so at the same time.

    How the run ended is in its row. Raises only where the database stays away: then the slice in
    hand waits until this worker counts as dead.
    """
    shift = _Shift(run_id, claims.identify(worker), report)
    with Periodic("heartbeat", BEAT_SECONDS, partial(claims.beat, run_id, shift.member)):
        try:
            shift.work(should_stop)
            outcome = Outcome(is_idle=shift.lease is None)
        except RestError as rest:
            outcome = Outcome(rest_seconds=rest.seconds)
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:
            logger.exception("Run %s failed", run_id)
            patiently(partial(run_state.fail, run_id, f"{type(error).__name__}: {error}"))
            outcome = Outcome()
        except BaseException:
            shift.stop()
            raise
        if not outcome.is_idle:
            patiently(partial(claims.leave, run_id, shift.member))
    return outcome


class _Shift:
    """One worker's part in a run. `lease` is the slice in hand or the last one it had."""

    def __init__(self, run_id: int, member: claims.Member, report: Report | None) -> None:
        self.run_id, self.member, self.report = run_id, member, report
        self.lease: Lease | None = None
        self.metric: Metric | None = None
        self.signature: MetricSignature | None = None
        self.plan: Sequence[int] | None = None
        self.size, self.rate = FIRST_CHUNK, 0.0

    def work(self, should_stop: Callable[[], bool]) -> None:
        """Take slices as long as there are any."""
        while not should_stop():
            take = partial(claims.take, self.run_id, self.member, size=self.size)
            lease = patiently(take)
            if lease is None:
                return
            self.lease = lease
            try:
                is_active = self._plan(lease) if not lease.size else self._score(lease)
            except MetricError as error:
                self._give_up(lease, error)
                return
            if not is_active:
                return

    def stop(self) -> None:
        """Hand back what is in hand: the process is told to end at once."""
        if self.lease:
            claims.hand_back(self.lease)
        claims.leave(self.run_id, self.member)

    def _give_up(self, lease: Lease, error: MetricError) -> None:
        """Fail the run for good, or leave the slice for later where another try may help."""
        if error.permanent:
            patiently(partial(run_state.fail, self.run_id, error.message))
            return
        logger.warning("Run %s is tried again: %s", self.run_id, error.message)
        raise RestError(patiently(partial(claims.retry, lease, error.message)))

    def _load(self, lease: Lease) -> tuple[Metric, MetricSignature]:
        """Load the metric and find its signature, once; the lease keeps others off meanwhile."""
        if self.metric is None or self.signature is None:
            test_set = lease.run.test_set
            self.metric = catalogue.load(
                lease.run.metric,
                source_language=test_set.source_language,
                target_language=test_set.target_language,
                references=partial(references_of, test_set),
            )
            telemetry.begin(self.metric)
            self.signature = patiently(partial(_signature, self.metric))
        return self.metric, self.signature

    def _plan(self, lease: Lease) -> bool:
        """Find out what there is to score; whether the run is still active."""
        metric, signature = self._load(lease)
        missing = patiently(partial(find_missing, lease.run, signature))
        finish = partial(
            claims.plan,
            lease,
            signature=signature.pk,
            total=missing.total,
            output_ids=pack_ids(missing.output_ids),
            reading=telemetry.read(metric).as_fields(),
        )
        is_active = patiently(finish)
        self._tell()
        return is_active

    def _score(self, lease: Lease) -> bool:
        """Score a slice; whether the run is still active."""
        metric, signature = self._load(lease)
        if lease.run.signature_id != signature.pk:
            return self._differ(lease)
        if self.plan is None:
            self.plan = patiently(partial(load_plan, self.run_id))
        if self.plan is None:
            return False
        began = time.monotonic()
        output_ids = self.plan[lease.first : lease.first + lease.size]
        chunk = patiently(partial(load_chunk, signature, output_ids))
        rows = _score(metric, chunk)
        self._measure(lease.size, time.monotonic() - began)
        work = partial(
            claims.complete,
            lease,
            reused=lease.size - len(chunk.keys),
            seconds=time.monotonic() - began,
            rate=self.rate,
            reading=telemetry.read(metric).as_fields(),
        )
        is_active = patiently(partial(_store, signature, chunk, rows, work))
        if lease.size >= self.size:
            self.size = _next_size(lease.size, time.monotonic() - began)
        self._tell()
        return is_active

    def _measure(self, n_contents: int, seconds: float) -> None:
        rate = n_contents / max(seconds, 1e-3)
        self.rate = 0.7 * self.rate + 0.3 * rate if self.rate else rate

    def _differ(self, lease: Lease) -> bool:
        """Our scores have another signature (precision, version) than those of the plan.

        They must not be mixed: we plan the run anew if it is ours alone, and leave it otherwise.
        """
        self.plan = None
        if patiently(partial(claims.start_over, lease)):
            return True
        patiently(partial(claims.hand_back, lease))
        logger.warning("Run %s is at work under another signature than ours", self.run_id)
        raise RestError(STRANGER_SECONDS)

    def _tell(self) -> None:
        if self.report is None:
            return
        rows = MetricRun.objects.filter(pk=self.run_id).values_list("done", "total", "rate")
        for done, total, rate in rows:
            self.report(Progress(done, total, rate or 0.0))


def _next_size(size: int, seconds: float) -> int:
    """Aim at CHUNK_SECONDS a slice, growing at most fourfold at a time."""
    wanted = int(size * CHUNK_SECONDS / max(seconds, 1e-3))
    return max(1, min(wanted, 4 * size, LARGEST_CHUNK))


def _signature(metric: Metric) -> MetricSignature:
    signature, _ = MetricSignature.objects.get_or_create(
        signature=metric.signature(),
        defaults={
            "metric": metric.info.name,
            "measures": list(metric.info.measures),
            "statistics": list(metric.info.statistics),
        },
    )
    return signature


def _score(metric: Metric, chunk: Chunk) -> Scores:
    """Score a chunk; a MetricError names the segment at fault as people know it."""
    if not chunk.inputs:
        return np.empty((0, metric.info.width))
    try:
        rows = metric.score(chunk.inputs)
        _check(metric, chunk, rows)
    except MetricError as error:
        if error.index is None:
            raise
        place = describe(chunk.output_ids[error.index])
        message = f"{error.message} ({place})"
        raise MetricError(message, permanent=error.permanent, index=error.index) from error
    return rows


def _check(metric: Metric, chunk: Chunk, rows: Scores) -> None:
    expected = (len(chunk.inputs), metric.info.width)
    if rows.shape != expected:
        raise ValueError(f"{metric.info.label} returned {rows.shape} scores, not {expected}")
    broken = ~np.isfinite(rows).all(axis=1)
    if broken.any():
        message = f"{metric.info.label} gave no finite score"
        raise MetricError(message, permanent=True, index=int(broken.argmax()))


def _store(
    signature: MetricSignature, chunk: Chunk, rows: Scores, complete: Callable[[], bool]
) -> bool:
    """Store scores and the end of their lease together; scores stay even where it is lost."""
    with transaction.atomic():
        store_scores(signature, chunk.keys, rows)
        return complete()
