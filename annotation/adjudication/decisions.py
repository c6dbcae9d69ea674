"""Decisions of reviewers, which are only added, and gold from them for other campaigns."""

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation.access import run_campaigns
from annotation.judging.answers import Answer, check, rated_text
from annotation.judging.edits import edits_of
from annotation.judging.judgments import ConflictError
from annotation.models import (
    Adjudication,
    Annotator,
    Assignment,
    AuditEntry,
    Campaign,
    Item,
    Output,
)
from annotation.prefill.suggestions import key_of
from annotation.protocols import Layout
from annotation.protocols.asked import Scale

MAX_TOLERANCE = 50


def decisions(campaign: Campaign) -> QuerySet[Adjudication]:
    """Return the current decisions of a campaign in the order of the segments."""
    rows = Adjudication.objects.filter(item__campaign=campaign, is_current=True)
    related = ("item__segment", "item__output__system", "item__disagreement", "reviewer")
    return rows.select_related(*related).order_by("item__segment__position", "item")


def gold_targets(campaign: Campaign, user: Any) -> list[Campaign]:
    """Return the campaigns that can take gold of another one: of its test set, run by the user."""
    rows = run_campaigns(user).filter(test_set=campaign.test_set_id, protocol=campaign.protocol)
    rows = rows.filter(status__in=(Campaign.Status.DRAFT, Campaign.Status.OPEN))
    return [each for each in rows.exclude(pk=campaign.pk).order_by("name") if not refusal(each)]


def refusal(target: Campaign) -> str:
    """Say why a campaign takes no more items; nothing where it does.

    An open one takes them where items are drawn one by one: shares that are handed out stay.
    """
    if target.status == Campaign.Status.DRAFT:
        return ""
    if target.status != Campaign.Status.OPEN:
        return "A closed campaign takes no more items."
    if target.assignment_mode == Campaign.Mode.STATIC:
        return "Its shares are handed out: gold goes to drafts and to open pools."
    if target.judging.layout != Layout.SINGLE:
        return "On screens of several texts a gold item alone would tell what it is."
    return ""


@transaction.atomic
def give(
    *, campaign: Campaign, target: Campaign, kind: str, tolerance: int, actor: User | None = None
) -> int:
    """Make items of a campaign from the decisions, what it has already left out; return how many.

    Right scores are those at most `tolerance` points away. Where answers are errors alone, items
    have no range, and practice shows the right errors. An open pool takes gold of outputs that it
    does not rate itself, for nobody is to meet a text twice, and draws it for who comes next.
    Raises ValidationError unless the other campaign takes items (`refusal`), is over the same test
    set, and is judged in the same way.
    """
    target = Campaign.objects.select_for_update().get(pk=target.pk)
    if (target.test_set_id, target.protocol) != (campaign.test_set_id, campaign.protocol):
        raise ValidationError("Gold goes to a campaign over the same test set and protocol.")
    if reason := refusal(target):
        raise ValidationError(reason)
    is_open = target.status == Campaign.Status.OPEN
    if is_open and kind != Item.Kind.GOLD:
        raise ValidationError("Practice comes first, and people have begun: add gold.")
    if not 0 <= tolerance <= MAX_TOLERANCE:
        raise ValidationError(f"The range goes at most {MAX_TOLERANCE} points up and down.")
    there = set(
        target.items.filter(kind=kind, batch="").values_list("segment_id", "text").iterator()
    )
    if is_open:
        rated = target.items.filter(kind=Item.Kind.TARGET)
        there |= set(rated.values_list("segment_id", "output__text").iterator())
    made = [
        _item(each, target, kind, tolerance)
        for each in decisions(campaign)
        if (each.item.segment_id, rated_text(each.item)) not in there
    ]
    if is_open and made:
        details = {"items": len(made), "from": campaign.slug}
        AuditEntry.objects.create(
            campaign=target, actor=actor, action="gold added", details=details
        )
    return len(Item.objects.bulk_create(made, batch_size=2_000))


def met_twice(target: Campaign) -> int:
    """Return how many gold and practice items are outputs that the campaign rates as well."""
    systems = target.systems.values("pk")
    same = Output.objects.filter(
        system__in=systems, segment=OuterRef("segment"), text=OuterRef("text")
    )
    known = target.items.filter(kind__in=(Item.Kind.GOLD, Item.Kind.TUTORIAL))
    return known.filter(Exists(same)).count()


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


CHANGED = "Somebody has decided this item meanwhile. Submit again to replace that decision."


@transaction.atomic
def decide(*, campaign: Campaign, item: Item, reviewer: User, answer: Answer) -> Adjudication:
    """Store an answer as the decision on an item; the same key again returns what it stored.

    Raises ValidationError for an answer that the protocol does not allow, and ConflictError where
    the current decision is another than the one that the reviewer saw.
    """
    item.suggestions = None
    check(answer, Assignment(annotator=Annotator(campaign=campaign), item=item))
    Item.objects.select_for_update().get(pk=item.pk)
    earlier = Adjudication.objects.filter(submit_key=answer.submit_key).first()
    if earlier is not None:
        if earlier.item_id != item.pk:
            raise ValidationError("This form was sent for another item. Reload the page.")
        return earlier
    current = Adjudication.objects.filter(item=item, is_current=True).first()
    if answer.seen != (current.revision if current else 0):
        raise ConflictError(CHANGED)
    if current:
        Adjudication.objects.filter(pk=current.pk).update(is_current=False)
    protocol = campaign.judging
    return Adjudication.objects.create(
        item=item,
        reviewer=reviewer,
        revision=answer.seen + 1,
        score=answer.score,
        ratings=dict(answer.ratings),
        choices=dict(answer.choices),
        post_edit=answer.post_edit,
        spans=[list(key_of(span)) for span in answer.spans],
        comment=answer.comment,
        submit_key=answer.submit_key,
        **edits_of(
            protocol, item, score=answer.score, post_edit=answer.post_edit, spans=answer.spans
        ),
    )
