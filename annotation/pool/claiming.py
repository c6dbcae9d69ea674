"""Stage 3, open pool: an annotator who has nothing open is given the screen that needs it most.

A screen is claimed by a conditional UPDATE of `Item.wanted` on its first item; whoever's UPDATE
changes a row has the screen. Everything that decides is read by one query before that, from
short stretches of the index on (campaign, wanted, shuffle): one at a random place among the
screens with the most missing ratings, so that annotators at work at once rarely want the same
row, and one from the beginning, so that none is overlooked. `docs/assignment.md` states the rules.
"""

import random
from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from annotation.models import Annotator, Assignment, Campaign, Item
from annotation.pool import active, candidates, mixing, releases
from annotation.pool.candidates import Candidate, Look
from annotation.turns import turn

TRIES = 5
# Of the screens that are left, everybody gets at most one in so many ahead.
SHARES = 3


def has_pool(campaign: Campaign) -> bool:
    """Whether annotators draw their items instead of having fixed shares."""
    return campaign.assignment_mode != Campaign.Mode.STATIC


def give_next(*, annotator: Annotator) -> None:
    """Claim the next screen for an annotator, unless they have something open or nothing is left.

    Claims that went stale are put back first. Two windows of one person that ask at once want
    the same position; the one that comes second finds the screen of the first.
    """
    campaign = annotator.campaign
    if not has_pool(campaign):
        return
    releases.release_stale(campaign)
    _try(annotator, 1)


def give_ahead(*, annotator: Annotator, most: int) -> None:
    """Claim screens until `most` are open, or as many as leave enough for everybody else.

    Guided self-scheduling: the less there is left, the fewer are claimed ahead, at last one.
    """
    campaign = annotator.campaign
    if not has_pool(campaign):
        return
    people = max(1, campaign.annotators.filter(excluded_at=None).count())
    left = Item.objects.filter(campaign=campaign, wanted__gt=0)[: most * people * SHARES].count()
    for number in range(min(most, left // (people * SHARES))):
        if not _try(annotator, number + 1):
            return


def _try(annotator: Annotator, most: int) -> bool:
    for _ in range(TRIES):
        try:
            with turn(), transaction.atomic():
                return claim(annotator, most=most)
        except IntegrityError:
            continue
    return False


def claim(annotator: Annotator, *, most: int = 1) -> bool:
    """Claim a screen unless `most` are open, inside the caller's transaction; False if none is
    left. Raises IntegrityError for a second window.

    `annotator` comes with its campaign loaded.
    """
    campaign = annotator.campaign
    if not has_pool(campaign) or annotator.excluded_at is not None:
        return False
    if campaign.status != Campaign.Status.OPEN:
        return False
    found = candidates.look(annotator)
    if found is None:
        return False
    if found.n_open >= most or (found.has_open and most == 1):
        return True
    return _claim(annotator, found)


def _claim(annotator: Annotator, found: Look) -> bool:
    campaign, state = annotator.campaign, found.state
    if state.last_position is None and _give_tutorial(annotator):
        return True
    if campaign.items_per_annotator and state.n_items >= campaign.items_per_annotator:
        return False
    if found.returned is not None and releases.take_again(found.returned):
        return True
    control = mixing.next_control(annotator, state)
    if control is not None:
        _assign(annotator, control, state.next_position)
        return True
    return _claim_target(annotator, found, state.next_position)


def _claim_target(annotator: Annotator, found: Look, position: int) -> bool:
    left = found.candidates
    if not left and not found.is_all:
        left = candidates.search(annotator)
    for _ in range(TRIES):
        if not left:
            return False
        chosen = _choose(annotator.campaign, left)
        # Somebody else may have taken the last rating since we looked.
        if Item.objects.filter(pk=chosen.pk, wanted__gt=0).update(wanted=F("wanted") - 1):
            _assign(annotator, _screen_items(annotator.campaign_id, chosen), position)
            return True
        left.remove(chosen)
    return False


def _choose(campaign: Campaign, left: Sequence[Candidate]) -> Candidate:
    """One of those with the most missing ratings, at random; or as the systems need it."""
    if campaign.assignment_mode == Campaign.Mode.ACTIVE:
        return active.choose(campaign, left)
    most = max(one.wanted for one in left)
    return random.choice([one for one in left if one.wanted == most])


def _screen_items(campaign_id: int, chosen: Candidate) -> list[int]:
    if chosen.screen is None:
        return [chosen.pk]
    items = Item.objects.filter(campaign=campaign_id, screen=chosen.screen).order_by("place")
    return list(items.values_list("pk", flat=True))


def _give_tutorial(annotator: Annotator) -> bool:
    """Everybody begins with all tutorial items, in the order in which they were made."""
    items = annotator.campaign.items.filter(kind=Item.Kind.TUTORIAL).order_by("pk")
    keys = list(items.values_list("pk", flat=True))
    _assign(annotator, keys, 0)
    return bool(keys)


def _assign(annotator: Annotator, items: Sequence[int], position: int) -> None:
    now = timezone.now()
    Assignment.objects.bulk_create(
        Assignment(annotator=annotator, item_id=item, position=place, claimed_at=now)
        for place, item in enumerate(items, position)
    )
