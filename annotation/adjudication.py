"""Items on which annotators differ: find them, decide them, make gold items from the decisions."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Exists, F, Max, Min, OuterRef, QuerySet

from annotation.access import run_campaigns
from annotation.judging.answers import Answer, check, rated_text
from annotation.judging.judgments import ConflictError, edits_of
from annotation.models import (
    Adjudication,
    Annotator,
    Assignment,
    AuditEntry,
    Campaign,
    Disagreement,
    ErrorSpan,
    Item,
    Judgment,
    Output,
)
from annotation.models.judgment import VALUE
from annotation.prefill.suggestions import key_of
from annotation.protocols import Layout
from annotation.protocols.base import Scale
from core.text import batched
from metaeval.messages import Message, message

BATCH = 2_000
Place = tuple[str, int]
NO_LIMIT = message(
    "adjudication.no-limit",
    "Enter at least one limit: a difference in points, an overlap, or both.",
)
SMALL_GAP = message("adjudication.small-gap", "The difference in points must be 1 or more.")
WRONG_OVERLAP = message(
    "adjudication.wrong-overlap", "The overlap must be greater than 0 and at most 1."
)


@dataclass(frozen=True)
class Found:
    """How many items were added to the queue, and how many undecided ones were removed."""

    n_new: int
    n_gone: int


@transaction.atomic
def find(*, campaign: Campaign, gap: int | None, overlap: float | None) -> Found:
    """Store the campaign's limits, and the outputs that exceed them; decided ones stay.

    `gap` is in points of the scale or of the penalty, `overlap` is an F1 from 0 to 1. Raises
    ValidationError for impossible limits, and without any limit.
    """
    _check(gap, overlap)
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    campaign.review_gap, campaign.review_overlap = gap, overlap
    campaign.save(update_fields=["review_gap", "review_overlap"])
    now = {row.item_id: row for row in _differing(campaign)}
    known = disagreements(campaign)
    there = dict(known.values_list("item_id", "is_decided"))
    gone = [item for item, is_decided in there.items() if not is_decided and item not in now]
    n_gone = sum(known.filter(item__in=batch).delete()[0] for batch in batched(gone, BATCH))
    new = [row for item, row in sorted(now.items()) if item not in there]
    # Keys appear in addresses; items are in the order of systems, which reviewers must not know.
    campaign.hidden_rng("queue", len(there)).shuffle(new)
    Disagreement.objects.bulk_create(new, batch_size=BATCH, ignore_conflicts=True)
    return Found(len(new), n_gone)


def _check(gap: int | None, overlap: float | None) -> None:
    if gap is None and overlap is None:
        raise ValidationError([NO_LIMIT])
    if gap is not None and gap < 1:
        raise ValidationError([SMALL_GAP])
    if overlap is not None and not 0 < overlap <= 1:
        raise ValidationError([WRONG_OVERLAP])


def _of(campaign: Campaign) -> Exists:
    """Select the rows of a campaign's items, beginning with the few rows and not with all items."""
    return Exists(Item.objects.filter(pk=OuterRef("item"), campaign=campaign))


def disagreements(campaign: Campaign) -> QuerySet[Any]:
    """Return the queue of a campaign, greatest differences first, each with `is_decided`."""
    decided = Adjudication.objects.filter(item=OuterRef("item"), is_current=True)
    rows = Disagreement.objects.filter(_of(campaign))
    return rows.annotate(is_decided=Exists(decided)).order_by("-gap", "pk")


def _differing(campaign: Campaign) -> Iterator[Disagreement]:
    rows = answers(campaign).values(item=F("assignment__item"))
    counted = rows.annotate(n=Count("pk"), gap=Max(VALUE) - Min(VALUE)).filter(n__gt=1).order_by()
    overlaps = _overlaps(campaign)
    for row in counted.iterator(BATCH):
        overlap = overlaps.get(row["item"])
        is_far = campaign.review_gap is not None and row["gap"] >= campaign.review_gap
        is_apart = overlap is not None and overlap < (campaign.review_overlap or 0)
        if is_far or is_apart:
            yield Disagreement(
                item_id=row["item"], gap=row["gap"], overlap=overlap, n_answers=row["n"]
            )


def answers(campaign: Campaign) -> QuerySet[Judgment]:
    """Return the current judgments of outputs by annotators who are not excluded."""
    return Judgment.objects.filter(
        is_current=True,
        assignment__item__campaign=campaign,
        assignment__item__kind=Item.Kind.TARGET,
        assignment__annotator__excluded_at=None,
    )


def _overlaps(campaign: Campaign) -> Mapping[int, float]:
    """Return the least overlap of two judgments by item, for items with marked errors."""
    if campaign.judging.spans is None:
        return {}
    own = answers(campaign)
    marked: dict[int, set[Place]] = defaultdict(set)
    spans = ErrorSpan.objects.filter(judgment__in=own.values("pk"))
    for judgment, side, start, end in spans.values_list(
        "judgment", "side", "start", "end"
    ).iterator(BATCH):
        marked[judgment].update((side, place) for place in range(start, end))
    by_item: dict[int, list[int]] = defaultdict(list)
    for item, judgment in own.values_list("assignment__item", "pk").iterator(BATCH):
        by_item[item].append(judgment)
    return {
        item: least
        for item, judgments in by_item.items()
        if (least := least_overlap([marked.get(each, set()) for each in judgments])) is not None
    }


