"""How a document is computed: one task for each question that a page asks.

Of the documents that wait, those come first that there are none of yet, then the oldest. One that
was just computed rests for as long as that took, so that a judgment every second leaves room for
all others; what readers take along, and the verdict that every page asks for, rest ten times as
long. After its rest the newest state counts, whatever came between. Between documents a process
rests for eight times as long as others, such as a metric run, kept it waiting for a processor.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from time import monotonic
from typing import Any

from billiard.exceptions import SoftTimeLimitExceeded
from django.db.models import F, QuerySet

from annotation.filters import Filters
from annotation.models import Campaign
from core.caching import memoized
from core.work.claims import after, fail, finish, retry
from core.work.kinds import WorkKind
from core.work.models import Now
from dashboards.documents import kinds
from dashboards.documents.memory import give_back
from dashboards.documents.state import digest, state_of
from dashboards.documents.stored import pack
from dashboards.models import Analysis

# Queues of what a reader waits for, and of what takes longer than that.
QUICK, SLOW = "documents", "documents-slow"
# A document is computed anew at most so often, and in at most half of the time; what is taken along
# or asked for with every page, in at most an eleventh.
REST_SECONDS, RESTS = 2.0, {"report": 10.0, "bundle": 10.0, "trust": 10.0}
# The longest rest between two documents.
GIVES_WAY_SECONDS = 30.0
# A failure may have passed after so long (a database that restarted, memory that was short), and
# what has killed processes is left alone for longer.
AGAIN_SECONDS, DEADLY_SECONDS = 60.0, 600.0
# Hexadecimal digits of a hash of the data behind a document.
DATA = 48
# Days for which documents are kept that nobody asked for anew: those of no campaign, and all.
STATED_DAYS, KEPT_DAYS = 1, 30


class Documents(WorkKind[Analysis]):
    """Documents as a kind of work."""

    name = "document"
    model = Analysis
    max_attempts = 3
    soft_seconds, hard_seconds = 600, 660
    ends_at_once = True
    gives_way = GIVES_WAY_SECONDS

    def choose(self, rows: QuerySet[Analysis]) -> Analysis | None:
        """First what pages have no numbers of, in the order of asking, then the oldest numbers;
        before all, the verdict that all numbers carry."""
        oldest = F("as_of").asc(nulls_first=True)
        return rows.order_by("-priority", oldest, "not_before", "pk").first()

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
        """An error is told at once: it would come again."""
        fail(row, reason(error))

    def lost(self, row: Analysis) -> None:
        """Its process ended: another one tries."""
        times = self.max_attempts
        retry(row, f"{times} times the process that computed it was killed or out of memory.")

    def ended(self, row: Analysis) -> None:
        """The page tells why there is nothing newer, and does not ask again for a while.

        Only deaths count attempts.
        """
        wait = DEADLY_SECONDS if row.attempts else AGAIN_SECONDS
        told = {"problem": row.message, "not_before": after(wait)}
        Analysis.objects.filter(pk=row.pk).update(**told)


documents = Documents()


def compute(row: Analysis) -> Any:
    """Return the document of a question from the data of this moment."""
    filters = kinds.filters_of(row.kind).from_json(row.filters)
    with memoized():
        return kinds.compute(row.kind, row.campaign, filters)


def reason(error: BaseException) -> str:
    """Say what went wrong."""
    if isinstance(error, SoftTimeLimitExceeded):
        return f"It took longer than {Documents.soft_seconds // 60} minutes."
    return f"{type(error).__name__}: {error}"


def _states(row: Analysis) -> list[str]:
    filters = kinds.filters_of(row.kind).from_json(row.filters)
    return states(row.kind, row.campaign, filters, state_of)


def states(
    kind: str, campaign: Campaign | None, filters: Filters, state: Callable[[Campaign], str]
) -> list[str]:
    """Return the states of all campaigns that a document rests on."""
    if campaign is None:
        return []
    return [state(each) for each in (campaign, *kinds.others(kind, campaign, filters))]


def basis_of(kind: str, states: Sequence[str]) -> str:
    """Return what a document of campaigns in these states rests on: their data, and its version."""
    return f"{digest(states)[:DATA]}-{kinds.load(kind).VERSION}"


def data_of(basis: str) -> str:
    """Return the hash of the data alone: equal for documents of different kinds of one state."""
    return basis.partition("-")[0]


def forget_old() -> None:
    """Drop what nobody looks at any more; it can be computed again."""
    ended = Analysis.objects.exclude(status__in=Analysis.ACTIVE)
    ended.filter(campaign=None, not_before__lt=Now() - timedelta(days=STATED_DAYS)).delete()
    ended.filter(not_before__lt=Now() - timedelta(days=KEPT_DAYS)).delete()
