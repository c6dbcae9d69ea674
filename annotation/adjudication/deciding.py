"""Storing what a reviewer decides: decisions are only added, and none is overwritten unseen."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.judging.answers import Answer, check
from annotation.judging.edits import edits_of
from annotation.judging.judgments import ConflictError
from annotation.models import Adjudication, Annotator, Assignment, Campaign, Item
from annotation.prefill.suggestions import key_of

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
