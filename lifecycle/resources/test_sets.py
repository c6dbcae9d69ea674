"""Test sets and systems, which cannot be deleted while a campaign judges them."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Count
from django.urls import reverse

from annotation.access import may_share_test_set
from annotation.models import Campaign, Item, Output, PublishedScore, Reference, System, TestSet
from core import extensions
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
    model = TestSet
    key, title, test_set = "slug", "name", "pk"

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
