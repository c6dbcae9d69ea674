"""Documents for pages: the newest there is at once, a fresh one soon.

A page asks with :func:`latest`; where the data has changed since, the answer is the older
document and a request, which a worker's analyst (`dashboards.analyst`) computes and stores.
"""

import json
import logging
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from annotation.filters import Filters
from annotation.models import Campaign
from annotation.once import one_computation
from dashboards import analyses
from dashboards.models import Analysis
from dashboards.state import digest, state_of
from metrics.clock import Now
from metrics.workers import living

logger = logging.getLogger(__name__)
Status = Analysis.Status
# Documents kept of one question: the newest, and the one being replaced.
KEPT = 2
# Days for which documents of no campaign are kept: nothing that is deleted takes them along.
STATED_DAYS = 1
# An analysis that nobody finished for so long is computed by somebody else.
STALE_SECONDS = 300
# A failure may have passed after so long (a database that restarted, memory that was short).
RETRY_SECONDS = 60
# Where no worker lives, a request that waited for so long makes the page say how to start one.
PATIENCE_SECONDS = 15


@dataclass(frozen=True)
class Result:
    """What is known now.

    `document` may be older than the data (`is_fresh` false) or None. `message` says why there is
    no fresh one where computing failed, `is_waiting` that there is no worker to take the request;
    `tags` are those of the results that this one is made of. `pending` names what is computed
    while it is not fresh.
    """

    document: dict[str, Any] | None
    as_of: datetime | None
    is_fresh: bool
    message: str = ""
    is_waiting: bool = False
    tags: str = ""
    pending: str = "newer numbers"

    @property
    def tag(self) -> str:
        """An ETag that changes when a reader would see something else."""
        seen = (self.as_of, self.is_fresh, self.message, self.is_waiting, self.tags)
        return f'W/"{digest(*seen)[:20]}"'


@dataclass(frozen=True)
class Completion:
    """What a slower analysis has for a document: its own document, maybe of older data."""

    document: dict[str, Any] | None
    as_of: datetime | None
    is_fresh: bool


def latest(kind: str, campaign: Campaign | None, filters: Filters, *, every: float = 0.0) -> Result:
    """Return the newest document of an analysis, and have a fresh one computed where it is old.

    A document that was computed less than `every` seconds ago is not old, whatever has changed. An
    analysis of what a reader states has no campaign.
    """
    question = _question(kind, campaign, filters)
    if every and (found := _recent(question, every)):
        return Result(_unpack(found.payload), found.computed_at, is_fresh=True)
    row = _request(kind, campaign, filters)
    if row.status == Status.WAITING and settings.ANALYSES_IN_PLACE:
        compute(row.pk)
        row.refresh_from_db()
    if row.status == Status.DONE:
        return Result(_unpack(row.payload), row.computed_at, is_fresh=True)
    older = Analysis.objects.filter(question=question, status=Status.DONE).first()
    waited = (timezone.now() - row.requested_at).total_seconds()
    return Result(
        _unpack(older.payload) if older else None,
        older.computed_at if older else None,
        is_fresh=False,
        message=row.message,
        is_waiting=row.status == Status.WAITING
        and waited > PATIENCE_SECONDS
        and not living().exists(),
    )


def _recent(question: str, seconds: float) -> Analysis | None:
    limit = Now() - timedelta(seconds=seconds)
    done = Analysis.objects.filter(question=question, status=Status.DONE, computed_at__gte=limit)
    return done.first()


def together(
    found: Sequence[Result], combine: Callable[[list[dict[str, Any]]], dict[str, Any]]
) -> Result:
    """Return several documents as one, as old as the oldest; none while one is missing."""
    documents = [result.document for result in found if result.document is not None]
    is_complete = len(documents) == len(found)
    times = [result.as_of for result in found if result.as_of]
    return Result(
        combine(documents) if is_complete else None,
        min(times) if times and is_complete else None,
        is_fresh=all(result.is_fresh for result in found),
        message="; ".join(dict.fromkeys(result.message for result in found if result.message)),
        is_waiting=any(result.is_waiting for result in found),
        tags="".join(result.tag for result in found),
    )


