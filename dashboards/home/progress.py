"""Read the progress of many campaigns with a few queries."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Sum

from annotation.models import Annotator, Assignment, Campaign, Item
from annotation.models.assignment import OPEN, SIZE


@dataclass
class Progress:
    """Existing and missing ratings, without practice, and the time of the last one."""

    rated: int = 0
    missing: int = 0
    last: datetime | None = None
    n_people: int = 0

    @property
    def total(self) -> int:
        """The number of planned ratings."""
        return self.rated + self.missing

    @property
    def is_complete(self) -> bool:
        """Whether no rating is missing."""
        return self.rated > 0 and self.missing == 0

    @property
    def percent(self) -> int:
        """The share of existing ratings; 100 only where none is missing."""
        return self.rated * 100 // self.total if self.total else 0


def read_progress(campaigns: Sequence[Campaign]) -> dict[int, Progress]:
    """Return the progress of each campaign by its key."""
    found: dict[int, Progress] = defaultdict(Progress)
    people = Annotator.objects.filter(campaign__in=campaigns, excluded_at=None)
    for pk, n in people.values_list("campaign").annotate(Count("pk")).order_by():
        found[pk].n_people = n
    given = Assignment.objects.filter(
        annotator__campaign__in=campaigns, annotator__excluded_at=None
    )
    counts = {"rated": Count("completed_at"), "open": Count("pk", filter=OPEN)}
    by_campaign = given.values_list("annotator__campaign").order_by()
    for pk, rated, n_open, last in by_campaign.annotate(**counts, last=Max("completed_at")):
        found[pk].rated, found[pk].missing, found[pk].last = rated, n_open, last
    practice = by_campaign.filter(item__kind=Item.Kind.TUTORIAL)
    for pk, rated, n_open in practice.annotate(**counts):
        found[pk].rated -= rated
        found[pk].missing -= n_open
    for pk, n in _unclaimed(campaigns):
        found[pk].missing += n
    return found


def _unclaimed(campaigns: Sequence[Campaign]) -> list[tuple[int, int]]:
    """Count the unclaimed ratings of open pools; those on one screen are claimed together."""
    pools = [c for c in campaigns if c.assignment_mode != Campaign.Mode.STATIC]
    items = Item.objects.filter(campaign__in=pools) if pools else Item.objects.none()
    single = items.filter(screen=None, wanted__gt=0).values_list("campaign").order_by()
    screens = items.exclude(screen=None).values_list("campaign", "screen").order_by()
    found = list(single.annotate(n=Sum("wanted")))
    wanted = screens.annotate(n=Sum("wanted"), size=SIZE).filter(n__gt=0)
    return found + [(pk, n * size) for pk, _, n, size in wanted]
