"""Translations as background jobs (`core.work`): texts first, the system at the end.

Texts are stored as they are translated, and a worker that resumes translates the rest. The test
set gets the outputs when all are complete.
"""

import logging
from collections.abc import Iterator
from importlib.util import find_spec

from django.db.models import QuerySet

from core.work.claims import fail, give_back
from core.work.kinds import Lease, WorkKind, unexpected
from core.work.models import Now
from core.work.working import do_one
from metaeval.messages import Message
from metrics.base import MetricError
from metrics.stock import inventory
from training.contract import JobError, StoppedError
from training.jobs.work import missing_checkpoint, missing_package, store_lacks
from training.models import Translation

logger = logging.getLogger(__name__)
PACKAGES = ("torch", "transformers", "sentencepiece")


class Translations(WorkKind[Translation]):
    """Translations of test sets."""

    name = "translation"
    model = Translation
    max_attempts = 5
    soft_seconds = hard_seconds = None
    # Longer than loading a checkpoint or translating a batch.
    hang_seconds = 3600.0
    is_long = True

    def fit(self, rows: QuerySet[Translation]) -> QuerySet[Translation]:
        """Exclude those of commands, and those for which this host lacks something."""
        ours = rows.filter(is_here=False)
        return ours.exclude(pk__in=[row.pk for row in ours if store_lacks(row, list(lacking(row)))])

    def do(self, row: Translation, lease: Lease) -> None:
        """Translate; JobError and MetricError end the translation with their message."""
        from training.translation.systems import translating

        try:
            translating.translate(row, lease)
        except StoppedError:
            give_back(row)
        except (JobError, MetricError) as error:
            fail(row, error.message)

    def failed(self, row: Translation, error: Exception) -> None:
        """Fail: the same error would occur again."""
        fail(row, unexpected(error))

    def ended(self, row: Translation) -> None:
        """Record when it ended."""
        Translation.objects.filter(pk=row.pk).update(finished_at=Now())


translations = Translations()


def lacking(row: Translation) -> Iterator[Message]:
    """Yield what this host lacks for a translation, with the command that would fix it."""
    for package in PACKAGES:
        if find_spec(package) is None:
            yield missing_package(package)
    for name in (row.model, row.request.get("language_model")):
        if name and inventory.fetched(name) is None:
            yield missing_checkpoint(name)


def work_here(row: Translation) -> None:
    """Translate in the process of the command that started it."""
    do_one(translations, Translation.objects.filter(pk=row.pk, is_here=True))
