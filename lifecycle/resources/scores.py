"""Configured metrics, metric runs and imported scores."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.http import urlencode

from annotation.access import is_site_admin, may_change_test_set
from core.work.models import Now
from lifecycle.resources.resource_type import Going, ResourceType
from metaeval.messages import Message, message
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

NAME_FIXED = message("lifecycle.fixed-scores", "The name consists of the metric and the test set.")


class Metrics(ResourceType[ConfiguredMetric]):
    """Configured metrics; one that is archived is retired."""

    name, home = "metric", "metrics"
    label = message("resource.metric", "Metric")
    model = ConfiguredMetric
    key, title = "name", "label"

    def may_delete(self, user: Any, resource: ConfiguredMetric) -> bool:
        """Return True for site admins: everybody's campaigns show the metric."""
        return is_site_admin(user)

    def copy_address(self, resource: ConfiguredMetric) -> str:
        """Return the form of its family with its options."""
        if resource.family == IMPORTED:
            return ""
        given = urlencode(resource.description["options"])
        return f"{reverse('metric-configure', args=[resource.family])}?{given}"

    def page(self, resource: ConfiguredMetric) -> str:
        """Return the address of its page."""
        return reverse("metric", args=[resource.name])

    def going(self, resource: ConfiguredMetric) -> Going:
        """Count all runs, imports and scores under its name."""
        known = MetricSignature.objects.filter(metric=resource.name)
        tables = ImportedScores.objects.filter(signature__in=known)
        return [
            ("metric run", MetricRun.objects.filter(metric=resource.name).count()),
            ("score import", MetricImport.objects.filter(metric=resource.name).count()),
            ("signature", known.count()),
            ("score", SegmentScore.objects.filter(signature__in=known).count()),
            ("imported score table", tables.count()),
        ]

    def staying(self, resource: ConfiguredMetric) -> Message:
        """Say that checkpoints stay."""
        return message(
            "lifecycle.checkpoints-stay",
            "Checkpoints stay on disk, including those of the training that made this metric.",
        )

    def stop(self, resource: ConfiguredMetric) -> None:
        """Cancel its runs."""
        for run in MetricRun.objects.filter(metric=resource.name, status__in=MetricRun.ACTIVE):
            starting.cancel(run)

    def erase(self, resource: ConfiguredMetric) -> None:
        """Delete runs and imports first: they protect signatures."""
        MetricRun.objects.filter(metric=resource.name).delete()
        MetricImport.objects.filter(metric=resource.name).delete()
        MetricSignature.objects.filter(metric=resource.name).delete()
        resource.delete()

    def rename(self, resource: ConfiguredMetric, name: str) -> None:
        """Change the label in the description, too: pages show that one."""
        resource.description = resource.description | {"label": name}
        resource.save(update_fields=["description"])
        super().rename(resource, name)

    def blocks_archiving(self, resource: ConfiguredMetric) -> Message | None:
        """Refuse imported metrics, which have no runs."""
        if resource.family != IMPORTED:
            return None
        return message(
            "lifecycle.metric-imported",
            "The scores of this metric were imported. Withdraw them on each test set instead.",
        )

    def archived_since(self, resource: ConfiguredMetric) -> datetime | None:
        """Return when the metric was retired."""
        return resource.retired_at

    def is_archived(self, resource: ConfiguredMetric) -> bool:
        """Return True if the metric is retired."""
        return resource.retired_at is not None

    def archived(self, user: Any) -> QuerySet[ConfiguredMetric]:
        """Return the retired metrics."""
        return self.model.objects.exclude(retired_at=None)

    def archive(self, resource: ConfiguredMetric, user: Any) -> None:
        """Retire the metric: no new runs, and its scores are shown as before."""
        catalogue.retire(resource.name)

    def restore(self, resource: ConfiguredMetric) -> None:
        """Offer the metric for runs again."""
        catalogue.restore(resource.name)


