"""Compute documents in the background: one job for each question that a page asks.

Questions without any document come first, then those with the oldest document. A document rests for
as long as its computation took, so that frequent judgments leave time for other documents. Reports,
bundles and the verdict, which every page needs, rest ten times as long. Afterwards the newest state
is used. Between documents, a process pauses for eight times as long as it waited for a processor
because of other work, such as a metric run.
"""

import ctypes
import gc
import hashlib
import json
import zlib
from collections.abc import Callable, Sequence
from datetime import timedelta
from enum import Enum
from time import monotonic
from typing import Any, TypeVar

import msgspec
import numpy as np
from billiard.exceptions import SoftTimeLimitExceeded
from django.db.models import Count, F, Max, QuerySet, Sum

from annotation.filters import Filters
from annotation.models import Campaign
from annotation.quality.current import judgments_added
from core.caching import memoized, ttl_cache
from core.work.claims import after, fail, finish, retry
from core.work.kinds import WorkKind
from core.work.models import Now
from dashboards.documents import kinds
from dashboards.models import Analysis
from metaeval.messages import Message, MessageError, message, plural
from metrics.models import MetricRun
from metrics.scores import latest_signatures

# Hash everything that determines the numbers of a campaign.


def cached_state(campaign: Campaign) -> str:
    """Return a recent state, which suffices to see that a document is old."""
    return ttl_cache(("state", campaign.pk), lambda: state_of(campaign))


def state_of(campaign: Campaign) -> str:
    """Return a hash that changes with every judgment, score and setting. A few queries.

    Judgments are only added and annotators excluded, scores only appear, settings are few.
    """
    runs = MetricRun.objects.filter(test_set=campaign.test_set)
    return digest(
        campaign.pk,
        campaign.z_pool,
        campaign.seed,
        sorted(campaign.systems.values_list("pk", "is_human")),
        judgments_added(campaign),
        sorted(campaign.annotators.exclude(excluded_at=None).values_list("pk", flat=True)),
        campaign.published_scores.aggregate(Max("pk"), Count("pk")),
        sorted(row.pk for row in latest_signatures(campaign.test_set).values()),
        runs.aggregate(Sum("done"), Max("pk"), Count("pk")),
    )


def digest(*parts: Any) -> str:
    """Return a SHA-256 of plain values."""
    text = json.dumps(parts, default=str, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


D = TypeVar("D")
# Measured: objects take 1.0 (one long text) to 3.7 times the memory of their JSON.
OBJECTS = 3


def encoded(document: Any) -> bytes:
    """Return a document as JSON; null for numbers that are not finite, lists for arrays."""
    return msgspec.json.encode(document, enc_hook=_listed)


def _listed(value: object) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Enum):
        return value.value
    raise NotImplementedError(f"{type(value).__name__} is not a type of a document")


def pack(document: Any) -> bytes:
    """Return a document as stored; raise msgspec.ValidationError if it could not be read again."""
    text = encoded(document)
    _read(text, type(document))
    return zlib.compress(text, 6)


def as_stored(document: D) -> D:
    """Return a document that has just been computed as readers get it, with None for nan."""
    return _read(encoded(document), type(document))


# Tests and extensions import it under this name.
settled = as_stored


def _read(text: bytes, shape: type[D]) -> D:
    return msgspec.json.decode(text, type=shape)


def unpack(payload: bytes | memoryview, shape: Any) -> Any:
    """The inverse of `pack`; None for a document of another shape, which an older version left."""
    return sized(payload, shape)[0]


def sized(payload: bytes | memoryview, shape: Any) -> tuple[Any, int]:
    """Return the same, and its approximate size in memory in bytes."""
    text = zlib.decompress(payload)
    try:
        return msgspec.json.decode(text, type=shape), OBJECTS * len(text)
    except msgspec.ValidationError:
        return None, 0


# Return freed memory to the system.


def give_back() -> None:
    """Return memory to the system that glibc would keep: 100 MiB after a report."""
    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)


# Queues of documents that a reader waits for, and of those that take longer.
QUICK, SLOW = "documents", "documents-slow"
# The least time between computations of a document, and the rest as a multiple of the time that
# the last computation took (by default 1).
REST_SECONDS, RESTS = 2.0, {"report": 10.0, "bundle": 10.0, "trust": 10.0}
# The longest rest between two documents, while each that is asked for has older numbers.
GIVES_WAY_SECONDS = 30.0
# The time before the next attempt after a failure (the database may have restarted, or memory may
# be free again), and after a killed process.
AGAIN_SECONDS, DEADLY_SECONDS = 60.0, 600.0
# Hexadecimal digits of a hash of the data behind a document.
DATA = 48
# Days after which unused documents are deleted: those of no campaign, and all.
STATED_DAYS, UNUSED_DAYS = 1, 30


