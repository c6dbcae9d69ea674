"""Add up the judgments of a campaign without reading those again that were added up before.

Judgments are only added: a revised one loses its `is_current` mark, and only the data of persons is
removed, which `Annotator.n_removed` counts.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from django.db.models import Max, QuerySet, Sum

from annotation.models import Campaign, Judgment
from annotation.quality.current import OVERLAP
from core.caching import Cache

T = TypeVar("T")
# Judgments of all campaigns that are looked up by number at a time, and how many at most: of more,
# those of the campaign are read.
STEP, MOST = 2_000, 50_000


class AddedUp(Generic[T]):
    """A sum over the judgments of a campaign: `add` returns what it is with some more judgments.

    Of the newest nothing is remembered: a row numbered before others may be committed after them.
    """

    def __init__(self, nothing: T, add: Callable[[T, QuerySet[Judgment]], T]) -> None:
        self._nothing, self._add = nothing, add
        self._known: Cache[tuple[T, int]] = Cache(1024)

    def of(self, campaign: Campaign) -> T:
        """Return the sum over all judgments."""
        removed = campaign.annotators.aggregate(n=Sum("n_removed"))["n"]
        key = campaign.pk, campaign.created_at, removed
        newest = Judgment.objects.aggregate(newest=Max("pk"))["newest"] or 0
        found, upto = self._known.get(key) or (self._nothing, 0)
        if newest - upto > MOST:
            rows = Judgment.objects.filter(assignment__annotator__campaign=campaign).order_by()
            last = newest - OVERLAP
            found, upto = self._add(found, rows.filter(pk__gt=upto, pk__lte=last)), last
            self._known.put(key, (found, upto), 1)
        while newest - upto > OVERLAP + STEP:
            found, upto = self._with(campaign, found, upto, upto + STEP), upto + STEP
            self._known.put(key, (found, upto), 1)
        return self._with(campaign, found, upto, newest)

    def _with(self, campaign: Campaign, found: T, after: int, upto: int) -> T:
        # They are named, so that a database begins with them and not with all of the campaign.
        rows = Judgment.objects.filter(pk__gt=after, pk__lte=upto).order_by()
        pairs = rows.values_list("pk", "assignment__annotator__campaign")
        own = [pk for pk, whose in pairs if whose == campaign.pk]
        return self._add(found, Judgment.objects.filter(pk__in=own).order_by()) if own else found
