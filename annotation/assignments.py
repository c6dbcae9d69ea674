"""Stage 3: let annotators in, and hand out their items one at a time.

Pages of annotators are built from `ShownItem` and `RatedItem` alone, never from rows, so that a
template cannot show what an annotator must not know: the system, the kind of the item, the ids
of rows, the answers of others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Case, Count, F, FilteredRelation, OuterRef, Q, QuerySet, Subquery, When

from annotation.access import ANNOTATOR
from annotation.languages import direction
from annotation.models import Annotator, Assignment, Campaign, Reference
from annotation.tokens import hash_token

# What is rated, whether it is an output or a text of the item itself (a control item).
RATED_TEXT = Case(When(item__text="", then=F("item__output__text")), default=F("item__text"))


@dataclass(frozen=True)
class Text:
    """A text with what a browser needs to set it: its language code and `ltr` or `rtl`."""

    content: str
    language: str
    direction: str


@dataclass(frozen=True)
class Progress:
    """The place of an item in its annotator's order, from 1, and how many are rated of all."""

    place: int
    done: int
    total: int


@dataclass(frozen=True)
class ShownItem:
    """All that an annotator may know of an item; `score` and `revision` are their own answer.

    `revision` is 0 and `score` None while there is no answer.
    """

    public_id: UUID
    previous_id: UUID | None
    campaign_slug: str
    campaign_name: str
    campaign_status: str
    instructions: str
    question: str
    context: Text
    rated: Text
    score: int | None
    revision: int
    progress: Progress


@dataclass(frozen=True)
class RatedItem:
    """A line of an annotator's own history."""

    public_id: UUID
    place: int
    rated: Text
    score: int
    submitted_at: datetime | None


def find_by_token(token: str) -> Annotator | None:
    """Return the annotator whose personal link carries the token, if it may sign anyone in.

    A link is a password, so it opens no account that can do more than rate.
    """
    annotator = (
        Annotator.objects.select_related("campaign", "user")
        .filter(token_hash=hash_token(token), user__is_active=True)
        .first()
    )
    return annotator if annotator and _only_rates(annotator.user) else None


def _only_rates(user: User | None) -> bool:
    return (
        user is not None
        and not (user.is_staff or user.is_superuser)
        and not user.groups.exclude(name=ANNOTATOR).exists()
    )


def find_annotator(*, user: User, slug: str) -> Annotator | None:
    """Return the part that a user has in a campaign, with the campaign loaded (one query)."""
    return (
        Annotator.objects.select_related("campaign__test_set")
        .filter(user=user, campaign__slug=slug)
        .first()
    )


def first_open(annotator: Annotator) -> UUID | None:
    """Return the address of the first item, in the annotator's order, that is not yet rated."""
    return (
        annotator.assignments.filter(completed_at=None)
        .order_by("position")
        .values_list("public_id", flat=True)
        .first()
    )


def find_item(*, user: User, public_id: UUID) -> ShownItem | None:
    """Return an item as its annotator sees it, or None for everybody else (two queries)."""
    return _shown(_shown_rows().filter(public_id=public_id, annotator__user=user).first())


def next_item(*, annotator_id: int) -> ShownItem | None:
    """Return the first item of an annotator that is not yet rated (two queries)."""
    rows = _shown_rows().filter(annotator=annotator_id, completed_at=None)
    return _shown(rows.order_by("position").first())


def _current() -> FilteredRelation:
    """The current judgment of an assignment; made anew, because a query changes it in use."""
    return FilteredRelation("judgments", condition=Q(judgments__is_current=True))


def _shown_rows() -> QuerySet[Any]:
    """Everything of a page in one row, by the same joins whatever kind the item is."""
    segment = OuterRef("item__segment")
    references = Reference.objects.filter(segment=segment).order_by("name").values("text")
    before = Assignment.objects.filter(
        annotator=OuterRef("annotator"), position__lt=OuterRef("position")
    )
    return Assignment.objects.select_related("annotator__campaign__test_set").annotate(
        current=_current(),
        score=F("current__score"),
        revision=F("current__revision"),
        rated_text=RATED_TEXT,
        source=F("item__segment__source"),
        reference=Subquery(references[:1]),
        previous_id=Subquery(before.order_by("-position").values("public_id")[:1]),
    )


def _shown(row: Any) -> ShownItem | None:
    if row is None:
        return None
    campaign: Campaign = row.annotator.campaign
    return ShownItem(
        public_id=row.public_id,
        previous_id=row.previous_id,
        campaign_slug=campaign.slug,
        campaign_name=campaign.name,
        campaign_status=campaign.status,
        instructions=campaign.instructions,
        question=campaign.question_text,
        context=_context(campaign, source=row.source, reference=row.reference),
        rated=_text(row.rated_text, campaign.test_set.target_language),
        score=row.score,
        revision=row.revision or 0,
        progress=progress(row.annotator, place=row.position + 1),
    )


def _context(campaign: Campaign, *, source: str, reference: str | None) -> Text:
    """The gray text: the first reference by name, or the source."""
    if campaign.shown_text == Campaign.ShownText.SOURCE:
        return _text(source, campaign.test_set.source_language)
    return _text(reference, campaign.test_set.target_language)


def _text(content: str | None, language: str) -> Text:
    return Text(content or "", language, direction(language))


def progress(annotator: Annotator, *, place: int = 0) -> Progress:
    """Count an annotator's items, and those that are rated (one query)."""
    counts: Mapping[str, int] = annotator.assignments.aggregate(
        done=Count("completed_at"), total=Count("pk")
    )
    return Progress(place, counts["done"], counts["total"])


def rated_items(annotator: Annotator) -> QuerySet[Any, Any]:
    """Return the rows behind an annotator's own history, the last item first."""
    return (
        Assignment.objects.filter(annotator=annotator)
        .annotate(current=_current())
        .filter(current__score__isnull=False)
        .order_by("-position")
        .values(
            "public_id",
            "position",
            rated_text=RATED_TEXT,
            score=F("current__score"),
            submitted_at=F("current__submitted_at"),
        )
    )


def rated_item(row: Mapping[str, Any], language: str) -> RatedItem:
    """Turn a row of `rated_items` into a line of the history page."""
    return RatedItem(
        public_id=row["public_id"],
        place=row["position"] + 1,
        rated=_text(row["rated_text"], language),
        score=row["score"],
        submitted_at=row["submitted_at"],
    )
