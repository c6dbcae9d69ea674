"""Mix control items into the screens of a pool: decide when one is due, and choose it.

The draws of an annotator are seeded with the campaign's secret and depend only on what the
annotator was given so far; `docs/assignment.md` states the rule.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Mod

from annotation.models import Annotator, Assignment, Campaign, Item
from core.database.prepared import Statement, placeholder_key

# Count the assignments of an annotator in a pool, continuing from a cached count. Assignments
# are only added, at the next position, and their items never change. So a count up to a
# position stays valid, and a claim reads only newer assignments.

CONTROLS = (Item.Kind.TRAP, Item.Kind.BAD_REF, Item.Kind.REPEAT, Item.Kind.REF, Item.Kind.GOLD)
TUTORIAL = Item.Kind.TUTORIAL.value
# How many annotators' counts are cached.
CACHED = 4_096
ANNOTATOR, POSITION = map(placeholder_key, (1, 2))

_cache: OrderedDict[int, "Given"] = OrderedDict()


@dataclass(frozen=True)
class Given:
    """Counts over all assignments up to the last one, answered or not.

    `n_since` counts the screens after the last control item, whose position is `last_control`.
    Practice items are not counted as screens. `last_screen` is the number of the last screen, None
    for a screen without a number.
    """

    last_key: int = 0
    last_position: int = -1
    n_screens: int = 0
    n_controls: int = 0
    n_since: int = 0
    last_control: int = -1
    last_screen: int | None = None

    def and_then(self, rows: Sequence[tuple[Any, ...]]) -> Self:
        """Return the counts with the following assignments added."""
        if not rows:
            return self
        n_screens, n_controls = self.n_screens, self.n_controls
        n_since, last_control = self.n_since, self.last_control
        before = self.last_screen
        for _, position, screen, kind, partner in rows:
            is_new = screen is None or screen != before
            before = screen
            is_screen = is_new and kind != TUTORIAL
            n_screens += is_screen
            n_since += is_screen
            if partner is not None or kind in CONTROLS:
                n_controls += is_new
                n_since, last_control = 0, position
        key, position, *_ = rows[-1]
        return type(self)(key, position, n_screens, n_controls, n_since, last_control, before)


_since = Statement(
    lambda: (
        Assignment.objects.filter(annotator=ANNOTATOR, position__gte=POSITION)
        .order_by("position")
        .values_list("pk", "position", "item__screen", "item__kind", "item__partner")
    )
)


def given_to(annotator: Annotator) -> Given:
    """Return the annotator's counts (one query, for assignments since the last call)."""
    known = _cache.pop(annotator.pk, Given())
    rows = _rows(annotator, known)
    if known.last_key and (not rows or rows[0][0] != known.last_key):
        # The counted rows have changed, so count all of them again.
        known = Given()
        rows = _rows(annotator, known)
    _cache[annotator.pk] = known = known.and_then(rows[1 if known.last_key else 0 :])
    while len(_cache) > CACHED:
        _cache.popitem(last=False)
    return known


def warm(annotator: Annotator) -> None:
    """Fill the cache before the transaction begins, so that others wait for a shorter time."""
    if annotator.pk not in _cache:
        given_to(annotator)


def _rows(annotator: Annotator, known: Given) -> list[Any]:
    return _since.values({ANNOTATOR: annotator.pk, POSITION: max(0, known.last_position)})


Kind = Item.Kind
# Without a limit of items per annotator, one screen in this number is a control.
SCREENS_PER_CONTROL = 10
MOST = 200
PRIME = 2_147_483_647


