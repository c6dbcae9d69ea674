"""Parallel text, training jobs with their files, translations of test sets."""

from collections.abc import Sequence
from pathlib import Path

from django.urls import reverse
from django.utils.http import urlencode

from annotation.models import TestSet
from core.text import pluralize
from lifecycle.resources.resource_type import Going, ResourceType
from training.contract import KINDS
from training.jobs import folders
from training.jobs import starting as jobs
from training.models import ParallelCorpus, PreferenceResult, TrainingJob, Translation
from training.preferences.options import KIND as PREFERENCES
from training.translation.systems import starting as translations


class Corpora(ResourceType[ParallelCorpus]):
    """Parallel text."""

    name, label, home = "corpus", "Parallel text", "corpora"
    model = ParallelCorpus
    key = title = "name"

    def going(self, resource: ParallelCorpus) -> Going:
        """Its pairs."""
        return [("sentence pair", resource.n_pairs)]

    def keeps(self, resource: ParallelCorpus) -> str:
        """Results name what they were made of."""
        n = resource.jobs.count()
        read = pluralize(
            n, "job has read it, and its result", "jobs have read it, and their results"
        )
        return f"{read} would name nothing: delete those first, or archive this." if n else ""


class Jobs(ResourceType[TrainingJob]):
    """Trainings and preference analyses with the files that they made."""

    name, label, home = "job", "Training job", "jobs"
    model = TrainingJob
    fixed = "Its folder and what was made of it carry its name."

    def copy_address(self, resource: TrainingJob) -> str:
        """The form with the same settings."""
        if resource.kind not in KINDS or not KINDS[resource.kind].has_form:
            return ""
        given = [(f"option-{name}", value) for name, value in resource.options.items()]
        given += [("corpora", str(corpus.pk)) for corpus in resource.corpora.all()]
        given.append(("name", resource.name))
        return f"{reverse('training-start', args=[resource.kind])}?{urlencode(given)}"

    def going(self, resource: TrainingJob) -> Going:
        """Results, uploaded files, its folder."""
        return [
            ("preference result", resource.preferences.count()),
            ("uploaded file", resource.files.count()),
            ("checkpoint folder", int(resource.folder.is_dir())),
        ]

    def staying(self, resource: TrainingJob) -> str:
        """What was made with it."""
        return "Systems that were translated with its model stay."

    def keeps(self, resource: TrainingJob) -> str:
        """A metric that reads its files, translations under way, a worker that still writes."""
        if resource.metric is not None:
            return f"The metric {resource.metric.label} reads its files: delete that first."
        if resource.translations.filter(status__in=Translation.ACTIVE).exists():
            return "Translations with its model are under way: cancel those first."
        holder = "" if resource.is_active else folders.holder(resource.folder)
        return f"Its folder is in use by {holder}: try again in a few seconds." if holder else ""

    def stop(self, resource: TrainingJob) -> None:
        """Its worker stops at its next report."""
        jobs.cancel(resource)

    def folders(self, resource: TrainingJob) -> Sequence[Path]:
        """Checkpoints and projections."""
        return [resource.folder]


class Translations(ResourceType[Translation]):
    """Test sets as they are translated; the system that came of it is another thing."""

    name, label, home = "translation", "Translation", "translations"
    model = Translation
    test_set = "test_set"
    fixed = "It is called as the system that it makes."

    def going(self, resource: Translation) -> Going:
        """Outputs with their lengths."""
        return [("translated text", resource.texts.count())]

    def staying(self, resource: Translation) -> str:
        """The system."""
        return "The system that it made stays." if resource.system_id else ""

    def stop(self, resource: Translation) -> None:
        """Its worker stops after the texts in hand."""
        translations.cancel(resource)


class WithTestSet:
    """Translations and preference results of a test set."""

    def going(self, resource: TestSet) -> Going:
        """Return how many of them there are."""
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


TYPES = (Corpora(), Jobs(), Translations())
WITH_TEST_SET = WithTestSet()
