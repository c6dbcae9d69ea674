"""What a submit needs to know of a screen: less than a page does, and read in a simple query."""

from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User

from annotation.entry.welcome import next_step
from annotation.models import Assignment
from annotation.protocols import Layout, Protocol


@dataclass(frozen=True)
class Answerable:
    """An item that was answered, and all items that its submit answers, in order."""

    public_id: UUID
    public_ids: tuple[UUID, ...]
    protocol: Protocol
    campaign_slug: str
    campaign_status: str
    asked_first: str


def find_answerable(*, user: User, public_id: UUID) -> Answerable | None:
    """Return what may be answered at an address, or None for everybody else."""
    row = (
        Assignment.objects.select_related("annotator__campaign", "item")
        .filter(public_id=public_id, annotator__user=user)
        .order_by("pk")
        .first()
    )
    if row is None:
        return None
    campaign = row.annotator.campaign
    return Answerable(
        public_id=row.public_id,
        public_ids=_answered_with(row, campaign.judging),
        protocol=campaign.judging,
        campaign_slug=campaign.slug,
        campaign_status=campaign.status,
        asked_first=next_step(row.annotator),
    )


def _answered_with(row: Assignment, protocol: Protocol) -> tuple[UUID, ...]:
    if protocol.layout != Layout.TOGETHER or row.item.screen is None:
        return (row.public_id,)
    together = Assignment.objects.filter(annotator=row.annotator_id, item__screen=row.item.screen)
    return tuple(together.order_by("position").values_list("public_id", flat=True))
