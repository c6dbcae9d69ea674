"""Test sets and their systems: kept while a campaign judges them."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Count
from django.urls import reverse

from annotation.access import may_share_test_set
from annotation.models import Campaign, Item, Output, PublishedScore, Reference, System, TestSet
from core import extensions
from lifecycle.resources.resource_type import Attached, Going, ResourceType
from metrics.models import ImportedScores, MetricRun, MetricSignature
from metrics.runs import starting as runs


def _judges(n: int) -> str:
    return "1 campaign judges it" if n == 1 else f"{n:,} campaigns judge it"


def _attached() -> Iterator[Attached]:
    return extensions.imported("test_set")


class TestSets(ResourceType[TestSet]):
    """Test sets with texts, systems, runs and imported scores."""

    __test__ = False
    name, label, home = "test-set", "Test set", "testsets"
    model = TestSet
    key, title, test_set = "slug", "name", "pk"

    def may_delete(self, user: Any, resource: TestSet) -> bool:
        """Its owner, while they may upload, and site admins."""
        return may_share_test_set(user, resource)

    def going(self, resource: TestSet) -> Going:
        """Texts, and all that hangs on them."""
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

    def staying(self, resource: TestSet) -> str:
        """Scores belong to texts, not to test sets."""
        return (
            "Scores that metrics gave its texts stay under the hashes of those texts, and are "
            "found again where the same texts are uploaded."
        )

    def keeps(self, resource: TestSet) -> str:
        """Campaigns."""
        n = Campaign.objects.filter(test_set=resource).count()
        return f"{_judges(n)}: delete those first, or archive this." if n else ""

    def stop(self, resource: TestSet) -> None:
        """Runs over it, and what extensions do with it."""
        for run in MetricRun.objects.filter(test_set=resource, status__in=MetricRun.ACTIVE):
            runs.cancel(run)
        for each in _attached():
            each.stop(resource)

    def erase(self, resource: TestSet) -> None:
        """The signatures of its imported scores name it, and serve nothing else."""
        imported = ImportedScores.objects.filter(system__test_set=resource)
        signatures = list(imported.values_list("signature", flat=True).distinct())
        resource.delete()
        unused = MetricSignature.objects.filter(pk__in=signatures, imported=None, runs=None)
        unused.filter(imports=None).delete()


class Systems(ResourceType[System]):
    """A system with its outputs at one length."""

    name, label, home = "system", "System", "testsets"
    model = System
    title, test_set = "name", "test_set"
    archives = False

    def owner(self, resource: System) -> int | None:
        """Its test set's."""
        return resource.test_set.created_by_id

    def may_delete(self, user: Any, resource: System) -> bool:
        """Who may delete the test set."""
        return may_share_test_set(user, resource.test_set)

    def page(self, resource: System) -> str:
        """Its test set's page."""
        return reverse("testset", args=[resource.test_set.slug])

    def going(self, resource: System) -> Going:
        """Outputs, and scores that were imported for it."""
        return [
            ("output", resource.outputs.count()),
            ("imported score table", ImportedScores.objects.filter(system=resource).count()),
        ]

    def staying(self, resource: System) -> str:
        """The others."""
        return f"The other systems of {resource.test_set.name} and their scores stay."

    def keeps(self, resource: System) -> str:
        """Campaigns that judge it, or that have its published scores."""
        used = set(resource.campaigns.values_list("pk", flat=True))
        used |= set(Item.objects.filter(output__system=resource).values_list("campaign", flat=True))
        used |= set(Item.objects.filter(system=resource).values_list("campaign", flat=True))
        scores = PublishedScore.objects
        used |= set(scores.filter(output__system=resource).values_list("campaign", flat=True))
        used |= set(scores.filter(system=resource).values_list("campaign", flat=True))
        return f"{_judges(len(used))}: delete those first." if used else ""

    def stop(self, resource: System) -> None:
        """Runs that score it."""
        for run in resource.metric_runs.filter(status__in=MetricRun.ACTIVE):
            runs.cancel(run)

    def erase(self, resource: System) -> None:
        """Runs that scored nothing else are of nothing any more."""
        own = MetricRun.objects.filter(systems=resource).values("pk")
        alone = MetricRun.objects.filter(pk__in=own).annotate(n=Count("systems")).filter(n=1)
        MetricRun.objects.filter(pk__in=list(alone.values_list("pk", flat=True))).delete()
        resource.delete()
