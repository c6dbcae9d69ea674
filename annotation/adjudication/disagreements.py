"""Find the items on which annotators differ by more than the campaign's limits."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Exists, F, Max, Min, OuterRef, QuerySet

from annotation.models import Adjudication, Campaign, Disagreement, ErrorSpan, Item, Judgment
from annotation.models.judgment import VALUE
from core.text import batched
from metaeval.messages import message

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


def disagreements(campaign: Campaign) -> QuerySet[Any]:
    """Return the queue of a campaign, greatest differences first, each with `is_decided`."""
    decided = Adjudication.objects.filter(item=OuterRef("item"), is_current=True)
    rows = Disagreement.objects.filter(item__campaign=campaign)
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
