"""A worker's hold on a run. Every write is one conditional UPDATE that fails once it is lost.

Times are the database's own, so that the clocks of several hosts need not agree.
"""

import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Coalesce, Concat, Now

from metrics.models import MetricRun, MetricSignature

Status = MetricRun.Status
MAX_ATTEMPTS = 5


@dataclass(frozen=True)
class Claim:
    """The right to write a run, until it is cancelled or another worker takes it over."""

    run_id: int
    token: str


def stale() -> Q:
    """Running, but its worker has given no sign of life for RUN_STALE_SECONDS."""
    limit = Now() - timedelta(seconds=settings.RUN_STALE_SECONDS)
    return Q(status=Status.RUNNING, heartbeat_at__lt=limit)


def claim(run_id: int, *, worker: str) -> Claim | None:
    """Take a run that is queued or stale; None where another worker was faster or it is over.

    A run that was taken MAX_ATTEMPTS times without an end fails instead.
    """
    takeable = MetricRun.objects.filter(Q(status=Status.QUEUED) | stale(), pk=run_id)
    token = secrets.token_hex(16)
    taken = takeable.filter(attempts__lt=MAX_ATTEMPTS).update(
        status=Status.RUNNING,
        claim=token,
        worker=worker[:200],
        attempts=F("attempts") + 1,
        heartbeat_at=Now(),
        started_at=Coalesce("started_at", Now()),
    )
    if taken:
        return Claim(run_id, token)
    takeable.filter(attempts__gte=MAX_ATTEMPTS).update(
        status=Status.FAILED,
        message=Concat(Value(f"Given up after {MAX_ATTEMPTS} attempts. "), F("message")),
        finished_at=Now(),
    )
    return None


def _held(claim: Claim) -> QuerySet[MetricRun]:
    return MetricRun.objects.filter(pk=claim.run_id, claim=claim.token, status=Status.RUNNING)


def beat(claim: Claim) -> bool:
    """Give a sign of life. This and the next two return whether the claim still holds."""
    return bool(_held(claim).update(heartbeat_at=Now()))


def begin(claim: Claim, *, signature: MetricSignature, total: int, scored: int) -> bool:
    """Store what there is to do; `scored` contents of `total` have a score already.

    Only who begins first calls them reused: what a later worker finds is this run's own work.
    """
    _held(claim).filter(signature__isnull=True).update(reused=scored)
    return bool(
        _held(claim).update(
            signature=signature, total=total, done=scored, message="", heartbeat_at=Now()
        )
    )


def advance(claim: Claim, *, done: int, reused: int, rate: float) -> bool:
    """Store progress: `reused` more contents turned out to be scored by somebody else."""
    return bool(
        _held(claim).update(done=done, reused=F("reused") + reused, rate=rate, heartbeat_at=Now())
    )


def finish(claim: Claim) -> None:
    """Everything is scored."""
    _held(claim).update(status=Status.DONE, claim="", rate=None, finished_at=Now())


def fail(claim: Claim, message: str) -> None:
    """No retry would help; `message` says why."""
    _held(claim).update(
        status=Status.FAILED, claim="", rate=None, message=message, finished_at=Now()
    )


def release(claim: Claim, *, message: str, delay: float = 0, is_attempt: bool = True) -> None:
    """Hand the run back for any worker, not before `delay` seconds have passed."""
    _held(claim).update(
        status=Status.QUEUED,
        claim="",
        rate=None,
        message=message,
        attempts=F("attempts") - (0 if is_attempt else 1),
        requeue_at=Now() + timedelta(seconds=delay),
    )
