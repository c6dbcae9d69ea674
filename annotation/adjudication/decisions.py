"""Gold from decisions: practice and control items of another draft."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet

from annotation.access import run_campaigns
from annotation.campaigns import require_status
from annotation.judging.answers import rated_text
from annotation.models import Adjudication, Campaign, Item
from annotation.protocols.asked import Scale

MAX_TOLERANCE = 50


def decisions(campaign: Campaign) -> QuerySet[Adjudication]:
    """Return the current decisions of a campaign in the order of the segments."""
    rows = Adjudication.objects.filter(item__campaign=campaign, is_current=True)
    related = ("item__segment", "item__output__system", "item__disagreement", "reviewer")
    return rows.select_related(*related).order_by("item__segment__position", "item")


def taking(campaign: Campaign, user: Any) -> list[Campaign]:
    """Return the drafts that can take gold of a campaign: of its test set, run by the user."""
    drafts = run_campaigns(user).filter(
        status=Campaign.Status.DRAFT, test_set=campaign.test_set_id, protocol=campaign.protocol
    )
    return list(drafts.order_by("name"))


@transaction.atomic
def give(*, campaign: Campaign, target: Campaign, kind: str, tolerance: int) -> int:
    """Make items of a draft from the decisions, what it has already left out; return how many.

    Right scores are those at most `tolerance` points away. Where answers are errors alone, items
    have no range, and practice shows the right errors. Raises ValidationError unless the other
    campaign is a draft over the same test set, judged in the same way.
    """
    target = Campaign.objects.select_for_update().get(pk=target.pk)
    require_status(target, Campaign.Status.DRAFT, "given gold or practice items")
    if (target.test_set_id, target.protocol) != (campaign.test_set_id, campaign.protocol):
        raise ValidationError("Gold goes to a draft over the same test set and protocol.")
    if not 0 <= tolerance <= MAX_TOLERANCE:
        raise ValidationError(f"The range goes at most {MAX_TOLERANCE} points up and down.")
    there = set(
        target.items.filter(kind=kind, batch="").values_list("segment_id", "text").iterator()
    )
    made = [
        _item(each, target, kind, tolerance)
        for each in decisions(campaign)
        if (each.item.segment_id, rated_text(each.item)) not in there
    ]
    return len(Item.objects.bulk_create(made, batch_size=2_000))


def _item(each: Adjudication, target: Campaign, kind: str, tolerance: int) -> Item:
    score, scale = each.score, next(iter(target.judging.scales), Scale())
    return Item(
        campaign=target,
        kind=kind,
        segment=each.item.segment,
        text=rated_text(each.item),
        low=None if score is None else max(scale.low, score - tolerance),
        high=None if score is None else min(scale.high, score + tolerance),
        feedback=each.comment,
        gold=each.spans or None,
    )