class Imports(ResourceType[MetricImport]):
    """Imported scores of one metric on one test set; archived ones are withdrawn."""

    name, home = "import", "metric-scores-sets"
    label = message("resource.import", "Imported scores")
    model = MetricImport
    test_set = "test_set"
    fixed = NAME_FIXED

    def may_delete(self, user: Any, resource: MetricImport) -> bool:
        """Return True for those who may change the test set."""
        return may_change_test_set(user, resource.test_set)

    def called(self, resource: MetricImport) -> str:
        """Return metric, test set and number."""
        return f"{resource.metric} · {resource.test_set.name} · #{resource.pk}"

    def page(self, resource: MetricImport) -> str:
        """Return the page of the imported scores of the test set."""
        return reverse("metric-scores", args=[resource.test_set.slug])

    def going(self, resource: MetricImport) -> Going:
        """Count its score tables, unless another import has the same."""
        return [("imported score table", self._own(resource).count())]

    def _own(self, resource: MetricImport) -> QuerySet[ImportedScores]:
        others = MetricImport.objects.filter(signature=resource.signature).exclude(pk=resource.pk)
        rows = ImportedScores.objects.filter(signature=resource.signature)
        return rows.none() if others.exists() else rows

    def staying(self, resource: MetricImport) -> Message:
        """Say that an older import is shown instead."""
        return message(
            "lifecycle.older-import",
            "If an older import of this metric was not withdrawn, its scores are shown instead.",
        )

    def erase(self, resource: MetricImport) -> None:
        """Delete the signature, too, if no other import or run uses it."""
        signature = resource.signature_id
        self._own(resource).delete()
        resource.delete()
        unused = MetricSignature.objects.filter(pk=signature, imports=None, runs=None)
        unused.filter(imported=None).delete()

    def archived_since(self, resource: MetricImport) -> datetime | None:
        """Return when the import was withdrawn."""
        return resource.withdrawn_at

    def is_archived(self, resource: MetricImport) -> bool:
        """Return True if the import is withdrawn."""
        return resource.withdrawn_at is not None

    def archived(self, user: Any) -> QuerySet[MetricImport]:
        """Return the withdrawn imports that the user may see."""
        return self.seen(user).exclude(withdrawn_at=None).select_related("test_set")

    def archive(self, resource: MetricImport, user: Any) -> None:
        """Withdraw the scores."""
        rows = self.model.objects.filter(pk=resource.pk, withdrawn_at=None)
        rows.update(withdrawn_at=Now(), withdrawn_by=user)

    def restore(self, resource: MetricImport) -> None:
        """Show the scores again, instead of other imports of the same metric."""
        withdraw(resource.test_set, resource.metric, user=resource.withdrawn_by)
        self.model.objects.filter(pk=resource.pk).update(withdrawn_at=None, withdrawn_by=None)


class Runs(ResourceType[MetricRun]):
    """Metric runs. Scores are stored by text and stay when their run is deleted."""

    name, home = "run", "runs"
    label = message("resource.run", "Metric run")
    several = message("resource.runs", "Metric runs")
    test_set, project = "test_set", "test_set__project"
    model = MetricRun
    fixed = NAME_FIXED

    def called(self, resource: MetricRun) -> str:
        """Return metric, test set and number."""
        return f"{resource.label} · {resource.test_set.name} · #{resource.pk}"

    def going(self, resource: MetricRun) -> Going:
        """Count reports of workers and failed texts."""
        return [
            ("worker’s report", resource.workers.count()),
            ("failed text", resource.failed_texts.count()),
        ]

    def staying(self, resource: MetricRun) -> Message:
        """Say that scores stay, and which ones results show."""
        return message(
            "lifecycle.run-scores-stay",
            "The scores are kept. If this was the newest run of its metric here, results show "
            "the scores of another run. If there is no other run, results show none until the "
            "metric is run again, which then takes seconds.",
        )

    def stop(self, resource: MetricRun) -> None:
        """Cancel the run; its workers stop within seconds."""
        starting.cancel(resource)
