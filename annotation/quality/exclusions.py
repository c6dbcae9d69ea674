"""Exclude an annotator from the analysis, include them again, and reassign their items.

Judgments are not changed: those of excluded annotators count in no analysis, and count again once
the annotator is included. Every decision is stored as an audit entry.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Max, Q
from django.utils import timezone

from annotation.campaigns import require_status
from annotation.models import Annotator, Assignment, AuditEntry, Campaign, Item
from annotation.pool import releases
from core.text import batched
from metaeval.messages import Message, message

BATCH = 2_000
EXCLUDE, INCLUDE, REASSIGN = "exclude", "include", "reassign"
NO_REASON = message("exclusion.no-reason", "Give a reason for this decision.")


@dataclass(frozen=True)
class Reassigned:
    """How many screens were reassigned or returned to the pool, and how many nobody can take."""

    given: int
    left: int


@transaction.atomic
def exclude_annotator(*, annotator: Annotator, actor: User | None, reason: str) -> Annotator:
    """Exclude an annotator's judgments from every analysis, and end the annotator's work.

    Items that they claimed from a pool return to it. An answer that they began before is stored.
    Raises ValidationError without a reason, or if the annotator is excluded already.
    """
    annotator = _locked(annotator)
    if annotator.excluded_at is not None:
        raise ValidationError(
            [
                message(
                    "exclusion.is-excluded",
                    "{annotator} is already excluded.",
                    annotator=annotator.label,
                )
            ]
        )
    annotator.excluded_at = timezone.now()
    annotator.save(update_fields=["excluded_at"])
    if annotator.campaign.assignment_mode != Campaign.Mode.STATIC:
        releases.release_all(annotator)
    _note(EXCLUDE, annotator, actor, _stripped(reason))
    return annotator


@transaction.atomic
def include_annotator(*, annotator: Annotator, actor: User | None, reason: str) -> Annotator:
    """Include an annotator's judgments in analyses again.

    Items that were reassigned stay with the others; in an open pool fewer ratings are wanted.
    Raises ValidationError without a reason, or if the annotator is not excluded.
    """
    annotator = _locked(annotator)
    if annotator.excluded_at is None:
        raise ValidationError([_not_excluded(annotator)])
    annotator.excluded_at = None
    annotator.save(update_fields=["excluded_at"])
    if annotator.campaign.assignment_mode != Campaign.Mode.STATIC:
        _want_again(annotator)
    _note(INCLUDE, annotator, actor, _stripped(reason))
    return annotator


@transaction.atomic
def reassign_items(*, annotator: Annotator, actor: User | None, reason: str = "") -> Reassigned:
    """Reassign the outputs of an excluded annotator, so that each gets all its ratings.

    With fixed assignment every screen goes to the annotator with the fewest items who has none of
    the screen, after their other items; in an open pool it becomes available again. Only missing
    ratings are assigned, so a second call changes nothing. Open items of the excluded annotator
    are released.

    Raises ValidationError unless the annotator is excluded and the campaign is open.
    """
    annotator = _locked(annotator)
    campaign = annotator.campaign
    require_status(campaign, Campaign.Status.OPEN)
    if annotator.excluded_at is None:
        raise ValidationError([_not_excluded(annotator)])
    annotator.assignments.filter(completed_at=None, released_at=None).update(
        released_at=timezone.now()
    )
    if campaign.assignment_mode == Campaign.Mode.STATIC:
        result = _give(campaign, annotator)
    else:
        result = Reassigned(_want_again(annotator), 0)
    details = {"given": result.given, "left": result.left}
    _note(REASSIGN, annotator, actor, reason.strip(), details)
    return result


def _held(prefix: str = "") -> Q:
    """Select assignments that are answered or not released."""
    return Q(**{f"{prefix}released_at": None}) | Q(**{f"{prefix}completed_at__isnull": False})


def _locked(annotator: Annotator) -> Annotator:
    """Return the annotator as stored; locks the campaign, so that decisions do not overlap."""
    campaign = Campaign.objects.select_for_update().get(pk=annotator.campaign_id)
    fresh = Annotator.objects.select_related("user").get(pk=annotator.pk)
    fresh.campaign = campaign
    return fresh


def _stripped(reason: str) -> str:
    if not reason.strip():
        raise ValidationError([NO_REASON])
    return reason.strip()


def _not_excluded(annotator: Annotator) -> Message:
    return message(
        "exclusion.not-excluded", "{annotator} is not excluded.", annotator=annotator.label
    )


def _note(
    action: str,
    annotator: Annotator,
    actor: User | None,
    reason: str,
    details: dict[str, int] | None = None,
) -> None:
    AuditEntry.objects.create(
        campaign=annotator.campaign,
        actor=actor,
        action=action,
        annotator=annotator,
        reason=reason,
        details=details or {},
    )


def _screens(annotator: Annotator) -> Iterator[list[int]]:
    """Yield the targets assigned to an annotator, screen by screen, without control items."""
    rows = (
        annotator.assignments.filter(
            item__kind__in=(Item.Kind.TARGET, Item.Kind.DOCUMENT), item__partner=None
        )
        .order_by("position")
        .values_list("item_id", "item__screen")
    )
    items: list[int] = []
    before: int | None = None
    for item, screen in rows.iterator(chunk_size=BATCH):
        if items and (screen is None or screen != before):
            yield items
            items = []
        items.append(item)
        before = screen
    if items:
        yield items


def _holders(screens: Sequence[Sequence[int]]) -> Mapping[int, int]:
    """Count the included annotators who hold or have rated the first item of each screen."""
    counted = (
        Assignment.objects.filter(
            _held(), annotator__excluded_at=None, item__in=[items[0] for items in screens]
        )
        .values_list("item_id")
        .annotate(n=Count("annotator", distinct=True))
    )
    return dict(counted)


def _missing(campaign: Campaign, screens: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Yield the position of each screen in `screens`, and how many ratings are missing."""
    held = _holders(screens)
    for index, items in enumerate(screens):
        yield index, max(0, campaign.annotators_per_item - held.get(items[0], 0))


