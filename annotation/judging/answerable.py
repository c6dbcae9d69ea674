"""Read what storing an answer needs of a screen: less than its page, in one simple query."""

from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotation.entry.welcome import asked_first
from annotation.models import Assignment
from annotation.protocols import Protocol
from core.database.prepared import Prepared, placeholder, placeholder_key

USER, ANNOTATOR, SCREEN = map(placeholder_key, (1, 2, 3))
ASKED = placeholder(1)


@dataclass(frozen=True)
class Answerable:
    """An item that was answered, and all items of its screen, in order."""

    public_id: UUID
    rows: tuple[Assignment, ...]
    protocol: Protocol
    campaign_slug: str
    campaign_status: str
    asked_first: str


def find_answerable(*, user: User, public_id: UUID) -> Answerable | None:
    """Return what the user may answer at an address; None if it is not theirs."""
    row = next(iter(_one.rows({USER: user.pk, ASKED: public_id})), None)
    if row is None:
        return None
    campaign = row.annotator.campaign
    return Answerable(
        public_id=row.public_id,
        rows=_answered_with(row, campaign.judging),
        protocol=campaign.judging,
        campaign_slug=campaign.slug,
        campaign_status=campaign.status,
        asked_first=asked_first(row.annotator),
    )


def _answered_with(row: Assignment, protocol: Protocol) -> tuple[Assignment, ...]:
    if not protocol.layout.has_several or row.item.screen is None:
        return (row,)
    return tuple(_screen.rows({ANNOTATOR: row.annotator_id, SCREEN: row.item.screen}))


def with_texts() -> QuerySet[Assignment]:
    """Return assignments with everything that the check of an answer reads."""
    return Assignment.objects.select_related(
        "annotator__campaign__test_set", "item__output", "item__segment"
    )


_one = Prepared(lambda: with_texts().filter(public_id=ASKED, annotator__user=USER).order_by("pk"))
_screen = Prepared(
    lambda: with_texts().filter(annotator=ANNOTATOR, item__screen=SCREEN).order_by("position")
)
