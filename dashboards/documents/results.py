"""Documents for pages: the newest there is at once, a fresh one soon.

A page asks with :func:`latest`; where the data has changed since, the answer is the older
document, and a task computes and stores a newer one (`dashboards.documents.computing`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.utils.translation import get_language

from annotation.filters import Filters
from annotation.models import Campaign
from core.caching import Cache
from core.caching import ttl_cache as read_lately
from core.database.prepared import Prepared
from core.work.claims import ask
from core.work.models import Now
from core.work.working import do_one, due
from dashboards.documents import kinds
from dashboards.documents.computing import QUICK, SLOW, basis_of, data_of, documents, states
from dashboards.documents.state import digest, lately
from dashboards.documents.stored import sized
from dashboards.models import Analysis
from metrics.models.fleet import live_workers

# Where no worker takes documents, a request that waited for so long makes the page say so.
PATIENCE_SECONDS = 15
# What readers of a page ask for again and again, in the memory of a web process.
KEPT_BYTES = 64 * 1024 * 1024
QUESTION = "placeholder for a question"

D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")


@dataclass(frozen=True)
class Result(Generic[D]):
    """What is known now.

    `document` may be older than the data (`is_fresh` false) or None. `message` says why there is
    no fresh one where computing failed, and `failing` which part that is, empty where it is the
    document itself; `waits_for` names the queue that no worker takes from;
    `tags` are those of the results that this one is made of. `pending` names what is computed
    while it is not fresh. `data` is a hash of the data behind the document. A result of several
    `is_whole` where all of them are there, and `is_of_one_state` where all rest on the same data.
    """

    document: D | None
    as_of: datetime | None
    is_fresh: bool
    message: str = ""
    failing: str = ""
    waits_for: str = ""
    tags: str = ""
    pending: str = "newer numbers"
    data: str = ""
    is_whole: bool = True
    is_of_one_state: bool = True

    @property
    def tag(self) -> str:
        """An ETag that changes when a reader would see something else."""
        seen = (self.as_of, self.is_fresh, self.message, self.waits_for, self.tags, get_language())
        return f'W/"{digest(*seen)[:20]}"'


@dataclass(frozen=True)
class Completion(Generic[D]):
    """What a slower analysis has for a document: its own document.

    It `is_same` where it rests on the data that the document rests on. `message` says why there is
    no newer one where computing failed.
    """

    document: D | None
    as_of: datetime | None
    is_same: bool
    message: str = ""


def latest(
    kind: str, campaign: Campaign | None, filters: Filters, *, every: float = 0.0
) -> Result[Any]:
    """Return the newest document of an analysis, and have a fresh one computed where it is old.

    A document that is less than `every` seconds old is not old, whatever has changed; one that an
    older version left in another shape is none. What a reader states has no campaign.
    """
    row = _found(kind, campaign, filters)
    document = _stored(row)
    if document is not None and row.now - row.as_of < timedelta(seconds=every):
        return Result(document, row.as_of, is_fresh=True, data=data_of(row.basis))
    basis = basis_of(kind, states(kind, campaign, filters, lately))
    if document is None or row.basis != basis:
        row = _ask(row)
        document = _stored(row)
    is_fresh = document is not None and row.basis == basis
    return Result(
        document,
        None if document is None else row.as_of,
        is_fresh=is_fresh,
        message="" if is_fresh else row.problem,
        waits_for="" if is_fresh else _left_alone(row),
        data=data_of(row.basis),
    )


def _stored(row: Any) -> Any:
    """The document of a row, None where there is none that can be shown.

    It is read and parsed once a process, and shared by all who ask: nobody changes it.
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


_documents: Cache[Any] = Cache(KEPT_BYTES)
# What changes with a document.
NEWEST = ("as_of", "basis", "seconds", "status", "problem", "not_before")
# A question with the database's own time as `now`, without its document.
_row = Prepared(
    lambda: Analysis.objects.filter(question=QUESTION).defer("payload").annotate(now=Now())
)


def _rows(question: str) -> list[Any]:
    return list(_row.rows({QUESTION: question}))


def _found(kind: str, campaign: Campaign | None, filters: Filters) -> Any:
    """The row of a question; a new one is asked for."""
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
    """Have a newer document computed, unless one is on its way or the last one is too recent."""
    in_place = settings.ANALYSES_IN_PLACE
    is_due = row.status not in Analysis.ACTIVE and (in_place or row.not_before <= row.now)
    if is_due:
        ask([row])
    if in_place:
        do_one(documents, due(documents).filter(pk=row.pk))
    return _rows(row.question)[0] if is_due or in_place else row


def _left_alone(row: Any) -> str:
    """Name the queue where a question waits that no worker would take."""
    waited = row.now - row.not_before
    if row.status != Analysis.Status.QUEUED or waited < timedelta(seconds=PATIENCE_SECONDS):
        return ""
    queues = read_lately("queues", lambda: list(live_workers().values_list("queues", flat=True)))
    return "" if any(row.queue in each for each in queues) else row.queue


def together(found: Sequence[Result[D]], combine: Callable[[list[D]], E]) -> Result[E]:
    """Return several documents as one, as old as the oldest; none while one is missing."""
    documents = [result.document for result in found if result.document is not None]
    is_complete = len(documents) == len(found)
    times = [result.as_of for result in found if result.as_of]
    return Result(
        combine(documents) if is_complete else None,
        min(times) if times and is_complete else None,
        is_fresh=all(result.is_fresh for result in found),
        message="; ".join(dict.fromkeys(result.message for result in found if result.message)),
        failing=_failing(found),
        waits_for=next((result.waits_for for result in found if result.waits_for), ""),
        tags="".join(result.tag for result in found),
        is_whole=is_complete and all(result.is_whole for result in found),
        is_of_one_state=all(result.is_of_one_state for result in found),
    )


def _failing(found: Sequence[Result[Any]]) -> str:
    """Name what failed of several documents; empty where one of them did itself."""
    names = [result.failing for result in found if result.message]
    return ", ".join(dict.fromkeys(names)) if all(names) else ""


def failing_part(found: Result[Any], part: str) -> str:
    """Name a part of a page, as it is said where computing it failed; empty where it did not."""
    if not found.message:
        return ""
    return part if found.document is None else f"newer {part}"


def completed(
    first: Result[D], second: Result[E], complete: Callable[[D, Completion[E]], F], part: str
) -> Result[F]:
    """Return a document with the `part` that a slower analysis of the same question adds.

    It is there and as old as the first; it is fresh where both are.
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
        pending="more numbers" if first.is_fresh else first.pending,
        data=first.data,
        is_whole=first.is_whole and second.document is not None,
        is_of_one_state=first.is_of_one_state and is_same,
    )
