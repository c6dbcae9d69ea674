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
from lifecycle.things.kind import Going, Kind

OPEN = "It is open: close it first, so that nobody is rating in it."
JUDGED = (
    "It has judgments, and those are not deleted in passing: archive it first. What is archived "
    "can be deleted."
)


class Campaigns(Kind[Campaign]):
    """Campaigns with everything that was judged in them."""

    name, label, home = "campaign", "Campaign", "campaigns"
    model = Campaign
    key, title = "slug", "name"
    studies = True

    def seen(self, user: Any) -> QuerySet[Campaign]:
        """Those that the user may read."""
        return visible_campaigns(user).select_related("test_set")

    def may_change(self, user: Any, thing: Campaign) -> bool:
        """Who runs it."""
        return runs_campaign(user, thing)

    def may_delete(self, user: Any, thing: Campaign) -> bool:
        """Its owner, while they create campaigns, and site admins; no other member."""
        is_owner = thing.created_by_id == user.pk and CAMPAIGN_ADMIN in role_names(user)
        return is_owner or is_site_admin(user)

    def may_copy(self, user: Any, thing: Campaign) -> bool:
        """Whoever creates campaigns; imported ones have no task to repeat."""
        return is_admin(user) and thing.origin != Campaign.Origin.IMPORTED

    def page(self, thing: Campaign) -> str:
        """Its setup, which every campaign has."""
        return reverse("campaign-setup", args=[thing.slug])

    def going(self, thing: Campaign) -> Going:
        """From judgments to what readers saved."""
        judgments = Judgment.objects.filter(assignment__annotator__campaign=thing)
        return [
            ("judgment", judgments.count()),
            ("error span", ErrorSpan.objects.filter(judgment__in=judgments).count()),
            ("adjudication", Adjudication.objects.filter(item__campaign=thing).count()),
            ("published human score", thing.published_scores.count()),
            ("annotator", thing.annotators.count()),
            ("personal link account", _own_accounts(thing).count()),
            ("item", thing.items.count()),
            ("access link", thing.access_links.count()),
            ("membership", thing.memberships.count()),
            ("decision", thing.audit.count()),
            ("stored result", Analysis.objects.filter(campaign=thing).count()),
            ("saved selection", thing.selections.count()),
        ]

    def judgments(self, thing: Campaign) -> int:
        """Revised ones and what reviewers decided, too."""
        judgments = Judgment.objects.filter(assignment__annotator__campaign=thing)
        return judgments.count() + Adjudication.objects.filter(item__campaign=thing).count()

    def staying(self, thing: Campaign) -> str:
        """The texts and the metrics' scores are not the campaign's."""
        return f"The test set {thing.test_set.name} and all metric scores stay."

    def export(self, thing: Campaign) -> str:
        """Every judgment in several formats."""
        return reverse("export", args=[thing.slug])

    def keeps(self, thing: Campaign) -> str:
        """People who rate, and judgments."""
        return self.keeps_open(thing) or (
            JUDGED if not is_archived(thing) and self.judgments(thing) else ""
        )

    def keeps_open(self, thing: Campaign) -> str:
        """People who rate."""
        return OPEN if thing.status == Campaign.Status.OPEN else ""

    def stop(self, thing: Campaign) -> None:
        """No document is computed and nobody told any more."""
        claims.cancel(Analysis.objects.filter(campaign=thing))
        claims.cancel(thing.notifications.all())

    def erase(self, thing: Campaign) -> None:
        """Judgments first: nothing else in the database takes them along."""
        accounts = list(_own_accounts(thing).values_list("pk", flat=True))
        Judgment.objects.filter(assignment__annotator__campaign=thing).delete()
        Adjudication.objects.filter(item__campaign=thing).delete()
        thing.delete()
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
