"""Assignments of items to annotators, and counts of given and wanted ratings."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import models
from django.db.models import (
    Case,
    Count,
    F,
    Func,
    IntegerField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    When,
)

from annotation.models.campaign import Campaign, Item
from annotation.models.people import Annotator
from core.caching import Cache
from core.host_files import read_host_file, write_host_file


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

    `removed` is the number of judgments removed with erased persons. `last` is the time of the last
    answer of annotators who gave none here; others have `answered_at`.
    """

    assigned: int = 0
    unanswered: int = 0
    open: int = 0
    removed: int = 0
    last: datetime | None = None

    @property
    def answered(self) -> int:
        """The number of answered ones."""
        return self.assigned - self.unanswered

    def plus(self, other: "Counts") -> "Counts":
        """Return the counts of both."""
        return Counts(
            self.assigned + other.assigned,
            self.unanswered + other.unanswered,
            self.open + other.open,
            self.removed + other.removed,
            max(filter(None, (self.last, other.last)), default=None),
        )


class _Known(NamedTuple):
    """What holds of an annotator's assignments as long as the last position is the same.

    The time of the last answer also needs as many unanswered ones.
    """

    position: int | None = None
    assigned: int = 0
    unanswered: int = 0
    last: datetime | None = None


_counted: Cache[_Known] = Cache(4 << 20)
ENTRY_BYTES = 250
# Of campaigns with more assignments, counts are stored for new processes.
STORED_FROM = 20_000


def count_by_annotator(
    annotators: QuerySet[Annotator], *, with_open: bool = False
) -> dict[int, tuple[int, Counts]]:
    """Count the assignments of annotators: the keys of their campaigns, and the counts.

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
    newest = Func(F("completed_at"), function="MAX", output_field=models.DateTimeField())
    # Few annotators lack the time of their last answer; the others' need not be looked for.
    answered_at = Case(
        When(answered_at=None, then=Subquery(own.annotate(newest=newest).values("newest"))),
        output_field=models.DateTimeField(),
    )
    columns: list[Any] = ["campaign", "pk", "answered_at", last, "n_removed", unanswered]
    columns += [still_open] * with_open
    found: dict[int, tuple[int, Counts]] = {}
    new: list[tuple[Any, ...]] = []

    def add(
        known: _Known,
        campaign: int,
        pk: int,
        is_here: Any,
        removed: int,
        unanswered: int,
        n_open: int = 0,
    ) -> None:
        newest = None if is_here else known.last
        found[pk] = campaign, Counts(known.assigned, unanswered, n_open, removed, newest)

    def add_known(row: tuple[Any, ...]) -> bool:
        campaign, pk, is_here, position, *counts = row
        known = _Known() if position is None else _counted.get(pk)
        if known and known.position == position and (is_here or known.unanswered == counts[1]):
            add(known, campaign, pk, is_here, *counts)
            return True
        return False

    new = [row for row in annotators.order_by().values_list(*columns) if not add_known(row)]
    if stored := _read_stored(new):
        new = [row for row in new if not add_known(row)]
    # In one statement, so that all numbers of an annotator are of one moment.
    keys = [pk for _, pk, *_ in new]
    rows = Annotator.objects.filter(pk__in=keys).order_by() if keys else Annotator.objects.none()
    columns += [assigned, answered_at]
    for campaign, pk, is_here, position, *counts, total, newest_at in rows.values_list(*columns):
        known = _Known(position, total, counts[1], newest_at)
        _counted.put(pk, known, ENTRY_BYTES)
        add(known, campaign, pk, is_here, *counts)
        stored.setdefault(campaign, {})[pk] = known
    _store(stored, new)
    return found


def _size(rows: Iterable[tuple[Any, ...]]) -> dict[int, int]:
    """Return how many assignments the annotators of each campaign have at least, about."""
    sizes: dict[int, int] = {}
    for campaign, _, _, position, *_ in rows:
        sizes[campaign] = sizes.get(campaign, 0) + (position or 0)
    return {campaign: n for campaign, n in sizes.items() if n > STORED_FROM}


def _read_stored(rows: Sequence[tuple[Any, ...]]) -> dict[int, dict[int, _Known]]:
    """Remember what a process of this host counted of large campaigns, and return it."""
    stored: dict[int, dict[int, _Known]] = {}
    for campaign in _size(rows):
        value = read_host_file(f"assignments-{campaign}", ())
        # After a backup was restored, others can have the same number.
        if value and Assignment.objects.filter(pk=value[1], public_id=value[2]).exists():
            stored[campaign] = value[0]
            for pk, known in value[0].items():
                _counted.put(pk, known, ENTRY_BYTES)
    return stored


def _store(stored: Mapping[int, dict[int, _Known]], new: Sequence[tuple[Any, ...]]) -> None:
    """Store what was counted anew of large campaigns."""
    for campaign in _size(new):
        last = Assignment.objects.order_by("-pk").values_list("pk", "public_id").first()
        if last and campaign in stored:
            write_host_file(f"assignments-{campaign}", (), (stored[campaign], *last))


def count_by_campaign(
    annotators: QuerySet[Annotator], *, with_open: bool = False
) -> dict[int, Counts]:
    """Count the assignments of annotators, by the primary key of their campaign."""
    found: dict[int, Counts] = {}
    for campaign, counts in count_by_annotator(annotators, with_open=with_open).values():
        found[campaign] = found.get(campaign, Counts()).plus(counts)
    return found


def count_practice(campaigns: Iterable[Campaign]) -> dict[int, tuple[int, int]]:
    """Return the answered practice items of annotators, and those that are still to answer."""
    items = Item.objects.filter(campaign__in=campaigns, kind=Item.Kind.TUTORIAL).order_by()
    # Few are named, so that a database begins with them and not with all assignments.
    rows = Assignment.objects.filter(item__in=list(items.values_list("pk", flat=True))).order_by()
    counts = rows.values_list("annotator").annotate(
        Count("completed_at"), open=Count("pk", filter=OPEN)
    )
    return {pk: (rated, n_open) for pk, rated, n_open in counts}


def wanted(campaign: Campaign) -> tuple[int, int, bool]:
    """Return the number of given and of all wanted ratings, and whether they are complete.

    Practice items and excluded annotators are not counted.
    """
    people = count_by_annotator(campaign.annotators.filter(excluded_at=None), with_open=True)
    practice = [each for pk, each in count_practice([campaign]).items() if pk in people]
    rated = sum(counts.answered for _, counts in people.values()) - sum(n for n, _ in practice)
    n_open = sum(counts.open for _, counts in people.values()) - sum(n for _, n in practice)
    return count_wanted(campaign, rated, n_open)


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
