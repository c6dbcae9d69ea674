"""Add up the judgments of a campaign without reading those again that were added up before.

Judgments, and openings of documents, are only added: a revised judgment loses its `is_current`
mark, and only the data of persons is removed, which `Annotator.n_removed` counts.

Sums over many judgments are also kept as files of this host, so that a new process does not read a
million judgments at its first page.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from django.db.models import Max, QuerySet, Sum

from annotation.models import Campaign, ContextOpening, Judgment
from core.caching import Cache
from core.host_files import read_host_file, write_host_file

T = TypeVar("T")
# A row numbered before others may be committed after them: this number is read again.
OVERLAP = 500
# Judgments of all campaigns that are looked up by number at a time, and how many at most: of more,
# those of the campaign are read.
STEP, MOST = 2_000, 50_000
# A sum is stored again after this many rows of any campaign.
STORED_AFTER = 20_000


class AddedUp(Generic[T]):
    """A sum over the judgments of a campaign: `add` returns what it is with some more judgments.

    Nothing is remembered of the newest. `name` is that of its files; another `version` of the sum
    begins anew.
    """

    def __init__(
        self,
        name: str,
        nothing: T,
        add: Callable[[T, QuerySet[Any]], T],
        rows: type[Judgment | ContextOpening] = Judgment,
        version: int = 1,
    ) -> None:
        self._name, self._version = name, version
        self._nothing, self._add, self._rows = nothing, add, rows.objects.order_by()
        self._made = "created_at" if rows is Judgment else "opened_at"
        self._known: Cache[tuple[T, int]] = Cache(1024)

    def of(self, campaign: Campaign) -> T:
        """Return the sum over all judgments."""
        found, upto, newest = self._older(campaign)
        return self._with(campaign, found, upto, newest)

    def older(self, campaign: Campaign) -> tuple[T, int]:
        """Return the sum over those before the newest, and the last of their numbers.

        The number may be of another campaign.
        """
        found, upto, _ = self._older(campaign)
        return found, upto

    def _older(self, campaign: Campaign) -> tuple[T, int, int]:
        """Return the same, and the number of the newest."""
        removed = campaign.annotators.aggregate(n=Sum("n_removed"))["n"]
        key = campaign.pk, campaign.created_at, removed
        newest = self._rows.aggregate(newest=Max("pk"))["newest"] or 0
        known = self._known.get(key)
        if known is None and newest > STORED_AFTER and (known := self._stored(key)):
            self._known.put(key, known, 1)
        found, upto = known or (self._nothing, 0)
        before = upto
        if newest - upto > MOST:
            rows = self._rows.filter(assignment__annotator__campaign=campaign)
            last = newest - OVERLAP
            found, upto = self._add(found, rows.filter(pk__gt=upto, pk__lte=last)), last
            self._known.put(key, (found, upto), 1)
        while newest - upto > OVERLAP + STEP:
            found, upto = self._with(campaign, found, upto, upto + STEP), upto + STEP
            self._known.put(key, (found, upto), 1)
        if upto // STORED_AFTER > before // STORED_AFTER:
            self._store(key, found, upto)
        return found, upto, newest

    def _stored(self, key: tuple[Any, ...]) -> tuple[T, int] | None:
        """Return what a process of this host stored; None if it does not fit the database.

        After a backup was restored, other judgments can have the same numbers.
        """
        stored = read_host_file(f"{self._name}-{key[0]}", (self._version, *key))
        if stored is None or stored[2] != self._last(stored[1]):
            return None
        found, upto, _ = stored
        return found, upto

    def _store(self, key: tuple[Any, ...], found: T, upto: int) -> None:
        value = found, upto, self._last(upto)
        write_host_file(f"{self._name}-{key[0]}", (self._version, *key), value)

    def _last(self, upto: int) -> tuple[Any, ...] | None:
        """Return number and time of the newest row of any campaign that is in a sum."""
        rows = self._rows.filter(pk__lte=upto).order_by("-pk")
        return rows.values_list("pk", self._made).first()

    def _with(self, campaign: Campaign, found: T, after: int, upto: int) -> T:
        # They are named, so that a database begins with them and not with all of the campaign.
        rows = self._rows.filter(pk__gt=after, pk__lte=upto)
        pairs = rows.values_list("pk", "assignment__annotator__campaign")
        own = [pk for pk, whose in pairs if whose == campaign.pk]
        return self._add(found, self._rows.filter(pk__in=own)) if own else found
