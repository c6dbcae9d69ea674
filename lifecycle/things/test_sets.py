"""Test sets and their systems: kept while a campaign judges them."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Count
from django.urls import reverse

from annotation.access import may_share_test_set
from annotation.models import Campaign, Item, Output, PublishedScore, Reference, System, TestSet
from core import extensions
from lifecycle.things.kind import Attached, Going, Kind
from metrics.models import ImportedScores, MetricRun, MetricSignature
from metrics.runs import starting as runs


def _judges(n: int) -> str:
    return "1 campaign judges it" if n == 1 else f"{n:,} campaigns judge it"


def _attached() -> Iterator[Attached]:
    return extensions.imported("test_set")


class TestSets(Kind[TestSet]):
    """Test sets with texts, systems, runs and imported scores."""

    __test__ = False
    name, label, home = "test-set", "Test set", "testsets"
    model = TestSet
    key, title, test_set = "slug", "name", "pk"

    def may_delete(self, user: Any, thing: TestSet) -> bool:
        """Its owner, while they may upload, and site admins."""
        return may_share_test_set(user, thing)

    def going(self, thing: TestSet) -> Going:
        """Texts, and all that hangs on them."""
        return [
            ("segment", thing.segments.count()),
            ("reference", Reference.objects.filter(segment__test_set=thing).count()),
            ("system", thing.systems.count()),
            ("output", Output.objects.filter(system__test_set=thing).count()),
            ("metric run", MetricRun.objects.filter(test_set=thing).count()),
            ("score import", thing.metric_imports.count()),
            *(row for each in _attached() for row in each.going(thing)),
            ("decision", thing.audit.count()),
        ]

    def staying(self, thing: TestSet) -> str:
        """Scores belong to texts, not to test sets."""
        return (
            "Scores that metrics gave its texts stay under the hashes of those texts, and are "
            "found again where the same texts are uploaded."
        )

    def keeps(self, thing: TestSet) -> str:
        """Campaigns."""
        n = Campaign.objects.filter(test_set=thing).count()
        return f"{_judges(n)}: delete those first, or archive this." if n else ""

    def stop(self, thing: TestSet) -> None:
        """Runs over it, and what extensions do with it."""
        for run in MetricRun.objects.filter(test_set=thing, status__in=MetricRun.ACTIVE):
            runs.cancel(run)
        for each in _attached():
            each.stop(thing)

    def erase(self, thing: TestSet) -> None:
        """The signatures of its imported scores name it, and serve nothing else."""
        imported = ImportedScores.objects.filter(system__test_set=thing)
        signatures = list(imported.values_list("signature", flat=True).distinct())
        thing.delete()
        unused = MetricSignature.objects.filter(pk__in=signatures, imported=None, runs=None)
        unused.filter(imports=None).delete()


class Systems(Kind[System]):
    """A system with its outputs at one length."""

    name, label, home = "system", "System", "testsets"
    model = System
    title, test_set = "name", "test_set"
    archives = False

    def owner(self, thing: System) -> int | None:
        """Its test set's."""
        return thing.test_set.created_by_id

    def may_delete(self, user: Any, thing: System) -> bool:
        """Who may delete the test set."""
        return may_share_test_set(user, thing.test_set)

    def page(self, thing: System) -> str:
        """Its test set's page."""
        return reverse("testset", args=[thing.test_set.slug])

    def going(self, thing: System) -> Going:
        """Outputs, and scores that were imported for it."""
        return [
            ("output", thing.outputs.count()),
            ("imported score table", ImportedScores.objects.filter(system=thing).count()),
        ]

    def staying(self, thing: System) -> str:
        """The others."""
        return f"The other systems of {thing.test_set.name} and their scores stay."

    def keeps(self, thing: System) -> str:
        """Campaigns that judge it, or that have its published scores."""
        used = set(thing.campaigns.values_list("pk", flat=True))
        used |= set(Item.objects.filter(output__system=thing).values_list("campaign", flat=True))
        used |= set(Item.objects.filter(system=thing).values_list("campaign", flat=True))
        scores = PublishedScore.objects
        used |= set(scores.filter(output__system=thing).values_list("campaign", flat=True))
        used |= set(scores.filter(system=thing).values_list("campaign", flat=True))
        return f"{_judges(len(used))}: delete those first." if used else ""

    def stop(self, thing: System) -> None:
        """Runs that score it."""
        for run in thing.metric_runs.filter(status__in=MetricRun.ACTIVE):
            runs.cancel(run)

    def erase(self, thing: System) -> None:
        """Runs that scored nothing else are of nothing any more."""
        own = MetricRun.objects.filter(systems=thing).values("pk")
        alone = MetricRun.objects.filter(pk__in=own).annotate(n=Count("systems")).filter(n=1)
        MetricRun.objects.filter(pk__in=list(alone.values_list("pk", flat=True))).delete()
        thing.delete()
