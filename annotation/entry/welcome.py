"""What comes before the first item: consent, and questions about the annotator's background."""

from typing import Any

from django.urls import reverse
from django.utils import timezone

from annotation.models import Annotator


def next_step(annotator: Annotator) -> str:
    """Return the address of what an annotator has to answer first, or nothing."""
    campaign = annotator.campaign
    if campaign.consent and annotator.consented_at is None:
        return reverse("consent", args=[campaign.slug])
    if campaign.asks_background and annotator.background is None:
        return reverse("background", args=[campaign.slug])
    return ""


def agree(*, annotator: Annotator) -> None:
    """Store when an annotator agreed; the first time counts."""
    Annotator.objects.filter(pk=annotator.pk, consented_at=None).update(consented_at=timezone.now())


def store_background(*, annotator: Annotator, answers: dict[str, Any]) -> None:
    """Store the answers of the background form, in place of earlier ones."""
    Annotator.objects.filter(pk=annotator.pk).update(background=answers)