@dataclass(frozen=True)
class State:
    """Counts of what an annotator was given so far, without screens that were released unanswered.

    `n_since` counts the screens after the last control item, `n_gold` the gold screens of the
    campaign.
    """

    last_position: int | None
    n_items: int
    n_screens: int
    n_controls: int
    n_since: int
    n_gold: int

    @classmethod
    def of(cls, given: Given, row: dict[str, Any]) -> Self:
        """Subtract released assignments (`state_columns`) from the counts of all assignments."""
        dead = {name: row[f"dead_{name}"] or 0 for name in ("items", "screens", "since")}
        return cls(
            last_position=None if given.last_position < 0 else given.last_position,
            n_items=given.last_position + 1 - dead["items"],
            n_screens=given.n_screens - dead["screens"],
            n_controls=given.n_controls,
            n_since=given.n_since - dead["since"],
            n_gold=row["n_gold"] or 0,
        )

    def after(self, *, screens: int, items: int, is_control: bool = False) -> Self:
        """Return the state after these screens and items have been given."""
        return replace(
            self,
            last_position=self.next_position + items - 1,
            n_items=self.n_items + items,
            n_screens=self.n_screens + screens,
            n_controls=self.n_controls + is_control,
            n_since=0 if is_control else self.n_since + screens,
        )

    @property
    def next_position(self) -> int:
        """The position of the next item."""
        return 0 if self.last_position is None else self.last_position + 1


def state_columns(annotator: Annotator, last_control: int) -> dict[str, Any]:
    """Return annotations for a query: counts of released assignments and of gold screens."""
    own = Assignment.objects.filter(annotator=annotator.pk, completed_at=None)
    dead = own.exclude(released_at=None)
    heads = dead.exclude(item__kind=Kind.TUTORIAL)
    gold = Item.objects.filter(campaign=annotator.campaign_id, kind=Kind.GOLD, place=0)
    return {
        "dead_items": _count(dead, "annotator"),
        "dead_screens": count_screens(heads, annotator.campaign),
        "dead_since": count_screens(heads.filter(position__gt=last_control), annotator.campaign),
        "n_gold": _count(gold, "campaign"),
    }


def _count(rows: QuerySet[Any], group: str) -> Subquery:
    return Subquery(rows.order_by().values(group).annotate(n=Count("pk")).values("n"))


def count_screens(own: QuerySet[Assignment], campaign: Campaign) -> Subquery:
    """Return a subquery that counts the screens of some assignments of an annotator.

    Counts first items, except in dynamic assignment, where the first item may not be drawn.
    """
    if campaign.assignment_mode == Campaign.Mode.DYNAMIC:
        return _different(own)
    return _count(own.filter(item__place=0), "annotator")


def _different(own: QuerySet[Assignment]) -> Subquery:
    screens = Count(Coalesce("item__screen", -F("item")), distinct=True)
    return Subquery(own.order_by().values("annotator").annotate(n=screens).values("n"))


def next_control(annotator: Annotator, state: State) -> list[int] | None:
    """Return the items of the control screen that is due now, or None."""
    quotas = quotas_of(annotator.campaign, n_gold=state.n_gold)
    if not is_due(annotator, state, sum(quotas.values())):
        return None
    rows = list(_ready(annotator, quotas))
    if not rows:
        return None
    chosen = _choose(annotator, state, quotas, rows)
    return None if chosen is None else _items(annotator.campaign_id, chosen)


def quotas_of(campaign: Campaign, *, n_gold: int) -> dict[str, int]:
    """Return the number of control items of each kind per annotator."""
    return {
        Kind.TRAP: campaign.traps_per_annotator,
        Kind.BAD_REF: campaign.bad_references_per_annotator,
        Kind.REPEAT: campaign.repeats_per_annotator,
        Kind.REF: campaign.references_per_annotator,
        Kind.GOLD: n_gold,
    }


def is_due(annotator: Annotator, state: State, planned: int) -> bool:
    """Return whether the next control item is due.

    One is due at a random position in each of `planned` equal parts of `items_per_annotator`, or of
    every ten screens if there is no such limit. With `check_percent`, one is due before each screen
    with that probability.
    """
    campaign = annotator.campaign
    if state.n_controls >= planned:
        return False
    if state.n_controls and state.n_since < campaign.control_spacing:
        return False
    if campaign.check_percent:
        # Seeded per screen, so that reloading the page or another process draws the same.
        rng = campaign.hidden_rng("check", annotator.label, state.n_screens)
        return rng.random() * 100 < campaign.check_percent
    limit = campaign.items_per_annotator
    after = (
        (state.n_items + 1) * planned / limit
        if limit
        else (state.n_screens + 1) / SCREENS_PER_CONTROL
    )
    rng = campaign.hidden_rng("due", annotator.label, state.n_controls)
    # Every position in a part is equally likely, so that the position reveals nothing.
    return after > state.n_controls + rng.random()


