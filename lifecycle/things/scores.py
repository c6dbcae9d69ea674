"""Metrics that were added, their runs, and scores that were computed elsewhere."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.http import urlencode

from annotation.access import is_site_admin, may_change_test_set
from core.work.models import Now
from lifecycle.things.kind import Going, Kind
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


class Metrics(Kind[ConfiguredMetric]):
    """Metrics beside those that come with the code; one that is archived is retired."""

    name, label, home = "metric", "Metric", "metrics"
    model = ConfiguredMetric
    key, title = "name", "label"

    def may_delete(self, user: Any, thing: ConfiguredMetric) -> bool:
        """Site admins: everybody's campaigns show it."""
        return is_site_admin(user)

    def copy_address(self, thing: ConfiguredMetric) -> str:
        """The form of its family with its options."""
        if thing.family == IMPORTED:
            return ""
        given = urlencode(thing.description["options"])
        return f"{reverse('metric-configure', args=[thing.family])}?{given}"

    def page(self, thing: ConfiguredMetric) -> str:
        """Its page."""
        return reverse("metric", args=[thing.name])

    def going(self, thing: ConfiguredMetric) -> Going:
        """All scores under its name."""
        known = MetricSignature.objects.filter(metric=thing.name)
        tables = ImportedScores.objects.filter(signature__in=known)
        return [
            ("metric run", MetricRun.objects.filter(metric=thing.name).count()),
            ("score import", MetricImport.objects.filter(metric=thing.name).count()),
            ("signature", known.count()),
            ("score", SegmentScore.objects.filter(signature__in=known).count()),
            ("imported score table", tables.count()),
        ]

    def staying(self, thing: ConfiguredMetric) -> str:
        """What made it."""
        return "Checkpoints stay on disk, also those of the training that made it."

    def stop(self, thing: ConfiguredMetric) -> None:
        """Its runs."""
        for run in MetricRun.objects.filter(metric=thing.name, status__in=MetricRun.ACTIVE):
            starting.cancel(run)

    def erase(self, thing: ConfiguredMetric) -> None:
        """Runs and imports first: they protect signatures."""
        MetricRun.objects.filter(metric=thing.name).delete()
        MetricImport.objects.filter(metric=thing.name).delete()
        MetricSignature.objects.filter(metric=thing.name).delete()
        thing.delete()

    def rename(self, thing: ConfiguredMetric, name: str) -> None:
        """Pages show the label of the description."""
        thing.description = thing.description | {"label": name}
        thing.save(update_fields=["description"])
        super().rename(thing, name)

    def keeps_open(self, thing: ConfiguredMetric) -> str:
        """Imported ones have no runs to retire from."""
        imported = "Its scores were imported: withdraw those, test set by test set."
        return imported if thing.family == IMPORTED else ""

    def archived_since(self, thing: ConfiguredMetric) -> datetime | None:
        """When it was retired."""
        return thing.retired_at

    def is_archived(self, thing: ConfiguredMetric) -> bool:
        """Whether it is retired."""
        return thing.retired_at is not None

    def archived(self, user: Any) -> QuerySet[ConfiguredMetric]:
        """Those that are retired."""
        return self.model.objects.exclude(retired_at=None)

    def archive(self, thing: ConfiguredMetric, user: Any) -> None:
        """Retire it: no new runs; its scores are shown as before."""
        catalogue.retire(thing.name)

    def restore(self, thing: ConfiguredMetric) -> None:
        """Offer it for runs again."""
        catalogue.restore(thing.name)


class Imports(Kind[MetricImport]):
    """Scores of one metric on one test set; those that are archived are withdrawn."""

    name, label, home = "import", "Imported scores", "metric-scores-sets"
    model = MetricImport
    test_set = "test_set"
    fixed = "They are called after their metric and their test set."

    def may_delete(self, user: Any, thing: MetricImport) -> bool:
        """Who may add to the test set."""
        return may_change_test_set(user, thing.test_set)

    def called(self, thing: MetricImport) -> str:
        """Metric and test set."""
        return f"{thing.metric} on {thing.test_set.name}, import {thing.pk}"

    def page(self, thing: MetricImport) -> str:
        """The page of the test set's imported scores."""
        return reverse("metric-scores", args=[thing.test_set.slug])

    def going(self, thing: MetricImport) -> Going:
        """Its scores, unless another import has the same."""
        return [("imported score table", self._own(thing).count())]

    def _own(self, thing: MetricImport) -> QuerySet[ImportedScores]:
        others = MetricImport.objects.filter(signature=thing.signature).exclude(pk=thing.pk)
        rows = ImportedScores.objects.filter(signature=thing.signature)
        return rows.none() if others.exists() else rows

    def staying(self, thing: MetricImport) -> str:
        """Older imports."""
        return "If an older import of this metric was not withdrawn, its scores are shown instead."

    def erase(self, thing: MetricImport) -> None:
        """A signature without import and scores stands for nothing."""
        signature = thing.signature_id
        self._own(thing).delete()
        thing.delete()
        unused = MetricSignature.objects.filter(pk=signature, imports=None, runs=None)
        unused.filter(imported=None).delete()

    def archived_since(self, thing: MetricImport) -> datetime | None:
        """When it was withdrawn."""
        return thing.withdrawn_at

    def is_archived(self, thing: MetricImport) -> bool:
        """Whether it is withdrawn."""
        return thing.withdrawn_at is not None

    def archived(self, user: Any) -> QuerySet[MetricImport]:
        """Those that are withdrawn."""
        return self.seen(user).exclude(withdrawn_at=None).select_related("test_set")

    def archive(self, thing: MetricImport, user: Any) -> None:
        """Show it no longer."""
        rows = self.model.objects.filter(pk=thing.pk, withdrawn_at=None)
        rows.update(withdrawn_at=Now(), withdrawn_by=user)

    def restore(self, thing: MetricImport) -> None:
        """Show it again, in place of others of its metric."""
        withdraw(thing.test_set, thing.metric, user=thing.withdrawn_by)
        self.model.objects.filter(pk=thing.pk).update(withdrawn_at=None, withdrawn_by=None)


class Runs(Kind[MetricRun]):
    """Metric runs. Scores are kept by text, and outlive the run that computed them."""

    name, label, home = "run", "Metric run", "runs"
    test_set = "test_set"
    model = MetricRun
    fixed = "It is called after its metric and its test set."

    def called(self, thing: MetricRun) -> str:
        """Metric and test set."""
        return f"{thing.label} · {thing.test_set.name} · #{thing.pk}"

    def going(self, thing: MetricRun) -> Going:
        """What the workers reported."""
        return [
            ("worker’s report", thing.workers.count()),
            ("failed text", thing.failed_texts.count()),
        ]

    def staying(self, thing: MetricRun) -> str:
        """What a run is to those who read results."""
        return (
            "Its scores stay stored. If it was the newest run of its metric here, results show the "
            "scores of another run, or none until the metric is run again, which then takes "
            "seconds."
        )

    def stop(self, thing: MetricRun) -> None:
        """Its workers stop within seconds."""
        starting.cancel(thing)
