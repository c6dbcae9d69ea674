"""Metrics that were added, their runs, and scores that were computed elsewhere."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.http import urlencode

from annotation.access import is_site_admin, may_change_test_set
from core.work.models import Now
from lifecycle.resources.resource_type import Going, ResourceType
from metrics import catalogue
from metrics.base import IMPORTED
from metrics.imported.storing import withdraw
from metrics.models import (
    ConfiguredMetric,
    ImportedScores,
    MetricImport,
    MetricRun,
    MetricSignature,
    SegmentScore,
)
from metrics.runs import starting


class Metrics(ResourceType[ConfiguredMetric]):
    """Metrics beside those that come with the code; one that is archived is retired."""

    name, label, home = "metric", "Metric", "metrics"
    model = ConfiguredMetric
    key, title = "name", "label"

    def may_delete(self, user: Any, resource: ConfiguredMetric) -> bool:
        """Site admins: everybody's campaigns show it."""
        return is_site_admin(user)

    def copy_address(self, resource: ConfiguredMetric) -> str:
        """The form of its family with its options."""
        if resource.family == IMPORTED:
            return ""
        given = urlencode(resource.description["options"])
        return f"{reverse('metric-configure', args=[resource.family])}?{given}"

    def page(self, resource: ConfiguredMetric) -> str:
        """Its page."""
        return reverse("metric", args=[resource.name])

    def going(self, resource: ConfiguredMetric) -> Going:
        """All scores under its name."""
        known = MetricSignature.objects.filter(metric=resource.name)
        tables = ImportedScores.objects.filter(signature__in=known)
        return [
            ("metric run", MetricRun.objects.filter(metric=resource.name).count()),
            ("score import", MetricImport.objects.filter(metric=resource.name).count()),
            ("signature", known.count()),
            ("score", SegmentScore.objects.filter(signature__in=known).count()),
            ("imported score table", tables.count()),
        ]

    def staying(self, resource: ConfiguredMetric) -> str:
        """What made it."""
        return "Checkpoints stay on disk, also those of the training that made it."

    def stop(self, resource: ConfiguredMetric) -> None:
        """Its runs."""
        for run in MetricRun.objects.filter(metric=resource.name, status__in=MetricRun.ACTIVE):
            starting.cancel(run)

    def erase(self, resource: ConfiguredMetric) -> None:
        """Runs and imports first: they protect signatures."""
        MetricRun.objects.filter(metric=resource.name).delete()
        MetricImport.objects.filter(metric=resource.name).delete()
        MetricSignature.objects.filter(metric=resource.name).delete()
        resource.delete()

    def rename(self, resource: ConfiguredMetric, name: str) -> None:
        """Pages show the label of the description."""
        resource.description = resource.description | {"label": name}
        resource.save(update_fields=["description"])
        super().rename(resource, name)

    def keeps_open(self, resource: ConfiguredMetric) -> str:
        """Imported ones have no runs to retire from."""
        imported = "Its scores were imported: withdraw those, test set by test set."
        return imported if resource.family == IMPORTED else ""

    def archived_since(self, resource: ConfiguredMetric) -> datetime | None:
        """When it was retired."""
        return resource.retired_at

    def is_archived(self, resource: ConfiguredMetric) -> bool:
        """Whether it is retired."""
        return resource.retired_at is not None

    def archived(self, user: Any) -> QuerySet[ConfiguredMetric]:
        """Those that are retired."""
        return self.model.objects.exclude(retired_at=None)

    def archive(self, resource: ConfiguredMetric, user: Any) -> None:
        """Retire it: no new runs; its scores are shown as before."""
        catalogue.retire(resource.name)

    def restore(self, resource: ConfiguredMetric) -> None:
        """Offer it for runs again."""
        catalogue.restore(resource.name)


class Imports(ResourceType[MetricImport]):
    """Scores of one metric on one test set; those that are archived are withdrawn."""

    name, label, home = "import", "Imported scores", "metric-scores-sets"
    model = MetricImport
    test_set = "test_set"
    fixed = "They are called after their metric and their test set."

    def may_delete(self, user: Any, resource: MetricImport) -> bool:
        """Who may add to the test set."""
        return may_change_test_set(user, resource.test_set)

    def called(self, resource: MetricImport) -> str:
        """Metric and test set."""
        return f"{resource.metric} on {resource.test_set.name}, import {resource.pk}"

    def page(self, resource: MetricImport) -> str:
        """The page of the test set's imported scores."""
        return reverse("metric-scores", args=[resource.test_set.slug])

    def going(self, resource: MetricImport) -> Going:
        """Its scores, unless another import has the same."""
        return [("imported score table", self._own(resource).count())]

    def _own(self, resource: MetricImport) -> QuerySet[ImportedScores]:
        others = MetricImport.objects.filter(signature=resource.signature).exclude(pk=resource.pk)
        rows = ImportedScores.objects.filter(signature=resource.signature)
        return rows.none() if others.exists() else rows

    def staying(self, resource: MetricImport) -> str:
        """Older imports."""
        return "If an older import of this metric was not withdrawn, its scores are shown instead."

    def erase(self, resource: MetricImport) -> None:
        """A signature without import and scores stands for nothing."""
        signature = resource.signature_id
        self._own(resource).delete()
        resource.delete()
        unused = MetricSignature.objects.filter(pk=signature, imports=None, runs=None)
        unused.filter(imported=None).delete()

    def archived_since(self, resource: MetricImport) -> datetime | None:
        """When it was withdrawn."""
        return resource.withdrawn_at

    def is_archived(self, resource: MetricImport) -> bool:
        """Whether it is withdrawn."""
        return resource.withdrawn_at is not None

    def archived(self, user: Any) -> QuerySet[MetricImport]:
        """Those that are withdrawn."""
        return self.seen(user).exclude(withdrawn_at=None).select_related("test_set")

    def archive(self, resource: MetricImport, user: Any) -> None:
        """Show it no longer."""
        rows = self.model.objects.filter(pk=resource.pk, withdrawn_at=None)
        rows.update(withdrawn_at=Now(), withdrawn_by=user)

    def restore(self, resource: MetricImport) -> None:
        """Show it again, in place of others of its metric."""
        withdraw(resource.test_set, resource.metric, user=resource.withdrawn_by)
        self.model.objects.filter(pk=resource.pk).update(withdrawn_at=None, withdrawn_by=None)


class Runs(ResourceType[MetricRun]):
    """Metric runs. Scores are kept by text, and outlive the run that computed them."""

    name, label, home = "run", "Metric run", "runs"
    test_set = "test_set"
    model = MetricRun
    fixed = "It is called after its metric and its test set."

    def called(self, resource: MetricRun) -> str:
        """Metric and test set."""
        return f"{resource.label} · {resource.test_set.name} · #{resource.pk}"

    def going(self, resource: MetricRun) -> Going:
        """What the workers reported."""
        return [
            ("worker’s report", resource.workers.count()),
            ("failed text", resource.failed_texts.count()),
        ]

    def staying(self, resource: MetricRun) -> str:
        """What a run is to those who read results."""
        return (
            "Its scores stay stored. If it was the newest run of its metric here, results show the "
            "scores of another run, or none until the metric is run again, which then takes "
            "seconds."
        )

    def stop(self, resource: MetricRun) -> None:
        """Its workers stop within seconds."""
        starting.cancel(resource)
