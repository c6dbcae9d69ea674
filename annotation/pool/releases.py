"""Stage 3, open pool: release claims that stay unanswered, and keep answers that come late."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.models import Annotator, Assignment, Campaign, Item

# How many assignments one request releases at most.
AT_ONCE = 20
TARGETS = Q(item__kind__in=(Item.Kind.TARGET, Item.Kind.DOCUMENT), item__partner=None)


def release_stale(campaign: Campaign, *, at_most: int = AT_ONCE) -> int:
    """Release screens that were claimed longer than `claim_minutes` ago; return how many.

    Control and practice items stay with their annotator, because no one else needs them.
    """
    if campaign.assignment_mode == Campaign.Mode.STATIC:
        return 0
    cutoff = timezone.now() - timedelta(minutes=campaign.claim_minutes)
    rows = (
        _waiting()
        .filter(TARGETS, annotator__campaign=campaign, claimed_at__lt=cutoff)
        .order_by("claimed_at", "pk")
        .values_list("annotator_id", "item_id", "item__screen")
    )
    screens = {
        (annotator, screen if screen is not None else -item): (annotator, item, screen)
        for annotator, item, screen in rows[:at_most]
    }
    return sum(_release(*where, cutoff=cutoff) for where in screens.values())


def release_all(annotator: Annotator) -> int:
    """Release all unanswered screens of an annotator at once; return how many."""
    rows = _waiting().filter(TARGETS, annotator=annotator).values_list("item_id", "item__screen")
    screens = {screen if screen is not None else -item: (item, screen) for item, screen in rows}
    now = timezone.now()
    return sum(_release(annotator.pk, *where, cutoff=now) for where in screens.values())


def _waiting() -> QuerySet[Assignment]:
    return Assignment.objects.filter(completed_at=None, released_at=None)


def _of_screen(annotator_id: int, item_id: int, screen: int | None) -> QuerySet[Assignment]:
    own = Assignment.objects.filter(annotator=annotator_id)
    return own.filter(item=item_id) if screen is None else own.filter(item__screen=screen)


@transaction.atomic
def _release(annotator_id: int, item_id: int, screen: int | None, *, cutoff: datetime) -> bool:
    """Release one screen, unless one of its items was answered after the cutoff."""
    rows = _of_screen(annotator_id, item_id, screen)
    if rows.filter(completed_at__gte=cutoff).exists():
        return False
    keys = list(rows.values_list("pk", flat=True))
    # Checks the rows themselves, so that a concurrent answer is seen after waiting for its lock.
    found = _waiting().filter(pk__in=keys).update(released_at=timezone.now())
    if not found:
        return False
    _head(item_id).update(wanted=F("wanted") + 1)
    return True


def _head(item_id: int) -> QuerySet[Item]:
    """Return the first item of a screen, which has `wanted` for the whole screen."""
    item = Item.objects.filter(pk=item_id)
    first = _first_of_screen().values("pk")
    head = item.annotate(head=Coalesce(Subquery(first), F("pk"))).values_list("head", flat=True)
    return Item.objects.filter(pk__in=list(head))


def _first_of_screen(prefix: str = "") -> QuerySet[Item]:
    """Return a subquery of the first item of the outer row's screen; its item is at `prefix`."""
    screen = {name: OuterRef(f"{prefix}{name}") for name in ("campaign", "screen")}
    return Item.objects.filter(**screen, place=0).order_by()[:1]


def returned(annotator: Annotator) -> QuerySet[Assignment]:
    """Return released, unanswered assignments of an annotator whose screens still want ratings."""
    first = _first_of_screen("item__").values("wanted")
    return (
        Assignment.objects.filter(annotator=annotator.pk, completed_at=None)
        .exclude(released_at=None)
        .annotate(missing=Coalesce(Subquery(first), F("item__wanted")))
        .filter(missing__gt=0)
        .order_by("position")
    )


def take_again(assignment_id: int) -> bool:
    """Claim a released screen again for its annotator; return False if no rating is wanted now."""
    row = Assignment.objects.select_related("item").get(pk=assignment_id)
    if not _head(row.item_id).filter(wanted__gt=0).update(wanted=F("wanted") - 1):
        return False
    rows = _of_screen(row.annotator_id, row.item_id, row.item.screen)
    rows.filter(completed_at=None).update(released_at=None, claimed_at=timezone.now())
    return True


def keep_late(assignment: Assignment) -> None:
    """Claim the released screen of an answer that came late, and deduct a wanted rating.

    The answer of an excluded annotator is kept, but its screen still wants another rating.
    """
    rows = _of_screen(assignment.annotator_id, assignment.item_id, assignment.item.screen)
    is_back = rows.exclude(released_at=None).filter(completed_at=None).update(released_at=None)
    if is_back and assignment.annotator.excluded_at is None:
        _head(assignment.item_id).filter(wanted__gt=0).update(wanted=F("wanted") - 1)


def campaigns_with_claims() -> Iterable[Campaign]:
    """Return the open campaigns in which items are claimed."""
    return Campaign.objects.filter(status=Campaign.Status.OPEN).exclude(
        assignment_mode=Campaign.Mode.STATIC
    )
