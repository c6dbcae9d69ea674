"""The document around a segment, as an annotator opens it."""

from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import OuterRef, QuerySet, Subquery

from annotation.entry.welcome import next_step
from annotation.judging.screens import Text, context_of, has_context
from annotation.models import Assignment, Campaign, ContextOpening, Reference, Segment

# Number of segments of the document shown before one, and after it.
REACH = 20


@dataclass(frozen=True)
class Around:
    """The gray texts around a segment; `place` is the position of the segment among them.

    `is_start` and `is_end` state whether they begin and end with the document.
    """

    public_id: UUID
    texts: tuple[Text, ...]
    place: int
    is_start: bool
    is_end: bool


def open_around(*, user: User, public_id: UUID) -> Around | None:
    """Return the document around an item's segment, and store that it was opened.

    None for everyone except the item's annotator, and while the item may not be rated. The texts
    depend on the segment only, not on the kind of the item.
    """
    row = (
        Assignment.objects.filter(public_id=public_id, annotator__user=user)
        .select_related("annotator__campaign__test_set", "item__segment")
        .first()
    )
    if row is None or not _is_shown(row):
        return None
    ContextOpening.objects.create(assignment=row)
    return _around(row.annotator.campaign, row.item.segment, public_id)


def _is_shown(row: Assignment) -> bool:
    campaign = row.annotator.campaign
    is_open = campaign.status == Campaign.Status.OPEN and not next_step(row.annotator)
    return is_open and has_context(campaign, row.item.segment.document)


def _around(campaign: Campaign, own: Segment, public_id: UUID) -> Around:
    first = Reference.objects.filter(segment=OuterRef("pk")).order_by("name").values("text")[:1]
    document: QuerySet[Segment] = Segment.objects.filter(
        test_set=own.test_set_id, document=own.document
    ).annotate(reference=Subquery(first))
    before = list(document.filter(position__lt=own.position).order_by("-position")[: REACH + 1])
    after = list(document.filter(position__gte=own.position).order_by("position")[: REACH + 2])
    shown = [*reversed(before[:REACH]), *after[: REACH + 1]]
    return Around(
        public_id=public_id,
        texts=tuple(
            context_of(campaign, source=each.source, reference=getattr(each, "reference", None))
            for each in shown
        ),
        place=len(before[:REACH]),
        is_start=len(before) <= REACH,
        is_end=len(after) <= REACH + 1,
    )
