"""Taking an annotator out of the analysis and back in, and giving their items to others.

Judgments stay as they are: an excluded annotator's count in no analysis, and count again once the
annotator is included. Every decision is an audit entry.
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
from core.batches import batched

BATCH = 2_000
EXCLUDE, INCLUDE, REASSIGN = "exclude", "include", "reassign"


@dataclass(frozen=True)
class Reassigned:
    """How many screens went to others, or back to the pool, and for how many nobody was left."""

    given: int
    left: int


@transaction.atomic
def exclude_annotator(*, annotator: Annotator, actor: User | None, reason: str) -> Annotator:
    """Take an annotator's judgments out of every analysis, and end the annotator's work.

    What they hold of a pool is wanted again at once. An answer that they began before is stored.
    Raises ValidationError without a reason, or if the annotator is excluded already.
    """
    annotator = _locked(annotator)
    if annotator.excluded_at is not None:
        raise ValidationError(f"{annotator.label} is excluded already.")
    annotator.excluded_at = timezone.now()
    annotator.save(update_fields=["excluded_at"])
    if annotator.campaign.assignment_mode != Campaign.Mode.STATIC:
        releases.release_all(annotator)
    _note(EXCLUDE, annotator, actor, _reason(reason, "excluding"))
    return annotator


@transaction.atomic
def include_annotator(*, annotator: Annotator, actor: User | None, reason: str) -> Annotator:
    """Let an annotator’s judgments count again.

    Items that were given to others stay with the others; in an open pool they are wanted less.
    Raises ValidationError without a reason, or if the annotator is not excluded.
    """
    annotator = _locked(annotator)
    if annotator.excluded_at is None:
        raise ValidationError(f"{annotator.label} is not excluded.")
    annotator.excluded_at = None
    annotator.save(update_fields=["excluded_at"])
    if annotator.campaign.assignment_mode != Campaign.Mode.STATIC:
        _want_again(annotator)
    _note(INCLUDE, annotator, actor, _reason(reason, "including"))
    return annotator


@transaction.atomic
def reassign_items(*, annotator: Annotator, actor: User | None, reason: str = "") -> Reassigned:
    """Give the outputs of an excluded annotator to others, so that each gets its ratings.

    With fixed shares every screen goes to whoever has the fewest items and has nothing of it
    yet, behind their other items; in an open pool it is wanted again. What is missing is counted,
    so that doing it twice changes nothing. Open items of the excluded annotator are released.

    Raises ValidationError unless the annotator is excluded and the campaign is open.
    """
    annotator = _locked(annotator)
    campaign = annotator.campaign
    require_status(campaign, Campaign.Status.OPEN, "given other annotators")
    if annotator.excluded_at is None:
        raise ValidationError(f"{annotator.label} is not excluded, so the items stay.")
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
    """What still is somebody's: answered, or not given back."""
    return Q(**{f"{prefix}released_at": None}) | Q(**{f"{prefix}completed_at__isnull": False})


def _locked(annotator: Annotator) -> Annotator:
    """The annotator as stored now; the lock on the campaign keeps two decisions apart."""
    campaign = Campaign.objects.select_for_update().get(pk=annotator.campaign_id)
    fresh = Annotator.objects.select_related("user").get(pk=annotator.pk)
    fresh.campaign = campaign
    return fresh


def _reason(reason: str, what: str) -> str:
    if not reason.strip():
        raise ValidationError(f"Give a reason for {what} this annotator.")
    return reason.strip()


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
    """The targets that an annotator was given, screen by screen; controls stay with them."""
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
    """Count the annotators in the analysis who have, or had and rated, the first item."""
    counted = (
        Assignment.objects.filter(
            _held(), annotator__excluded_at=None, item__in=[items[0] for items in screens]
        )
        .values_list("item_id")
        .annotate(n=Count("annotator", distinct=True))
    )
    return dict(counted)


def _missing(campaign: Campaign, screens: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Yield the place of each screen in `screens`, and how many ratings it lacks."""
    held = _holders(screens)
    for index, items in enumerate(screens):
        yield index, max(0, campaign.annotators_per_item - held.get(items[0], 0))


def _want_again(annotator: Annotator) -> int:
    """Set how many ratings an annotator's screens still want; returns how many want any."""
    campaign = annotator.campaign
    screens: Iterable[list[int]] = _screens(annotator)
    if campaign.assignment_mode == Campaign.Mode.DYNAMIC:
        return _want_drawn(campaign, {item for items in screens for item in items})
    return sum(_want(campaign, batch) for batch in batched(screens, BATCH))


def _want_drawn(campaign: Campaign, items: set[int]) -> int:
    """The same by the numbers of screens: which items of one somebody was shown is drawn."""
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
    """Set how many ratings the pool still owes the screens; returns how many want any."""
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
    """Everybody who ever had an item of a screen, by its first item."""
    first = {item: items[0] for items in screens for item in items}
    known: dict[int, set[int]] = defaultdict(set)
    for keys in batched(first, BATCH):
        rows = Assignment.objects.filter(item__in=keys).values_list("item_id", "annotator_id")
        for item, annotator in rows.iterator(chunk_size=BATCH):
            known[first[item]].add(annotator)
    return known


def _takers(heap: list[tuple[int, int]], known: set[int], count: int, size: int) -> list[int]:
    """Take up to `count` of the least loaded people who know nothing of the screen."""
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