def before_control(annotator: Annotator, state: State, most: int) -> int:
    """Return how many screens of one item may precede the next control item: 1 to `most`."""
    planned = sum(quotas_of(annotator.campaign, n_gold=state.n_gold).values())
    n = 1
    while n < most and not is_due(annotator, state.after(screens=n, items=n), planned):
        n += 1
    return n


def _ready(annotator: Annotator, quotas: dict[str, int]) -> QuerySet[Any, Any]:
    """Return control items that the annotator may get now, in random order, with counts per kind.

    A control item with a partner waits until the annotator has rated the partner, and for the
    spacing after that.
    """
    campaign, own = annotator.campaign, Assignment.objects.filter(annotator=annotator.pk)
    spacing = max(1, campaign.control_spacing)
    heads = own.filter(item__place=0).order_by("-position").values("position")
    rated = own.filter(completed_at__isnull=False)
    rated = rated.filter(position__lt=Subquery(heads[spacing - 1 : spacing]))
    kinds = [kind for kind, quota in quotas.items() if quota]
    other = Item.objects.filter(campaign=campaign.pk, screen=OuterRef("screen"))
    factor = campaign.hidden_rng("order", annotator.label).randrange(1, PRIME // 2**10)
    ready: QuerySet[Any, Any] = (
        Item.objects.filter(campaign=campaign.pk, kind__in=kinds)
        .filter(Q(partner=None) | Q(partner__in=rated.values("item")))
        .exclude(Exists(own.filter(item=OuterRef("pk"))))
        # On a screen of several items, the replaced text determines the kind of the control.
        .exclude(Exists(other.filter(kind__in=CONTROLS).exclude(kind=Kind.REPEAT)), kind="repeat")
        .annotate(**{f"n_{kind}": _n_given(own, kind) for kind in kinds})
        .annotate(order=Mod(F("pk") * factor, PRIME))
        .order_by("order")
        .values("pk", "kind", "screen", *(f"n_{kind}" for kind in kinds))[:MOST]
    )
    return ready


def _n_given(own: QuerySet[Assignment], kind: str) -> Subquery:
    """Return a subquery that counts the control screens of a kind that the annotator was given.

    A screen has one kind, or repeats and one other kind, and counts for the other one.
    """
    rows = own.filter(item__kind=kind)
    if kind == Kind.REPEAT:
        other = Item.objects.filter(
            campaign=OuterRef("item__campaign"), screen=OuterRef("item__screen")
        )
        rows = rows.exclude(Exists(other.filter(kind__in=CONTROLS).exclude(kind=Kind.REPEAT)))
    return _different(rows)


def _choose(
    annotator: Annotator, state: State, quotas: dict[str, int], rows: list[dict[str, Any]]
) -> dict[str, Any] | None:
    """Draw a kind by the remaining quotas, and return the first control item of that kind."""
    left = {kind: quotas[kind] - (rows[0].get(f"n_{kind}") or 0) for kind in quotas}
    kinds = [row["kind"] for row in rows if left[row["kind"]] > 0]
    if not kinds:
        return None
    there = [kind for kind in CONTROLS if kind in kinds]
    rng = annotator.campaign.hidden_rng("kind", annotator.label, state.n_controls)
    (kind,) = rng.choices(there, [left[kind] for kind in there])
    return next(row for row in rows if row["kind"] == kind)


def _items(campaign_id: int, chosen: dict[str, Any]) -> list[int]:
    if chosen["screen"] is None:
        return [chosen["pk"]]
    items = Item.objects.filter(campaign=campaign_id, screen=chosen["screen"]).order_by("place")
    return list(items.values_list("pk", flat=True))
