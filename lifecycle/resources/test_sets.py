"""Campaigns, and the test sets and systems that cannot be deleted while a campaign judges them."""

from collections.abc import Iterator
from typing import Any

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import User
from django.db.models import Count, QuerySet
from django.urls import reverse

from annotation.access import (
    CAMPAIGN_ADMIN,
    READERS,
    is_admin,
    is_site_admin,
    may_share_test_set,
    role_names,
    runs_campaign,
    visible_campaigns,
)
from annotation.models import (
    Adjudication,
    Annotator,
    Campaign,
    ErrorSpan,
    Item,
    Judgment,
    Output,
    PublishedPart,
    PublishedScore,
    Reference,
    System,
    TestSet,
    is_archived,
)
from core import extensions
from core.work import claims
from dashboards.models import Analysis
from lifecycle.resources.resource_type import Attached, Going, ResourceType
from metaeval.messages import Message, message, plural
from metrics.models import ImportedScores, MetricRun, MetricSignature
from metrics.runs import starting as runs


def _attached() -> Iterator[Attached]:
    return extensions.imported("test_set")


class TestSets(ResourceType[TestSet]):
    """Test sets with texts, systems, runs and imported scores."""

    __test__ = False
    name, home = "test-set", "testsets"
    label = message("resource.test-set", "Test set")
    several = message("resource.test-sets", "Test sets")
    model = TestSet
    key, title, test_set, project = "slug", "name", "pk", "project"

    def may_delete(self, user: Any, resource: TestSet) -> bool:
        """Return True for an owner who may upload, and for site admins."""
        return may_share_test_set(user, resource)

    def going(self, resource: TestSet) -> Going:
        """Count texts and everything that depends on them."""
        return [
            ("segment", resource.segments.count()),
            ("reference", Reference.objects.filter(segment__test_set=resource).count()),
            ("system", resource.systems.count()),
            ("output", Output.objects.filter(system__test_set=resource).count()),
            ("metric run", MetricRun.objects.filter(test_set=resource).count()),
            ("score import", resource.metric_imports.count()),
            *(row for each in _attached() for row in each.going(resource)),
            ("decision", resource.audit.count()),
        ]

    def staying(self, resource: TestSet) -> Message:
        """Say that scores stay: they belong to texts, not to test sets."""
        return message(
            "lifecycle.scores-stay",
            "Metric scores of these texts stay stored by the hashes of the texts. They are used "
            "again when the same texts are uploaded.",
        )

    def blocks_deletion(self, resource: TestSet) -> Message | None:
        """Refuse a test set that campaigns judge."""
        if not (n := Campaign.objects.filter(test_set=resource).count()):
            return None
        return plural(
            "lifecycle.test-set-judged",
            "{n} campaign judges this test set. Delete the campaign first, or archive the test "
            "set.",
            "{n} campaigns judge this test set. Delete the campaigns first, or archive the test "
            "set.",
            n=n,
        )

    def stop(self, resource: TestSet) -> None:
        """Cancel its runs and the background jobs of extensions."""
        for run in MetricRun.objects.filter(test_set=resource, status__in=MetricRun.ACTIVE):
            runs.cancel(run)
        for each in _attached():
            each.stop(resource)

    def erase(self, resource: TestSet) -> None:
        """Delete the signatures of its imported scores, too: nothing else uses them."""
        imported = ImportedScores.objects.filter(system__test_set=resource)
        signatures = list(imported.values_list("signature", flat=True).distinct())
        resource.delete()
        unused = MetricSignature.objects.filter(pk__in=signatures, imported=None, runs=None)
        unused.filter(imports=None).delete()


class Systems(ResourceType[System]):
    """A system with its outputs at one length."""

    name, home = "system", "testsets"
    label = message("resource.system", "System")
    model = System
    title, test_set = "name", "test_set"
    archives = False

    def owner(self, resource: System) -> int | None:
        """Return the owner of its test set."""
        return resource.test_set.created_by_id

    def may_delete(self, user: Any, resource: System) -> bool:
        """Return True for those who may delete the test set."""
        return may_share_test_set(user, resource.test_set)

    def page(self, resource: System) -> str:
        """Return the page of its test set."""
        return reverse("testset", args=[resource.test_set.slug])

    def going(self, resource: System) -> Going:
        """Count outputs and imported score tables."""
        return [
            ("output", resource.outputs.count()),
            ("imported score table", ImportedScores.objects.filter(system=resource).count()),
        ]

    def staying(self, resource: System) -> Message:
        """Say that the other systems stay."""
        return message(
            "lifecycle.systems-stay",
            "The other systems of {test_set} and their scores are kept.",
            test_set=resource.test_set.name,
        )

    def blocks_deletion(self, resource: System) -> Message | None:
        """Refuse a system that campaigns judge or have published scores of."""
        used = set(resource.campaigns.values_list("pk", flat=True))
        used |= set(Item.objects.filter(output__system=resource).values_list("campaign", flat=True))
        used |= set(Item.objects.filter(system=resource).values_list("campaign", flat=True))
        scores = PublishedScore.objects
        used |= set(scores.filter(output__system=resource).values_list("campaign", flat=True))
        used |= set(scores.filter(system=resource).values_list("campaign", flat=True))
        parts = PublishedPart.objects.filter(system=resource)
        used |= set(parts.values_list("campaign", flat=True))
        if not used:
            return None
        return plural(
            "lifecycle.system-judged",
            "{n} campaign judges this system. Delete the campaign first.",
            "{n} campaigns judge this system. Delete the campaigns first.",
            n=len(used),
        )

    def stop(self, resource: System) -> None:
        """Cancel runs that score it."""
        for run in resource.metric_runs.filter(status__in=MetricRun.ACTIVE):
            runs.cancel(run)

    def erase(self, resource: System) -> None:
        """Delete runs that scored nothing else, too."""
        own = MetricRun.objects.filter(systems=resource).values("pk")
        alone = MetricRun.objects.filter(pk__in=own).annotate(n=Count("systems")).filter(n=1)
        MetricRun.objects.filter(pk__in=list(alone.values_list("pk", flat=True))).delete()
        resource.delete()


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
    several = message("resource.campaigns", "Campaigns")
    model = Campaign
    key, title, project = "slug", "name", "project"
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
            (
                "published human score",
                resource.published_scores.count() + resource.published_parts.count(),
            ),
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
