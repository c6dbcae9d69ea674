"""Resource types of this app: parallel corpora, training jobs, translations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.http import urlencode

from annotation.access import of_readable_projects
from annotation.models import TestSet
from lifecycle.resources.resource_type import COUNTED, Going, ResourceType
from metaeval.messages import Message, message, plural
from training.contract import KINDS
from training.jobs import saving
from training.jobs import starting as jobs
from training.models import ParallelCorpus, PreferenceResult, TrainingJob, Translation
from training.preferences.options import KIND as PREFERENCES
from training.translation.systems import starting as translations

COUNTED |= {
    "sentence pair": lambda n: plural(
        "count.sentence-pairs", "{n} sentence pair", "{n} sentence pairs", n=n
    ),
    "preference result": lambda n: plural(
        "count.preference-results", "{n} preference result", "{n} preference results", n=n
    ),
    "uploaded file": lambda n: plural(
        "count.uploaded-files", "{n} uploaded file", "{n} uploaded files", n=n
    ),
    "checkpoint folder": lambda n: plural(
        "count.checkpoint-folders", "{n} checkpoint folder", "{n} checkpoint folders", n=n
    ),
    "translated text": lambda n: plural(
        "count.translated-texts", "{n} translated text", "{n} translated texts", n=n
    ),
    "translation": lambda n: plural(
        "count.translations", "{n} translation", "{n} translations", n=n
    ),
}


class Corpora(ResourceType[ParallelCorpus]):
    """Parallel corpora."""

    name, home = "corpus", "corpora"
    label = message("resource.corpus", "Parallel corpus")
    model = ParallelCorpus
    key = title = "name"

    def going(self, resource: ParallelCorpus) -> Going:
        """Count its pairs."""
        return [("sentence pair", resource.n_pairs)]

    def blocks_deletion(self, resource: ParallelCorpus) -> Message | None:
        """Refuse a corpus that jobs have read: their results name it."""
        if not (n := resource.jobs.count()):
            return None
        return plural(
            "lifecycle.corpus-read",
            "{n} job has used this corpus, and its result refers to it. Delete the job first, or "
            "archive the corpus.",
            "{n} jobs have used this corpus, and their results refer to it. Delete the jobs first, "
            "or archive the corpus.",
            n=n,
        )


class Jobs(ResourceType[TrainingJob]):
    """Training jobs and preference analyses with their files."""

    name, home = "job", "jobs"
    label = message("resource.job", "Training job")
    several = message("resource.jobs", "Training jobs")
    model = TrainingJob
    project = "project"
    fixed = message(
        "lifecycle.job-name", "The name is part of its folder and of the metric that it made."
    )

    def seen(self, user: Any) -> QuerySet[TrainingJob]:
        """Return jobs of the user's projects, and of none."""
        return of_readable_projects(TrainingJob.objects.all(), user)

    def copy_address(self, resource: TrainingJob) -> str:
        """Return the form with the same settings."""
        if resource.kind not in KINDS or not KINDS[resource.kind].has_form:
            return ""
        given = [(f"option-{name}", value) for name, value in resource.options.items()]
        given += [("corpora", str(corpus.pk)) for corpus in resource.corpora.all()]
        given.append(("name", resource.name))
        return f"{reverse('training-start', args=[resource.kind])}?{urlencode(given)}"

    def going(self, resource: TrainingJob) -> Going:
        """Count results, uploaded files and its folder."""
        return [
            ("preference result", resource.preferences.count()),
            ("uploaded file", resource.files.count()),
            ("checkpoint folder", int(resource.folder.is_dir())),
        ]

    def staying(self, resource: TrainingJob) -> Message:
        """Say that translated systems stay."""
        return message(
            "lifecycle.translated-systems-stay", "Systems translated with its model are kept."
        )

    def blocks_deletion(self, resource: TrainingJob) -> Message | None:
        """Refuse a job whose files a metric, a translation or a worker uses."""
        if resource.metric is not None:
            return message(
                "lifecycle.job-metric",
                "The metric {metric} uses the files of this job. Delete the metric first.",
                metric=resource.metric.label,
            )
        if resource.translations.filter(status__in=Translation.ACTIVE).exists():
            return message(
                "lifecycle.job-translates",
                "Translations with the model of this job are running. Cancel them first.",
            )
        holder = None if resource.is_active else saving.holder(resource.folder)
        if holder is None:
            return None
        return message(
            "lifecycle.job-folder-in-use",
            "The folder of this job is in use by {holder}. Try again in a few seconds.",
            holder=holder,
        )

    def stop(self, resource: TrainingJob) -> None:
        """Cancel the job; its worker stops at its next report."""
        jobs.cancel(resource)

    def folders(self, resource: TrainingJob) -> Sequence[Path]:
        """Return the folder of checkpoints and projections."""
        return [resource.folder]


class Translations(ResourceType[Translation]):
    """Translations of test sets. The system that one made is a resource of its own."""

    name, home = "translation", "translations"
    label = message("resource.translation", "Translation")
    model = Translation
    test_set = "test_set"
    fixed = message(
        "lifecycle.translation-name", "The system that the translation creates gets this name."
    )

    def going(self, resource: Translation) -> Going:
        """Count translated texts."""
        return [("translated text", resource.texts.count())]

    def staying(self, resource: Translation) -> Message | None:
        """Say that the system stays."""
        if not resource.system_id:
            return None
        return message("lifecycle.system-stays", "The system that it made is kept.")

    def stop(self, resource: Translation) -> None:
        """Cancel it; its worker stops after the current texts."""
        translations.cancel(resource)


class WithTestSet:
    """Translations and preference results, which are deleted with their test set."""

    def going(self, resource: TestSet) -> Going:
        """Count translations and preference results."""
        return [
            ("translation", Translation.objects.filter(test_set=resource).count()),
            ("preference result", PreferenceResult.objects.filter(test_set=resource).count()),
        ]

    def stop(self, resource: TestSet) -> None:
        """Cancel translations and preference analyses over it."""
        for row in Translation.objects.filter(test_set=resource, status__in=Translation.ACTIVE):
            translations.cancel(row)
        asked = TrainingJob.objects.filter(kind=PREFERENCES, status__in=TrainingJob.ACTIVE)
        for job in asked.filter(options__test_set=resource.slug):
            jobs.cancel(job)

    def moved(self, resource: TestSet) -> None:
        """Put the preference analyses over it into its project."""
        rows = TrainingJob.objects.filter(kind=PREFERENCES, options__test_set=resource.slug)
        rows.update(project=resource.project)


TYPES = (Corpora(), Jobs(), Translations())
WITH_TEST_SET = WithTestSet()