def _want_again(annotator: Annotator) -> int:
    """Set how many ratings an annotator's screens still need; return how many need any."""
    campaign = annotator.campaign
    screens: Iterable[list[int]] = _screens(annotator)
    if campaign.assignment_mode == Campaign.Mode.DYNAMIC:
        return _want_drawn(campaign, {item for items in screens for item in items})
    return sum(_want(campaign, batch) for batch in batched(screens, BATCH))


def _want_drawn(campaign: Campaign, items: set[int]) -> int:
    """Do the same by screen numbers, because items of a screen are drawn when it is shown."""
    numbers = campaign.items.filter(pk__in=items).values("screen")
    held = Assignment.objects.filter(
        _held(), annotator__excluded_at=None, item__campaign=campaign, item__screen__in=numbers
    )
    people = (
        held.order_by().values_list("item__screen").annotate(n=Count("annotator", distinct=True))
    )
    known = dict(people)
    heads = list(campaign.items.select_for_update().filter(screen__in=numbers, place=0))
    for head in heads:
        head.wanted = max(0, campaign.annotators_per_item - known.get(head.screen, 0))
    Item.objects.bulk_update(heads, ["wanted"], batch_size=500)
    return sum(head.wanted > 0 for head in heads)


def _want(campaign: Campaign, screens: Sequence[Sequence[int]]) -> int:
    """Set how many ratings the screens still need from the pool; return how many need any."""
    keys = [items[0] for items in screens]
    locked = Item.objects.select_for_update().filter(pk__in=keys).only("pk", "wanted")
    by_key = {item.pk: item for item in locked}
    for index, missing in _missing(campaign, screens):
        by_key[keys[index]].wanted = missing
    Item.objects.bulk_update(by_key.values(), ["wanted"], batch_size=500)
    return sum(item.wanted > 0 for item in by_key.values())


def _give(campaign: Campaign, excluded: Annotator) -> Reassigned:
    people = campaign.annotators.filter(excluded_at=None)
    loads = list(
        people.annotate(
            n=Count("assignments", filter=_held("assignments__")), last=Max("assignments__position")
        ).values_list("n", "pk", "last")
    )
    heap = sorted((n, pk) for n, pk, _ in loads)
    place = {pk: -1 if last is None else last for _, pk, last in loads}
    given = left = 0
    for screens in batched(_screens(excluded), BATCH):
        new: list[Assignment] = []
        known = _known(screens)
        for index, missing in _missing(campaign, screens):
            takers = _takers(heap, known[screens[index][0]], missing, len(screens[index]))
            given += len(takers)
            left += missing - len(takers)
            for taker in takers:
                for item in screens[index]:
                    place[taker] += 1
                    new.append(Assignment(annotator_id=taker, item_id=item, position=place[taker]))
        Assignment.objects.bulk_create(new, batch_size=BATCH)
    return Reassigned(given, left)


def _known(screens: Sequence[Sequence[int]]) -> Mapping[int, set[int]]:
    """Return all annotators who ever had an item of a screen, by its first item."""
    first = {item: items[0] for items in screens for item in items}
    known: dict[int, set[int]] = defaultdict(set)
    for keys in batched(first, BATCH):
        rows = Assignment.objects.filter(item__in=keys).values_list("item_id", "annotator_id")
        for item, annotator in rows.iterator(chunk_size=BATCH):
            known[first[item]].add(annotator)
    return known


def _takers(heap: list[tuple[int, int]], known: set[int], count: int, size: int) -> list[int]:
    """Return up to `count` annotators with the fewest items who have not seen the screen."""
    passed: list[tuple[int, int]] = []
    takers: list[int] = []
    while heap and len(takers) < count:
        load, person = heappop(heap)
        if person in known:
            passed.append((load, person))
        else:
            takers.append(person)
            passed.append((load + size, person))
    for entry in passed:
        heappush(heap, entry)
    return takers
