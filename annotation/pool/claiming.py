"""Stage 3, open pool: claim the screen that lacks most ratings for an annotator.

A claim is a conditional UPDATE of `Item.wanted` on the first item of a screen; the process whose
UPDATE changes the row has the screen. The decision needs one query before that. It reads short
ranges of the index on (campaign, wanted, shuffle): one from a random position among the screens
with the most missing ratings, so that concurrent annotators rarely want the same row, and one from
the beginning, so that no screen is missed. Screens ahead are claimed together, after one such
query. `docs/assignment.md` states the rules.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, F
from django.utils import timezone

from annotation.models import Annotator, Assignment, Campaign, Item
from annotation.pool import adaptive, candidates, mixing, releases
from annotation.pool.candidates import Candidate, Look
from annotation.pool.mixing import State, warm
from core.database.prepared import Statement, placeholder_key
from core.database.waits import write_lock

CAMPAIGN = placeholder_key(1)
TRIES = 5
# The items of a screen in order, with fields of their assignments.
Given = Mapping[int, Mapping[str, Any]]
# Each annotator claims at most 1/SHARES of an equal part of the remaining screens ahead.
SHARES = 3


def has_pool(campaign: Campaign) -> bool:
    """Return whether annotators draw their items, instead of having fixed assignments."""
    return campaign.assignment_mode != Campaign.Mode.STATIC


def give_next(*, annotator: Annotator) -> None:
    """Claim the next screen for an annotator, unless they have an open one or none is left.

    Stale claims are released first. If two windows of one annotator ask at once, both want the same
    position, and the second one finds the screen of the first.
    """
    campaign = annotator.campaign
    if not has_pool(campaign):
        return
    releases.release_stale(campaign)
    _try(annotator, screens=1, items=1)


def give_ahead(*, annotator: Annotator, most: int) -> None:
    """Claim screens ahead until `most` items are open, or fewer if the pool is nearly empty.

    Guided self-scheduling (Polychronopoulos and Kuck 1987): the number claimed at once falls with
    the number of remaining screens.
    """
    campaign = annotator.campaign
    if not has_pool(campaign):
        return
    ((people,),) = _people.values({CAMPAIGN: campaign.pk}) or [(1,)]
    wanted = Item.objects.filter(campaign=campaign, wanted__gt=0).order_by()
    left = wanted[: most * people * SHARES].count()
    screens = min(most, left // (people * SHARES))
    for _ in range(screens):
        if not _try(annotator, screens=screens, items=most):
            return


_people = Statement(
    lambda: (
        Annotator.objects.filter(campaign=CAMPAIGN, excluded_at=None)
        .order_by()
        .values("campaign")
        .annotate(n=Count("pk"))
        .values_list("n")
    )
)


def _try(annotator: Annotator, *, screens: int, items: int) -> bool:
    warm(annotator)
    for _ in range(TRIES):
        try:
            with write_lock(), transaction.atomic():
                return claim(annotator, screens=screens, items=items)
        except IntegrityError:
            continue
    return False


def claim(annotator: Annotator, *, screens: int = 1, items: int = 1) -> bool:
    """Claim until `screens` or `items` are open, inside the caller's transaction.

    Returns True if another call may claim more. Raises IntegrityError if another window of the
    annotator has claimed the same position. `annotator` must have its campaign loaded.
    """
    campaign = annotator.campaign
    if not has_pool(campaign) or annotator.excluded_at is not None:
        return False
    if campaign.status != Campaign.Status.OPEN:
        return False
    found = candidates.look(annotator)
    if found is None or found.n_open >= screens or found.n_open_items >= items:
        return False
    if found.state.last_position is None and _give_tutorial(annotator):
        return True
    has_room = _room(campaign, found.state, items) > 0
    if has_room and found.returned is not None and releases.take_again(found.returned):
        return True
    return _claim(annotator, found, screens - found.n_open, items - found.n_open_items)


def _room(campaign: Campaign, state: State, items: int) -> int:
    """Return how many items may be claimed under the limit of items per annotator."""
    limit = campaign.items_per_annotator
    return min(items, limit - state.n_items) if limit else items


def _claim(annotator: Annotator, found: Look, screens: int, items: int) -> bool:
    """Claim screens, with control items where due; return True if another call may claim more."""
    state = found.state
    while screens > 0 and (room := _room(annotator.campaign, state, items)) > 0:
        control = mixing.next_control(annotator, state)
        room = min(room, screens)
        given = [_as_they_are(control)] if control else _targets(annotator, found, state, room)
        if not given:
            return state is not found.state
        every = {key: fields for screen in given for key, fields in screen.items()}
        _assign(annotator, every, state.next_position)
        state = state.after(screens=len(given), items=len(every), is_control=control is not None)
        screens, items = screens - len(given), items - len(every)
    return False


def _targets(annotator: Annotator, found: Look, state: State, most: int) -> list[Given]:
    """Claim screens up to the next control item; return the items of each."""
    campaign, left, is_first = annotator.campaign, found.candidates, state is found.state
    if is_first and not left and not found.is_all:
        left = candidates.search(annotator)
    most = mixing.before_control(annotator, state, most)
    for _ in range(TRIES):
        drawn = _draw(campaign, left, most)
        taken = _take([one.pk for one in drawn], waits=is_first)
        if taken or not drawn:
            return [_shown(campaign, one) for one in drawn if one.pk in taken]
        most = 1
    return []


def _draw(campaign: Campaign, left: list[Candidate], most: int) -> list[Candidate]:
    """Remove from `left` the screens to claim together: several of one item, or one of several."""
    drawn: list[Candidate] = []
    while left and len(drawn) < most:
        chosen = _choose(campaign, left)
        drawn.append(chosen)
        left[:] = candidates.without(campaign, left, chosen)
        if chosen.screen is not None:
            break
    return drawn


def _take(heads: list[int], *, waits: bool) -> set[int]:
    """Deduct a wanted rating from screens that still have one; return those screens.

    A screen that another transaction is claiming is skipped, so that two transactions cannot wait
    for each other. With `waits`, a single screen is waited for instead.
    """
    wanted = Item.objects.filter(pk__in=heads, wanted__gt=0)
    if len(heads) > 1 or not waits:
        free = wanted.select_for_update(skip_locked=True)
        heads = list(free.order_by("pk").values_list("pk", flat=True))
        wanted = Item.objects.filter(pk__in=heads)
    return set(heads) if heads and wanted.update(wanted=F("wanted") - 1) else set()


def _choose(campaign: Campaign, left: Sequence[Candidate]) -> Candidate:
    """Choose a screen: at random from those that lack most ratings, or by active assignment."""
    if campaign.assignment_mode == Campaign.Mode.ACTIVE:
        return adaptive.choose(campaign, left)
    most = max(one.wanted for one in left)
    return random.choice([one for one in left if one.wanted == most])


def _shown(campaign: Campaign, chosen: Candidate) -> Given:
    if chosen.screen is None:
        return _as_they_are([chosen.pk])
    if campaign.assignment_mode == Campaign.Mode.DYNAMIC:
        return adaptive.draw_systems(campaign, chosen.screen)
    items = Item.objects.filter(campaign=campaign.pk, screen=chosen.screen).order_by("place")
    return _as_they_are(items.values_list("pk", flat=True))


def _as_they_are(items: Iterable[int]) -> Given:
    return {key: {} for key in items}


def _give_tutorial(annotator: Annotator) -> bool:
    """Assign all practice items, in the order in which they were made; return whether any exist."""
    items = annotator.campaign.items.filter(kind=Item.Kind.TUTORIAL).order_by("pk")
    keys = list(items.values_list("pk", flat=True))
    _assign(annotator, _as_they_are(keys), 0)
    return bool(keys)


def _assign(annotator: Annotator, items: Given, position: int) -> None:
    now = timezone.now()
    Assignment.objects.bulk_create(
        Assignment(annotator=annotator, item_id=item, position=place, claimed_at=now, **fields)
        for place, (item, fields) in enumerate(items.items(), position)
    )
