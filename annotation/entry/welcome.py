"""What comes before the next item: an open campaign, consent, background, the test, a stop."""

from typing import Any

from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from annotation.models import Annotator, Campaign
from metaeval.messages import MessageError, message

NOT_YET_OPEN = message("rating.not-yet-open", "This campaign is not open yet.")
CLOSED = message(
    "rating.closed",
    "This campaign is closed, and no more ratings can be stored. Your earlier ratings are saved.",
)


class RefusedError(MessageError):
    """A judgment was not stored."""


class NotOpenError(RefusedError):
    """The campaign does not take judgments; sending again does not help."""


def refuse_unless_open(status: str) -> None:
    """Raise NotOpenError unless a campaign with this status takes judgments."""
    if status != Campaign.Status.OPEN:
        raise NotOpenError(NOT_YET_OPEN if status == Campaign.Status.DRAFT else CLOSED)


def next_step(annotator: Annotator) -> str:
    """Return the address of what stands before an annotator's next item, or nothing."""
    if is_barred(annotator):
        return stopped(annotator)
    return asked_first(annotator)


def is_barred(annotator: Annotator) -> bool:
    """Return True if an annotator was stopped, or was excluded with an open item."""
    since = annotator.excluded_at
    if annotator.stopped_at is not None or since is None:
        return annotator.stopped_at is not None
    held = Q(completed_at=None) & (Q(released_at=None) | Q(released_at__gte=since))
    return annotator.assignments.filter(held | Q(completed_at__gt=since)).exists()


def stopped(annotator: Annotator) -> str:
    """Return the address that says why an annotator rates nothing more."""
    return reverse("annotate-stopped", args=[annotator.campaign.slug])


def asked_first(annotator: Annotator) -> str:
    """Return the address of what an annotator has to answer first, or nothing."""
    campaign = annotator.campaign
    if campaign.consent and annotator.consented_at is None:
        return reverse("consent", args=[campaign.slug])
    if campaign.asks_background and annotator.background is None:
        return reverse("background", args=[campaign.slug])
    if campaign.comprehension and annotator.qualified_at is None:
        return reverse("annotate-test", args=[campaign.slug])
    return ""


def agree(*, annotator: Annotator) -> None:
    """Store when an annotator agreed; the first time counts."""
    Annotator.objects.filter(pk=annotator.pk, consented_at=None).update(consented_at=timezone.now())


def store_background(*, annotator: Annotator, answers: dict[str, Any]) -> None:
    """Store the answers of the background form, in place of earlier ones."""
    Annotator.objects.filter(pk=annotator.pk).update(background=answers)
