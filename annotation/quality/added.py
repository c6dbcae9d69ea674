"""How many judgments a campaign has: who asks again and again has those counted that came since.

Judgments are only added. A process counts them all once a minute, in case some went with whoever
gave them or were committed long after their number was given.
"""

from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

from django.db.models import Count, Max, QuerySet

from annotation.kept import Kept
from annotation.models import Campaign, Judgment
from annotation.quality.current import OVERLAP

AGAIN_SECONDS = 60.0


class Added(NamedTuple):
    """Judgments, revised ones among them, and the number of the newest; 0 without any."""

    n: int
    newest: int


@dataclass(frozen=True)
class _Counted:
    """What is numbered `upto` or lower; known `at` so many seconds."""

    added: Added
    upto: int
    at: float


_kept: Kept[_Counted] = Kept(4096)


def judgments_added(campaign: Campaign) -> Added:
    """Return how many there are now."""
    counted = _kept.get(campaign.pk)
    if counted is None or monotonic() - counted.at > AGAIN_SECONDS:
        counted = _count(campaign)
        _kept.put(campaign.pk, counted, 1)
    since = _judgments(campaign).filter(pk__gt=counted.upto)
    new = _added(since)
    return Added(counted.added.n + new.n, new.newest or counted.added.newest)


def _count(campaign: Campaign) -> _Counted:
    """Count those that no transaction that is still open comes before.

    The newest of all campaigns is the end of an index; that of one takes as long as to count.
    """
    newest = Judgment.objects.aggregate(newest=Max("pk"))["newest"] or 0
    upto = max(0, newest - OVERLAP)
    return _Counted(_added(_judgments(campaign).filter(pk__lte=upto)), upto, monotonic())


def _added(judgments: QuerySet[Judgment]) -> Added:
    found = judgments.aggregate(n=Count("pk"), newest=Max("pk"))
    return Added(found["n"], found["newest"] or 0)


def _judgments(campaign: Campaign) -> QuerySet[Judgment]:
    return Judgment.objects.filter(assignment__annotator__campaign=campaign).order_by()
