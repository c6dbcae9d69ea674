"""Campaigns. One that has judgments must be archived before it can be deleted."""

from typing import Any

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.urls import reverse

from annotation.access import (
    CAMPAIGN_ADMIN,
    READERS,
    is_admin,
    is_site_admin,
    role_names,
    runs_campaign,
    visible_campaigns,
)
from annotation.models import Adjudication, Annotator, Campaign, ErrorSpan, Judgment, is_archived
from core.work import claims
from dashboards.models import Analysis
from lifecycle.resources.resource_type import Going, ResourceType
from metaeval.messages import Message, message

OPEN = message(
    "lifecycle.campaign-open",
    "This campaign is open. Close it first, so that nobody is rating in it.",
)
JUDGED = message(
    "lifecycle.campaign-judged",
    "This campaign has judgments. Archive it first; an archived campaign can be deleted.",
)


class Campaigns(ResourceType[Campaign]):
    """Campaigns with all their judgments."""

    name, home = "campaign", "campaigns"
    label = message("resource.campaign", "Campaign")
    model = Campaign
    key, title = "slug", "name"
    studies = True

    def seen(self, user: Any) -> QuerySet[Campaign]:
        """Return the campaigns that the user may read."""
        return visible_campaigns(user).select_related("test_set")

    def may_change(self, user: Any, resource: Campaign) -> bool:
        """Return True for those who run the campaign."""
        return runs_campaign(user, resource)

    def may_delete(self, user: Any, resource: Campaign) -> bool:
        """Return True for an owner who may create campaigns, and for site admins."""
        is_owner = resource.created_by_id == user.pk and CAMPAIGN_ADMIN in role_names(user)
        return is_owner or is_site_admin(user)

    def may_copy(self, user: Any, resource: Campaign) -> bool:
        """Return True for those who create campaigns; imported ones have no task to repeat."""
        return is_admin(user) and resource.origin != Campaign.Origin.IMPORTED

    def page(self, resource: Campaign) -> str:
        """Return the address of the setup, which every campaign has."""
        return reverse("campaign-setup", args=[resource.slug])

    def going(self, resource: Campaign) -> Going:
        """Count judgments, items, annotators, stored results and selections."""
        judgments = Judgment.objects.filter(assignment__annotator__campaign=resource)
        return [
            ("judgment", judgments.count()),
            ("error span", ErrorSpan.objects.filter(judgment__in=judgments).count()),
            ("adjudication", Adjudication.objects.filter(item__campaign=resource).count()),
            ("published human score", resource.published_scores.count()),
            ("annotator", resource.annotators.count()),
            ("personal link account", _own_accounts(resource).count()),
            ("item", resource.items.count()),
            ("access link", resource.access_links.count()),
            ("membership", resource.memberships.count()),
            ("decision", resource.audit.count()),
            ("stored result", Analysis.objects.filter(campaign=resource).count()),
            ("saved selection", resource.selections.count()),
        ]

    def judgments(self, resource: Campaign) -> int:
        """Count judgments with their revisions, and adjudications."""
        judgments = Judgment.objects.filter(assignment__annotator__campaign=resource)
        return judgments.count() + Adjudication.objects.filter(item__campaign=resource).count()

    def staying(self, resource: Campaign) -> Message:
        """Say that the test set and the metric scores stay."""
        return message(
            "lifecycle.test-set-stays",
            "The test set {test_set} and all metric scores are kept.",
            test_set=resource.test_set.name,
        )

    def export(self, resource: Campaign) -> str:
        """Return the address of the export of judgments."""
        return reverse("export", args=[resource.slug])

    def blocks_deletion(self, resource: Campaign) -> Message | None:
        """Refuse an open campaign, and one with judgments that is not archived."""
        return self.blocks_archiving(resource) or (
            JUDGED if not is_archived(resource) and self.judgments(resource) else None
        )

    def blocks_archiving(self, resource: Campaign) -> Message | None:
        """Refuse an open campaign."""
        return OPEN if resource.status == Campaign.Status.OPEN else None

    def stop(self, resource: Campaign) -> None:
        """Cancel its analyses and notifications."""
        claims.cancel(Analysis.objects.filter(campaign=resource))
        claims.cancel(resource.notifications.all())

    def erase(self, resource: Campaign) -> None:
        """Delete judgments first: the database does not cascade to them."""
        accounts = list(_own_accounts(resource).values_list("pk", flat=True))
        Judgment.objects.filter(assignment__annotator__campaign=resource).delete()
        Adjudication.objects.filter(item__campaign=resource).delete()
        resource.delete()
        User.objects.filter(pk__in=accounts).delete()


def _own_accounts(campaign: Campaign) -> QuerySet[User]:
    """Return accounts made for personal links of this campaign that nothing else uses."""
    elsewhere = Annotator.objects.exclude(campaign=campaign).exclude(user=None)
    own = User.objects.filter(
        annotators__campaign=campaign,
        password__startswith=UNUSABLE_PASSWORD_PREFIX,
        is_superuser=False,
        is_staff=False,
    )
    others = own.exclude(pk__in=elsewhere.values("user"))
    return others.exclude(groups__name__in=READERS).distinct()
