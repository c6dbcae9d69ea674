"""Stage 3: sign annotators in, find their next item, and list their own answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone

from annotation import pool
from annotation.access import only_rates
from annotation.judging.screens import RATED_TEXT, Text, current_judgment, is_editable, text
from annotation.models import Annotator, Assignment, Campaign, SuggestionFate
from annotation.models.people import hash_token
from annotation.prefill.suggestions import key_of
from annotation.protocols import Span
from core.database.prepared import Prepared, Statement, placeholder_key

USER, WHO, SLUG = placeholder_key(1), placeholder_key(2), "placeholder for a slug"


@dataclass(frozen=True)
class RatedItem:
    """A line of an annotator's own history."""

    public_id: UUID
    place: int
    rated: Text
    score: int | None
    penalty: float | None
    is_flagged: bool
    comment: str
    submitted_at: datetime | None
    is_editable: bool


def find_by_token(token: str, *, lock: bool = False) -> Annotator | None:
    """Return the annotator whose personal link carries the token, if it may sign anyone in.

    A link works like a password, so it opens only accounts that cannot do more than rate. With
    `lock`, nobody can join by an access link as this annotator before the transaction ends.
    """
    if lock:
        campaigns = Campaign.objects.select_for_update(of=("self",))
        campaigns.filter(annotators__token_hash=hash_token(token)).first()
    annotator = (
        Annotator.objects.select_related("campaign", "user")
        .filter(token_hash=hash_token(token), user__is_active=True)
        .filter(Q(token_expires_at=None) | Q(token_expires_at__gt=timezone.now()))
        .first()
    )
    return annotator if annotator and only_rates(annotator.user) else None


def is_expired(token: str) -> bool:
    """Return whether the token belongs to a personal link that has expired."""
    return Annotator.objects.filter(
        token_hash=hash_token(token), token_expires_at__lte=timezone.now()
    ).exists()


def find_annotator(*, user: User, slug: str) -> Annotator | None:
    """Return the annotator that a user is in a campaign, with the campaign loaded (one query)."""
    return next(iter(_part.rows({USER: user.pk, SLUG: slug})), None)


_part = Prepared(
    lambda: (
        Annotator.objects.select_related("campaign__test_set", "access_link")
        .filter(user=USER, campaign__slug=SLUG)
        .order_by("pk")
    )
)


def first_open(annotator: Annotator) -> UUID | None:
    """Return the address of the annotator's first unrated item; in a pool, claim one if needed."""
    found = _first_open(annotator)
    if found is None:
        pool.give_next(annotator=annotator)
        found = _first_open(annotator)
    return found


def _first_open(annotator: Annotator) -> UUID | None:
    found = _open.values({WHO: annotator.pk})
    return found[0][0] if found else None


_open = Statement(
    lambda: (
        Assignment.objects.filter(annotator=WHO, completed_at=None, released_at=None)
        .order_by("position")
        .values_list("public_id")[:1]
    )
)


def changeable_until(annotator: Annotator) -> datetime | None:
    """Return when the last rating stops being changeable; None while the campaign is open."""
    minutes = annotator.campaign.edit_minutes
    last = annotator.assignments.aggregate(last=Max("completed_at"))["last"]
    return None if minutes is None or last is None else last + timedelta(minutes=minutes)


def rated_items(annotator: Annotator) -> QuerySet[Any, Any]:
    """Return the rows of an annotator's history, the last item first."""
    return (
        Assignment.objects.filter(annotator=annotator)
        .annotate(current=current_judgment())
        .filter(current__isnull=False)
        .order_by("-position")
        .values(
            "public_id",
            "position",
            "completed_at",
            rated_text=RATED_TEXT,
            judgment=F("current__pk"),
            score=F("current__score"),
            penalty=F("current__penalty"),
            is_flagged=F("current__is_flagged"),
            comment=F("current__comment"),
            submitted_at=F("current__submitted_at"),
        )
    )


def _planted_penalties(
    campaign: Campaign, rows: Sequence[Mapping[str, Any]]
) -> Mapping[int, float]:
    """Return the penalties of planted errors that were kept, by judgment.

    The annotator's page counted them, so the history shows the same penalty.
    """
    scheme = campaign.judging.spans
    if scheme is None or not campaign.is_prefilled:
        return {}
    found: dict[int, float] = {}
    fates = SuggestionFate.objects.filter(
        judgment__in=[row["judgment"] for row in rows], origin=SuggestionFate.Origin.PLANTED
    )
    for fate in fates.exclude(fate=SuggestionFate.Fate.DELETED):
        weight = scheme.weight(Span(*key_of(fate)))
        found[fate.judgment_id] = found.get(fate.judgment_id, 0) + weight
    return found


def shown_items(rows: Sequence[Mapping[str, Any]], campaign: Campaign) -> Sequence[RatedItem]:
    """Turn rows of `rated_items` into lines of the history page."""
    planted = _planted_penalties(campaign, rows)
    return [_rated_item(row, campaign, planted.get(row["judgment"], 0)) for row in rows]


def _rated_item(row: Mapping[str, Any], campaign: Campaign, planted: float) -> RatedItem:
    given = Assignment(completed_at=row["completed_at"])
    penalty = row["penalty"]
    return RatedItem(
        public_id=row["public_id"],
        place=row["position"] + 1,
        rated=text(row["rated_text"], campaign.test_set.target_language),
        score=row["score"],
        penalty=None if penalty is None else penalty + planted,
        is_flagged=row["is_flagged"],
        comment=row["comment"],
        submitted_at=row["submitted_at"],
        is_editable=campaign.status == Campaign.Status.OPEN and is_editable(campaign, given),
    )
