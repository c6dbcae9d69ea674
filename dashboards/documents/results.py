"""Return the newest document of a page at once, and request a newer one if needed.

A page calls :func:`latest`. If the data have changed, the result is the older document, and a
background job computes and stores a newer one (`dashboards.documents.computing`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.utils.translation import get_language

from annotation.filters import Filters
from annotation.models import Campaign
from core.caching import Cache, ttl_cache
from core.database.prepared import Prepared
from core.work.claims import ask
from core.work.models import Now
from core.work.working import do_one, due
from dashboards.documents import kinds
from dashboards.documents.computing import (
    QUICK,
    SLOW,
    basis_of,
    cached_state,
    data_of,
    digest,
    documents,
    sized,
    states,
)
from dashboards.models import Analysis
from metaeval.messages import Message, message
from metrics.models.fleet import live_workers

# After this time without a worker, the page says so.
PATIENCE_SECONDS = 15
# The size of a web process's cache of documents.
CACHE_BYTES = 64 * 1024 * 1024
QUESTION = "placeholder for a question"
NEWER = message("part.newer-numbers", "newer numbers")
MORE = message("part.more-numbers", "more numbers")

D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")


@dataclass(frozen=True)
class Result(Generic[D]):
    """The newest document, and why there is no newer one.

    `document` may be older than the data (`is_fresh` false) or None. `message` is the error where
    computing a fresh one failed, and `failing` the part that failed, None where it is the document
    itself. `waits_for` names the queue that no worker takes from. `tags` are those of the results
    that this one combines. `pending` names what is being computed while it is not fresh. `data` is
    a hash of the data behind the document. A result of several parts `is_whole` where all of them
    exist, and `is_of_one_state` where all use the same data.
    """

    document: D | None
    as_of: datetime | None
    is_fresh: bool
    message: Message | None = None
    failing: Message | None = None
    waits_for: str = ""
    tags: str = ""
    pending: Message = NEWER
    data: str = ""
    is_whole: bool = True
    is_of_one_state: bool = True

    @property
    def tag(self) -> str:
        """An ETag that changes when a reader would see something else."""
        problem = self.message and self.message.text
        seen = (self.as_of, self.is_fresh, problem, self.waits_for, self.tags, get_language())
        return f'W/"{digest(*seen)[:20]}"'


@dataclass(frozen=True)
class Completion(Generic[D]):
    """The document of a slower analysis, which completes another document.

    It `is_same` where both use the same data. `message` is the error where computing failed.
    """

    document: D | None
    as_of: datetime | None
    is_same: bool
    message: Message | None = None


def latest(
    kind: str, campaign: Campaign | None, filters: Filters, *, every: float = 0.0
) -> Result[Any]:
    """Return the newest document of an analysis, and request a newer one if it is old.

    A document younger than `every` seconds counts as fresh, whatever has changed. A document that
    an older version stored in another shape is ignored. A question about a reader's own input has
    no campaign.
    """
    row = _found(kind, campaign, filters)
    document = _stored(row)
    if document is not None and row.now - row.as_of < timedelta(seconds=every):
        return Result(document, row.as_of, is_fresh=True, data=data_of(row.basis))
    basis = basis_of(kind, states(kind, campaign, filters, cached_state))
    if document is None or row.basis != basis:
        row = _ask(row)
        document = _stored(row)
    is_fresh = document is not None and row.basis == basis
    return Result(
        document,
        None if document is None else row.as_of,
        is_fresh=is_fresh,
        message=None if is_fresh else _problem(row),
        waits_for="" if is_fresh else _left_alone(row),
        data=data_of(row.basis),
    )


def _problem(row: Any) -> Message | None:
    """The error of a row; older versions stored it as text."""
    if not row.problem or isinstance(row.problem, Message):
        return row.problem or None
    return message("analysis.error", "{text}", text=row.problem)


def _stored(row: Any) -> Any:
    """The document of a row, None where there is none that can be shown.

    It is read and parsed once per process and shared by all requests, which must not change it.
    """
    if row.as_of is None:
        return None
    shape = kinds.load(row.kind).DOCUMENT
    if found := _documents.get((row.pk, row.as_of, shape)):
        return found
    row.refresh_from_db(fields=(*NEWEST, "payload"))
    found, size = sized(row.payload, shape)
    if found is not None:
        _documents.put((row.pk, row.as_of, shape), found, size)
    return found


_documents: Cache[Any] = Cache(CACHE_BYTES)
# Fields that change with a document.
NEWEST = ("as_of", "basis", "seconds", "status", "problem", "not_before")
# A question with the database's own time as `now`, without its document.
_row = Prepared(
    lambda: Analysis.objects.filter(question=QUESTION).defer("payload").annotate(now=Now())
)


def _rows(question: str) -> list[Any]:
    return list(_row.rows({QUESTION: question}))


def _found(kind: str, campaign: Campaign | None, filters: Filters) -> Any:
    """The row of a question; a new row is queued."""
    question = digest(kind, campaign and campaign.pk, filters.as_json())
    if rows := _rows(question):
        return rows[0]
    about = {
        "kind": kind,
        "campaign": campaign,
        "filters": filters.as_json(),
        "queue": SLOW if kind.startswith(kinds.SLOW) else QUICK,
        "priority": kind.startswith(kinds.FIRST),
    }
    new, is_new = Analysis.objects.get_or_create(question=question, defaults=about)
    if is_new:
        ask([new])
    return _rows(new.question)[0]


def _ask(row: Any) -> Any:
    """Queue a newer document, unless one is being computed or the last one is too recent."""
    in_place = settings.ANALYSES_IN_PLACE
    is_due = row.status not in Analysis.ACTIVE and (in_place or row.not_before <= row.now)
    if is_due:
        ask([row])
    if in_place:
        do_one(documents, due(documents).filter(pk=row.pk))
    return _rows(row.question)[0] if is_due or in_place else row


def _left_alone(row: Any) -> str:
    """Name the queue of a question that waits without a worker; empty where there is one."""
    waited = row.now - row.not_before
    if row.status != Analysis.Status.QUEUED or waited < timedelta(seconds=PATIENCE_SECONDS):
        return ""
    queues = ttl_cache("queues", lambda: list(live_workers().values_list("queues", flat=True)))
    return "" if any(row.queue in each for each in queues) else row.queue


def together(found: Sequence[Result[D]], combine: Callable[[list[D]], E]) -> Result[E]:
    """Return several documents as one, as old as the oldest; None while one is missing."""
    documents = [result.document for result in found if result.document is not None]
    is_complete = len(documents) == len(found)
    times = [result.as_of for result in found if result.as_of]
    return Result(
        combine(documents) if is_complete else None,
        min(times) if times and is_complete else None,
        is_fresh=all(result.is_fresh for result in found),
        message=_together([result.message for result in found if result.message]),
        failing=_failing(found),
        waits_for=next((result.waits_for for result in found if result.waits_for), ""),
        tags="".join(result.tag for result in found),
        is_whole=is_complete and all(result.is_whole for result in found),
        is_of_one_state=all(result.is_of_one_state for result in found),
    )


def _together(errors: Sequence[Message]) -> Message | None:
    different = dict.fromkeys(errors)
    return reduce(_both, different) if different else None


def _both(first: Message, second: Message) -> Message:
    return message("analysis.errors", "{first} {second}", first=first, second=second)


def _failing(found: Sequence[Result[Any]]) -> Message | None:
    """Name the parts of several documents that failed; None where a document itself failed."""
    failed = [result.failing for result in found if result.message]
    parts = list(dict.fromkeys(part for part in failed if part))
    if not parts or None in failed:
        return None
    return parts[0] if len(parts) == 1 else message("part.several", "{parts}", parts=parts)


def failing_part(found: Result[Any], part: Message) -> Message | None:
    """Name a part of a page where computing it failed; None where it did not."""
    if not found.message:
        return None
    return part if found.document is None else message("part.newer", "newer {part}", part=part)


def completed(
    first: Result[D], second: Result[E], complete: Callable[[D, Completion[E]], F], part: Message
) -> Result[F]:
    """Return a document with the `part` that a slower analysis of the same question adds.

    It exists where the first does and is as old as that; it is fresh where both are.
    """
    is_same = second.data == first.data
    later = Completion(second.document, second.as_of, is_same, second.message)
    return Result(
        complete(first.document, later) if first.document is not None else None,
        first.as_of,
        is_fresh=first.is_fresh and second.is_fresh,
        message=first.message or second.message,
        failing=first.failing if first.message else failing_part(second, part),
        waits_for=first.waits_for or second.waits_for,
        tags=first.tag + second.tag,
        pending=MORE if first.is_fresh else first.pending,
        data=first.data,
        is_whole=first.is_whole and second.document is not None,
        is_of_one_state=first.is_of_one_state and is_same,
    )
