"""How many judgments a campaign has: who asks again and again has those counted that came since.

Judgments are only added. A process counts them all once a minute, in case some went with whoever
gave them or were committed long after their number was given.
"""

from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

from django.db.models import Count, Max, QuerySet

from annotation.models import Campaign, Judgment
from annotation.quality.current import OVERLAP
from core.caching import Cache

AGAIN_SECONDS = 60.0


class Added(NamedTuple):
    """Judgments, revised ones among them, and the number of the newest; 0 without any."""

    n: int
    newest: int


@dataclass(frozen=True)
class _Counted:
    """`n` judgments are numbered `upto` or lower; known `at` so many seconds."""

    n: int
    upto: int
    at: float


_kept: Cache[_Counted] = Cache(4096)


def judgments_added(campaign: Campaign) -> Added:
    """Return how many there are now."""
    counted = _kept.get(campaign.pk)
    if counted is None or monotonic() - counted.at > AGAIN_SECONDS:
        counted = _count(campaign)
        _kept.put(campaign.pk, counted, 1)
    since = _judgments(campaign).filter(pk__gt=counted.upto)
    found = since.aggregate(n=Count("pk"), newest=Max("pk"))
    return Added(counted.n + found["n"], found["newest"] or counted.upto)


def _count(campaign: Campaign) -> _Counted:
    """Count those that no transaction that is still open comes before."""
    newest = _judgments(campaign).aggregate(newest=Max("pk"))["newest"] or 0
    upto = max(0, newest - OVERLAP)
    return _Counted(_judgments(campaign).filter(pk__lte=upto).count(), upto, monotonic())


def _judgments(campaign: Campaign) -> QuerySet[Judgment]:
    return Judgment.objects.filter(assignment__annotator__campaign=campaign).order_by()