def completed(
    first: Result, second: Result, complete: Callable[[dict[str, Any], Completion], dict[str, Any]]
) -> Result:
    """Return a document with what a slower analysis of the same question adds.

    It is there and as old as the first; it is fresh where both are.
    """
    later = Completion(second.document, second.as_of, second.is_fresh)
    return Result(
        complete(first.document, later) if first.document is not None else None,
        first.as_of,
        is_fresh=first.is_fresh and second.is_fresh,
        message=first.message or second.message,
        is_waiting=first.is_waiting or second.is_waiting,
        tags=first.tag + second.tag,
        pending="more numbers" if first.is_fresh else first.pending,
    )


def _request(kind: str, campaign: Campaign | None, filters: Filters) -> Analysis:
    question = _question(kind, campaign, filters)
    row, is_new = Analysis.objects.get_or_create(
        question=question,
        state=digest(campaign and state_of(campaign), analyses.load(kind).VERSION),
        defaults={"kind": kind, "campaign": campaign, "filters": filters.as_json()},
    )
    if is_new:
        # Nobody needs the numbers of a state that has passed.
        waiting = Analysis.objects.filter(question=question, status=Status.WAITING)
        waiting.exclude(pk=row.pk).delete()
    elif row.status == Status.FAILED:
        _try_again(row)
    return row


def _try_again(row: Analysis) -> None:
    """Ask again for what failed a while ago; its message stays until there is a document."""
    limit = Now() - timedelta(seconds=RETRY_SECONDS)
    failed = Analysis.objects.filter(pk=row.pk, status=Status.FAILED, computed_at__lt=limit)
    if failed.update(status=Status.WAITING, requested_at=Now()):
        row.refresh_from_db()


def _question(kind: str, campaign: Campaign | None, filters: Filters) -> str:
    return digest(kind, campaign and campaign.pk, filters.as_json())


def compute_waiting(*, only_quick: bool = False) -> int:
    """Compute what is waited for, newest request first; return how many documents that were.

    With `only_quick` the analyses that take long are left to others.
    """
    done = 0
    rows = Analysis.objects.filter(_takeable(only_quick)).order_by("-requested_at", "-pk")
    while row := rows.first():
        done += compute(row.pk)
    return done


def _takeable(only_quick: bool = False) -> Q:
    limit = Now() - timedelta(seconds=STALE_SECONDS)
    found = Q(status=Status.WAITING) | Q(status=Status.RUNNING, claimed_at__lt=limit)
    if only_quick:
        for kind in analyses.SLOW:
            found &= ~Q(kind__startswith=kind)
    return found


def compute(pk: int) -> bool:
    """Compute one requested document, unless another worker has it; its errors are stored."""
    claimed = Analysis.objects.filter(_takeable(), pk=pk)
    if not claimed.update(status=Status.RUNNING, claimed_at=Now()):
        return False
    row = Analysis.objects.select_related("campaign__test_set").get(pk=pk)
    began = time.monotonic()
    try:
        filters = analyses.filters_of(row.kind).from_json(row.filters)
        with one_computation():
            document = analyses.load(row.kind).compute(row.campaign, filters)
        stored = {"status": Status.DONE, "payload": _pack(document)}
    except Exception as error:
        logger.exception("Analysis %s failed", pk)
        stored = {"status": Status.FAILED, "message": f"{type(error).__name__}: {error}"}
    seconds = time.monotonic() - began
    Analysis.objects.filter(pk=pk).update(**stored, seconds=seconds, computed_at=Now())
    _drop_old(row)
    return True


def _drop_old(row: Analysis) -> None:
    """Keep the newest documents of a question; what readers state is kept for a day."""
    rows = Analysis.objects.filter(question=row.question, status__in=[Status.DONE, Status.FAILED])
    kept = list(rows.values_list("pk", flat=True)[:KEPT])
    rows.exclude(pk__in=kept).delete()
    if row.campaign_id is None:
        limit = Now() - timedelta(days=STATED_DAYS)
        Analysis.objects.filter(campaign=None, requested_at__lt=limit).delete()


def _pack(document: dict[str, Any]) -> bytes:
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return zlib.compress(text.encode(), 6)


def _unpack(payload: bytes | memoryview) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(zlib.decompress(payload))
    return document