def least_overlap(marked: Sequence[Iterable[Place]]) -> float | None:
    """Return the least F1 of the marked characters of two judgments; None if all are empty.

    F1 of a and b is 2 |a ∩ b| / (|a| + |b|), as for error spans in the WMT shared tasks on quality
    estimation (Blain et al. 2023, section 2.2) but without severities; two empty ones agree.

    >>> least_overlap([{("target", 0), ("target", 1)}, {("target", 1)}])
    0.6666666666666666
    """
    sets = [set(each) for each in marked]
    if not any(sets) or len(sets) < 2:
        return None
    return min(
        2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0
        for one, other in combinations(sets, 2)
    )


MAX_TOLERANCE = 50


def decisions(campaign: Campaign) -> QuerySet[Adjudication]:
    """Return the current decisions of a campaign in the order of the segments."""
    rows = Adjudication.objects.filter(_of(campaign), is_current=True)
    related = ("item__segment", "item__output__system", "item__disagreement", "reviewer")
    return rows.select_related(*related).order_by("item__segment__position", "item")


def gold_targets(campaign: Campaign, user: Any) -> list[Campaign]:
    """Return the user's campaigns over the same test set that gold items can be added to."""
    rows = run_campaigns(user).filter(test_set=campaign.test_set_id, protocol=campaign.protocol)
    rows = rows.filter(status__in=(Campaign.Status.DRAFT, Campaign.Status.OPEN))
    return [each for each in rows.exclude(pk=campaign.pk).order_by("name") if not refusal(each)]


CLOSED = message("gold.closed", "Items cannot be added to a closed campaign.")
ASSIGNED = message(
    "gold.assigned",
    "The items of this campaign are already assigned. Gold items can be added to drafts and to "
    "campaigns with an open pool.",
)
CONSPICUOUS = message(
    "gold.conspicuous",
    "On screens of several outputs, a single gold item would be conspicuous.",
)
OTHER_CAMPAIGN = message(
    "gold.other-campaign",
    "Gold items can be added only to a campaign with the same test set and protocol.",
)
PRACTICE_IS_OVER = message(
    "gold.practice-is-over",
    "Annotators of this campaign have already started, so practice items cannot be added. Add gold "
    "items instead.",
)
OTHER_ITEM = message(
    "adjudication.other-item", "This form was sent for another item. Reload the page."
)


def refusal(target: Campaign) -> Message | None:
    """Return why items cannot be added to a campaign; None if they can.

    Open campaigns take items if these are drawn one by one, because assigned items do not change.
    """
    if target.status == Campaign.Status.DRAFT:
        return None
    if target.status != Campaign.Status.OPEN:
        return CLOSED
    if target.assignment_mode == Campaign.Mode.STATIC:
        return ASSIGNED
    return None if target.judging.layout == Layout.SINGLE else CONSPICUOUS


@transaction.atomic
def give(
    *, campaign: Campaign, target: Campaign, kind: str, tolerance: int, actor: User | None = None
) -> int:
    """Add items made from the decisions to a campaign that lacks them; return how many.

    Scores at most `tolerance` points away are right. If the protocol has errors without scores,
    items have no range, and practice shows the right errors. An open pool gets gold items only of
    outputs that it does not rate itself, so that no annotator sees an output twice. Raises
    ValidationError unless items can be added to the other campaign (`refusal`), and it has the same
    test set and protocol.
    """
    target = Campaign.objects.select_for_update().get(pk=target.pk)
    if (target.test_set_id, target.protocol) != (campaign.test_set_id, campaign.protocol):
        raise ValidationError([OTHER_CAMPAIGN])
    if reason := refusal(target):
        raise ValidationError([reason])
    is_open = target.status == Campaign.Status.OPEN
    if is_open and kind != Item.Kind.GOLD:
        raise ValidationError([PRACTICE_IS_OVER])
    if not 0 <= tolerance <= MAX_TOLERANCE:
        raise ValidationError(
            [
                message(
                    "gold.tolerance",
                    "The tolerance must be a number of points from 0 to {most}.",
                    most=MAX_TOLERANCE,
                )
            ]
        )
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


CHANGED = message(
    "adjudication.changed",
    "Another reviewer has decided this item. Submit again to replace that decision.",
)


@transaction.atomic
def decide(*, campaign: Campaign, item: Item, reviewer: User, answer: Answer) -> Adjudication:
    """Store a decision on an item; the same submit key returns the stored one.

    Raises ValidationError for answers that the protocol does not allow, and ConflictError if the
    current decision is not the one that the reviewer saw.
    """
    item.suggestions = None
    check(answer, Assignment(annotator=Annotator(campaign=campaign), item=item))
    Item.objects.select_for_update().get(pk=item.pk)
    earlier = Adjudication.objects.filter(submit_key=answer.submit_key).first()
    if earlier is not None:
        if earlier.item_id != item.pk:
            raise ValidationError([OTHER_ITEM])
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
