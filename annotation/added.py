"""Add up the judgments of a campaign without reading those again that were added up before.

Judgments, and openings of documents, are only added: a revised judgment loses its `is_current`
mark, and only the data of persons is removed, which `Annotator.n_removed` counts.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from django.db.models import Max, QuerySet, Sum

from annotation.models import Campaign, ContextOpening, Judgment
from core.caching import Cache

T = TypeVar("T")
# A row numbered before others may be committed after them: this number is read again.
OVERLAP = 500
# Judgments of all campaigns that are looked up by number at a time, and how many at most: of more,
# those of the campaign are read.
STEP, MOST = 2_000, 50_000


class AddedUp(Generic[T]):
    """A sum over the judgments of a campaign: `add` returns what it is with some more judgments.

    Nothing is remembered of the newest.
    """

    def __init__(
        self,
        nothing: T,
        add: Callable[[T, QuerySet[Any]], T],
        rows: type[Judgment | ContextOpening] = Judgment,
    ) -> None:
        self._nothing, self._add, self._rows = nothing, add, rows.objects.order_by()
        self._known: Cache[tuple[T, int]] = Cache(1024)

    def of(self, campaign: Campaign) -> T:
        """Return the sum over all judgments."""
        removed = campaign.annotators.aggregate(n=Sum("n_removed"))["n"]
        key = campaign.pk, campaign.created_at, removed
        newest = self._rows.aggregate(newest=Max("pk"))["newest"] or 0
        found, upto = self._known.get(key) or (self._nothing, 0)
        if newest - upto > MOST:
            rows = self._rows.filter(assignment__annotator__campaign=campaign)
            last = newest - OVERLAP
            found, upto = self._add(found, rows.filter(pk__gt=upto, pk__lte=last)), last
            self._known.put(key, (found, upto), 1)
        while newest - upto > OVERLAP + STEP:
            found, upto = self._with(campaign, found, upto, upto + STEP), upto + STEP
            self._known.put(key, (found, upto), 1)
        return self._with(campaign, found, upto, newest)

    def _with(self, campaign: Campaign, found: T, after: int, upto: int) -> T:
        # They are named, so that a database begins with them and not with all of the campaign.
        rows = self._rows.filter(pk__gt=after, pk__lte=upto)
        pairs = rows.values_list("pk", "assignment__annotator__campaign")
        own = [pk for pk, whose in pairs if whose == campaign.pk]
        return self._add(found, self._rows.filter(pk__in=own)) if own else found
