"""What a page says where it has no numbers: what is missing, why, and what to do next."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from annotation.campaigns.facts import has_scores
from annotation.models import Campaign


@dataclass(frozen=True)
class Empty:
    """A campaign, or all of several, without a human score."""

    why: str
    label: str
    address: str


def empty(campaigns: Sequence[Campaign]) -> Empty | None:
    """Return why nothing is there yet; None where somebody has judged."""
    if not campaigns or any(map(has_scores, campaigns)):
        return None
    drafts = [each for each in campaigns if each.status == Campaign.Status.DRAFT]
    if len(drafts) == len(campaigns):
        address = reverse("campaign-setup", args=[drafts[0].slug])
        return Empty("It is a draft, so nobody can judge.", "Open the campaign", address)
    if all(each.status != Campaign.Status.OPEN for each in campaigns):
        address = reverse("campaign-setup", args=[campaigns[0].slug])
        return Empty("It was closed before anybody answered.", "Open it again", address)
    address = reverse("monitor", args=[campaigns[0].slug])
    return Empty("It is open, and no answer is there.", "See who is at work", address)
