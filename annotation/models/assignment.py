"""Assignments of items to annotators, and counts of given and wanted ratings."""

import uuid
from typing import Any, NamedTuple

from django.db import models
from django.db.models import Count, F, Func, IntegerField, Max, OuterRef, Q, QuerySet, Subquery, Sum

from annotation.models.campaign import Campaign, Item
from annotation.models.people import Annotator
from core.caching import Cache


class Assignment(models.Model):
    """An item given to an annotator, at a position in that annotator's order.

    `public_id` is random, so that addresses reveal nothing about the item. In an open pool,
    `claimed_at` is the time when the annotator got the item, and `released_at` the time when it
    returned to the pool unanswered; a later answer still counts. The items of a screen are assigned
    together, at consecutive positions. `condition` names which of an item's suggestions are shown
    in a trial; it is empty without a trial. In dynamic assignment, `inclusion` is the probability
    with which the item's system was drawn, and `column` its column on the screen.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    # Constraints below begin with it.
    annotator = models.ForeignKey(
        Annotator, models.CASCADE, related_name="assignments", db_index=False
    )
    item = models.ForeignKey(Item, models.CASCADE, related_name="assignments")
    position = models.PositiveIntegerField()
    condition = models.CharField(max_length=10, blank=True, default="")
    inclusion = models.FloatField(null=True, blank=True)
    column = models.PositiveSmallIntegerField(null=True, blank=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    released_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["annotator", "position"]
        constraints = [
            models.UniqueConstraint(fields=["annotator", "item"], name="assignment_once"),
            models.UniqueConstraint(fields=["annotator", "position"], name="assignment_position"),
        ]
        indexes = [
            models.Index(
                F("annotator"),
                F("position"),
                name="assignment_open",
                condition=Q(completed_at__isnull=True),
            ),
            models.Index(
                F("claimed_at"),
                name="assignment_claimed",
                condition=Q(completed_at__isnull=True, released_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return str(self.public_id)


class ContextOpening(models.Model):
    """An annotator opened the document around the segment of an item."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="context_openings")
    opened_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["assignment", "opened_at", "id"]

    def __str__(self) -> str:
        return f"{self.assignment_id} {self.opened_at}"


OPEN = Q(completed_at=None, released_at=None)
# Items that a screen shows: of the systems on it, `n_columns` are drawn in dynamic assignment.
SIZE = Count("pk") * Max("n_columns") / Count("column", distinct=True)


class Counts(NamedTuple):
    """Numbers of assignments: of all, of unanswered ones, and of those that are still to answer.

    `removed` is the number of judgments removed with erased persons.
    """

    assigned: int = 0
    unanswered: int = 0
    open: int = 0
    removed: int = 0

    @property
    def answered(self) -> int:
        """The number of answered ones."""
        return self.assigned - self.unanswered


# By annotator: the position of the last assignment, and how many there are.
_counted: Cache[tuple[int, int]] = Cache(4 << 20)
ENTRY_BYTES = 200


def count_by_campaign(
    annotators: QuerySet[Annotator], *, with_open: bool = False
) -> dict[int, Counts]:
    """Count the assignments of annotators, by the primary key of their campaign.

    Only unanswered ones are counted anew. An annotator's assignments are never deleted, and a new
    one comes after the last, so their number holds as long as the last position is the same.
    """
    # An aggregate would be grouped, which takes PostgreSQL three times as long.
    n = Func(function="COUNT", template="%(function)s(*)", output_field=IntegerField())
    own = Assignment.objects.filter(annotator=OuterRef("pk")).order_by()
    last = Subquery(own.order_by("-position").values("position")[:1])
    assigned, unanswered, still_open = (
        Subquery(rows.annotate(n=n).values("n"))
        for rows in (own, own.filter(completed_at=None), own.filter(OPEN))
    )
    columns: list[Any] = ["campaign", "pk", last, "n_removed", unanswered]
    columns += [still_open] * with_open
    found: dict[int, list[int]] = {}
    new: list[int] = []

    def add(campaign: int, assigned: int, removed: int, unanswered: int, n_open: int = 0) -> None:
        sums = found.setdefault(campaign, [0, 0, 0, 0])
        sums[0] += assigned
        sums[1] += unanswered
        sums[2] += n_open
        sums[3] += removed

    for campaign, pk, position, *counts in annotators.order_by().values_list(*columns):
        known = (None, 0) if position is None else _counted.get(pk)
        if known is None or known[0] != position:
            new.append(pk)
        else:
            add(campaign, known[1], *counts)
    # In one statement, so that all numbers of an annotator are of one moment.
    rows = Annotator.objects.filter(pk__in=new).order_by() if new else Annotator.objects.none()
    for campaign, pk, position, *counts, total in rows.values_list(*columns, assigned):
        _counted.put(pk, (position, total), ENTRY_BYTES)
        add(campaign, total, *counts)
    return {campaign: Counts(*sums) for campaign, sums in found.items()}


def given(campaign: Campaign) -> dict[str, Count]:
    """Return counts of a campaign's assignments: `rated` and `open`, without practice items.

    The few practice items are read once, and no other item.
    """
    is_rating = ~Q(item__in=campaign.items.filter(kind=Item.Kind.TUTORIAL).order_by())
    return {
        "rated": Count("completed_at", filter=is_rating),
        "open": Count("pk", filter=OPEN & is_rating),
    }


def wanted(campaign: Campaign) -> tuple[int, int, bool]:
    """Return the number of given and of all wanted ratings, and whether they are complete.

    Practice items and excluded annotators are not counted.
    """
    counts = Assignment.objects.filter(
        annotator__campaign=campaign, annotator__excluded_at=None
    ).aggregate(**given(campaign))
    return count_wanted(campaign, counts["rated"], counts["open"])


def count_wanted(campaign: Campaign, rated: int, n_open: int) -> tuple[int, int, bool]:
    """Return the number of given and of all wanted ratings, and whether they are complete.

    In an open pool, unclaimed ratings are wanted too; `Item.wanted` of the first item of a screen
    applies to the whole screen.
    """
    unclaimed = 0
    if campaign.assignment_mode != Campaign.Mode.STATIC:
        rows = campaign.items.values("screen").annotate(ratings=Sum("wanted"), size=SIZE)
        needed = rows.filter(ratings__gt=0).values_list("screen", "ratings", "size").order_by()
        unclaimed = sum(n if screen is None else n * size for screen, n, size in needed)
    missing = n_open + unclaimed
    return rated, rated + missing, rated > 0 and missing == 0
