"""Explain a page without numbers: what is missing, why, and what to do next."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.campaigns.facts import has_scores
from annotation.models import Campaign


@dataclass(frozen=True)
class Empty:
    """A campaign, or all of several, without a human score."""

    why: Promise
    label: Promise
    address: str


def empty(campaigns: Sequence[Campaign]) -> Empty | None:
    """Return why there are no human scores yet; None where somebody has judged."""
    if not campaigns or any(map(has_scores, campaigns)):
        return None
    drafts = [each for each in campaigns if each.status == Campaign.Status.DRAFT]
    if len(drafts) == len(campaigns):
        address = reverse("campaign-setup", args=[drafts[0].slug])
        return Empty(
            _("The campaign is a draft and accepts no ratings yet."), _("Open campaign"), address
        )
    if all(each.status != Campaign.Status.OPEN for each in campaigns):
        address = reverse("campaign-setup", args=[campaigns[0].slug])
        return Empty(
            _("The campaign was closed before anybody rated."), _("Reopen campaign"), address
        )
    address = reverse("monitor", args=[campaigns[0].slug])
    return Empty(_("The campaign is open and has no ratings yet."), _("View progress"), address)