class Documents(WorkKind[Analysis]):
    """Documents as background jobs."""

    name = "document"
    model = Analysis
    max_attempts = 3
    soft_seconds, hard_seconds = 600, 660
    ends_at_once = True
    gives_way = GIVES_WAY_SECONDS

    def choose(self, rows: QuerySet[Analysis]) -> Analysis | None:
        """Choose the verdict first, then questions without numbers, then the oldest numbers."""
        oldest = F("as_of").asc(nulls_first=True)
        return rows.order_by("-priority", oldest, "not_before", "pk").first()

    def is_urgent(self, rows: QuerySet[Analysis]) -> bool:
        """Return True if a page waits for its first numbers."""
        return rows.filter(as_of=None).exists()

    def overdue(self, seconds: float) -> QuerySet[Analysis]:
        """Exclude queues whose workers computed something lately, and may rest."""
        lately = Analysis.objects.filter(as_of__gte=after(-seconds - GIVES_WAY_SECONDS))
        return super().overdue(seconds).exclude(queue__in=lately.values("queue"))

    def do(self, row: Analysis, lease: object) -> None:
        """Compute the document of the newest state and store it."""
        began = monotonic()
        basis = basis_of(row.kind, _states(row))
        document = compute(row)
        seconds = monotonic() - began
        payload = pack(document)
        del document
        if seconds > REST_SECONDS:
            give_back()
        rest = max(REST_SECONDS, seconds * RESTS.get(row.kind, 1.0))
        finish(
            row, payload=payload, basis=basis, seconds=seconds, problem="",
            as_of=after(-seconds), not_before=after(rest),
        )  # fmt: skip
        forget_old()

    def failed(self, row: Analysis, error: Exception) -> None:
        """Store an error at once; it would occur again."""
        fail(row, reason(error))

    def lost(self, row: Analysis) -> None:
        """Let another process try after a process ended."""
        error = message(
            "analysis.killed",
            "The process that computed it was killed or ran out of memory {times} times.",
            times=self.max_attempts,
        )
        retry(row, error)

    def ended(self, row: Analysis) -> None:
        """Store the error for the page, and the time before which it is not computed again.

        Only killed processes count as attempts.
        """
        wait = DEADLY_SECONDS if row.attempts else AGAIN_SECONDS
        rows = Analysis.objects.filter(pk=row.pk)
        rows.update(problem=row.message, not_before=after(wait))


documents = Documents()


def compute(row: Analysis) -> Any:
    """Return the document of a question from the current data."""
    filters = kinds.filters_of(row.kind).from_json(row.filters)
    with memoized():
        return kinds.compute(row.kind, row.campaign, filters)


def reason(error: BaseException) -> Message:
    """Return what went wrong; Python's own error texts are not translated."""
    if isinstance(error, SoftTimeLimitExceeded):
        return plural(
            "analysis.too-long",
            "It took longer than {n} minute.",
            "It took longer than {n} minutes.",
            n=Documents.soft_seconds // 60,
        )
    if isinstance(error, MessageError):
        return error.message
    return message("analysis.exception", "{error}", error=f"{type(error).__name__}: {error}")


def _states(row: Analysis) -> list[str]:
    filters = kinds.filters_of(row.kind).from_json(row.filters)
    return states(row.kind, row.campaign, filters, state_of)


def states(
    kind: str, campaign: Campaign | None, filters: Filters, state: Callable[[Campaign], str]
) -> list[str]:
    """Return the states of all campaigns that a document uses."""
    if campaign is None:
        return []
    return [state(each) for each in (campaign, *kinds.others(kind, campaign, filters))]


def basis_of(kind: str, states: Sequence[str]) -> str:
    """Return a key of the data and the version of a document of campaigns in these states."""
    return f"{digest(states)[:DATA]}-{kinds.load(kind).VERSION}"


def data_of(basis: str) -> str:
    """Return the hash of the data alone: equal for documents of different kinds of one state."""
    return basis.partition("-")[0]


def forget_old() -> None:
    """Delete documents that are no longer used; they can be computed again."""
    ended = Analysis.objects.exclude(status__in=Analysis.ACTIVE)
    ended.filter(campaign=None, not_before__lt=Now() - timedelta(days=STATED_DAYS)).delete()
    ended.filter(not_before__lt=Now() - timedelta(days=UNUSED_DAYS)).delete()
