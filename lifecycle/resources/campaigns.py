"""Campaigns: what has judgments is archived before it can be deleted."""

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

OPEN = "It is open: close it first, so that nobody is rating in it."
JUDGED = (
    "It has judgments, and those are not deleted in passing: archive it first. What is archived "
    "can be deleted."
)


class Campaigns(ResourceType[Campaign]):
    """Campaigns with everything that was judged in them."""

    name, label, home = "campaign", "Campaign", "campaigns"
    model = Campaign
    key, title = "slug", "name"
    studies = True

    def seen(self, user: Any) -> QuerySet[Campaign]:
        """Those that the user may read."""
        return visible_campaigns(user).select_related("test_set")

    def may_change(self, user: Any, resource: Campaign) -> bool:
        """Who runs it."""
        return runs_campaign(user, resource)

    def may_delete(self, user: Any, resource: Campaign) -> bool:
        """Its owner, while they create campaigns, and site admins; no other member."""
        is_owner = resource.created_by_id == user.pk and CAMPAIGN_ADMIN in role_names(user)
        return is_owner or is_site_admin(user)

    def may_copy(self, user: Any, resource: Campaign) -> bool:
        """Whoever creates campaigns; imported ones have no task to repeat."""
        return is_admin(user) and resource.origin != Campaign.Origin.IMPORTED

    def page(self, resource: Campaign) -> str:
        """Its setup, which every campaign has."""
        return reverse("campaign-setup", args=[resource.slug])

    def going(self, resource: Campaign) -> Going:
        """From judgments to what readers saved."""
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
        """Revised ones and what reviewers decided, too."""
        judgments = Judgment.objects.filter(assignment__annotator__campaign=resource)
        return judgments.count() + Adjudication.objects.filter(item__campaign=resource).count()

    def staying(self, resource: Campaign) -> str:
        """The texts and the metrics' scores are not the campaign's."""
        return f"The test set {resource.test_set.name} and all metric scores stay."

    def export(self, resource: Campaign) -> str:
        """Every judgment in several formats."""
        return reverse("export", args=[resource.slug])

    def keeps(self, resource: Campaign) -> str:
        """People who rate, and judgments."""
        return self.keeps_open(resource) or (
            JUDGED if not is_archived(resource) and self.judgments(resource) else ""
        )

    def keeps_open(self, resource: Campaign) -> str:
        """People who rate."""
        return OPEN if resource.status == Campaign.Status.OPEN else ""

    def stop(self, resource: Campaign) -> None:
        """No document is computed and nobody told any more."""
        claims.cancel(Analysis.objects.filter(campaign=resource))
        claims.cancel(resource.notifications.all())

    def erase(self, resource: Campaign) -> None:
        """Judgments first: nothing else in the database takes them along."""
        accounts = list(_own_accounts(resource).values_list("pk", flat=True))
        Judgment.objects.filter(assignment__annotator__campaign=resource).delete()
        Adjudication.objects.filter(item__campaign=resource).delete()
        resource.delete()
        User.objects.filter(pk__in=accounts).delete()


def _own_accounts(campaign: Campaign) -> QuerySet[User]:
    """Accounts that were made for this campaign's links: nothing else leads into them."""
    elsewhere = Annotator.objects.exclude(campaign=campaign).exclude(user=None)
    own = User.objects.filter(
        annotators__campaign=campaign,
        password__startswith=UNUSABLE_PASSWORD_PREFIX,
        is_superuser=False,
        is_staff=False,
    )
    others = own.exclude(pk__in=elsewhere.values("user"))
    return others.exclude(groups__name__in=READERS).distinct()
