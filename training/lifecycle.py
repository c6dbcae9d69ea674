"""Parallel text, training jobs with their files, translations of test sets."""

from collections.abc import Sequence
from pathlib import Path

from django.urls import reverse
from django.utils.http import urlencode

from annotation.models import TestSet
from core.text import pluralize
from lifecycle.things.kind import Going, Kind
from training.contract import KINDS
from training.jobs import folders
from training.jobs import starting as jobs
from training.models import ParallelCorpus, PreferenceResult, TrainingJob, Translation
from training.preferences.options import KIND as PREFERENCES
from training.translation.systems import starting as translations


class Corpora(Kind[ParallelCorpus]):
    """Parallel text."""

    name, label, home = "corpus", "Parallel text", "corpora"
    model = ParallelCorpus
    key = title = "name"

    def going(self, thing: ParallelCorpus) -> Going:
        """Its pairs."""
        return [("sentence pair", thing.n_pairs)]

    def keeps(self, thing: ParallelCorpus) -> str:
        """Results name what they were made of."""
        n = thing.jobs.count()
        read = pluralize(
            n, "job has read it, and its result", "jobs have read it, and their results"
        )
        return f"{read} would name nothing: delete those first, or archive this." if n else ""


class Jobs(Kind[TrainingJob]):
    """Trainings and preference analyses with the files that they made."""

    name, label, home = "job", "Training job", "jobs"
    model = TrainingJob
    fixed = "Its folder and what was made of it carry its name."

    def copy_address(self, thing: TrainingJob) -> str:
        """The form with the same settings."""
        if thing.kind not in KINDS or not KINDS[thing.kind].has_form:
            return ""
        given = [(f"option-{name}", value) for name, value in thing.options.items()]
        given += [("corpora", str(corpus.pk)) for corpus in thing.corpora.all()]
        given.append(("name", thing.name))
        return f"{reverse('training-start', args=[thing.kind])}?{urlencode(given)}"

    def going(self, thing: TrainingJob) -> Going:
        """Results, uploaded files, its folder."""
        return [
            ("preference result", thing.preferences.count()),
            ("uploaded file", thing.files.count()),
            ("checkpoint folder", int(thing.folder.is_dir())),
        ]

    def staying(self, thing: TrainingJob) -> str:
        """What was made with it."""
        return "Systems that were translated with its model stay."

    def keeps(self, thing: TrainingJob) -> str:
        """A metric that reads its files, translations under way, a worker that still writes."""
        if thing.metric is not None:
            return f"The metric {thing.metric.label} reads its files: delete that first."
        if thing.translations.filter(status__in=Translation.ACTIVE).exists():
            return "Translations with its model are under way: cancel those first."
        holder = "" if thing.is_active else folders.holder(thing.folder)
        return f"Its folder is in use by {holder}: try again in a few seconds." if holder else ""

    def stop(self, thing: TrainingJob) -> None:
        """Its worker stops at its next report."""
        jobs.cancel(thing)

    def folders(self, thing: TrainingJob) -> Sequence[Path]:
        """Checkpoints and projections."""
        return [thing.folder]


class Translations(Kind[Translation]):
    """Test sets as they are translated; the system that came of it is another thing."""

    name, label, home = "translation", "Translation", "translations"
    model = Translation
    test_set = "test_set"
    fixed = "It is called as the system that it makes."

    def going(self, thing: Translation) -> Going:
        """Outputs with their lengths."""
        return [("translated text", thing.texts.count())]

    def staying(self, thing: Translation) -> str:
        """The system."""
        return "The system that it made stays." if thing.system_id else ""

    def stop(self, thing: Translation) -> None:
        """Its worker stops after the texts in hand."""
        translations.cancel(thing)


class WithTestSet:
    """Translations and preference results of a test set."""

    def going(self, thing: TestSet) -> Going:
        """Return how many of them there are."""
        return [
            ("translation", Translation.objects.filter(test_set=thing).count()),
            ("preference result", PreferenceResult.objects.filter(test_set=thing).count()),
        ]

    def stop(self, thing: TestSet) -> None:
        """Cancel translations and preference analyses over it."""
        for row in Translation.objects.filter(test_set=thing, status__in=Translation.ACTIVE):
            translations.cancel(row)
        asked = TrainingJob.objects.filter(kind=PREFERENCES, status__in=TrainingJob.ACTIVE)
        for job in asked.filter(options__test_set=thing.slug):
            jobs.cancel(job)


TYPES = (Corpora(), Jobs(), Translations())
WITH_TEST_SET = WithTestSet()
