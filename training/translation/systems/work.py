"""Translations as work (`core.work`): texts are stored as they come, the system at the end.

A worker that takes one up again goes on with what is not there yet. No output is stored in the test
set before all are there.
"""

import logging
from collections.abc import Iterator
from importlib.util import find_spec

from django.db.models import QuerySet

from core.work.claims import fail, give_back
from core.work.kinds import Lease, WorkKind
from core.work.models import Now
from core.work.working import do_one
from metrics.base import MetricError
from metrics.stock import hosts, inventory
from training.contract import JobError, StoppedError
from training.jobs.work import INSTALL, tell
from training.models import Translation

logger = logging.getLogger(__name__)
PACKAGES = ("torch", "transformers", "sentencepiece")


class Translations(WorkKind[Translation]):
    """Test sets that are translated."""

    name = "translation"
    model = Translation
    max_attempts = 5
    soft_seconds = hard_seconds = None
    # Longer than a checkpoint takes to load, or a batch.
    hang_seconds = 3600.0
    is_long = True

    def fit(self, rows: QuerySet[Translation]) -> QuerySet[Translation]:
        """Leave out those of commands, and those for which this host lacks something."""
        ours = rows.filter(is_here=False)
        return ours.exclude(pk__in=[row.pk for row in ours if tell(row, list(lacking(row)))])

    def do(self, row: Translation, lease: Lease) -> None:
        """Translate; what cannot be translated ends it with a sentence."""
        from training.translation.systems import translating

        try:
            translating.translate(row, lease)
        except StoppedError:
            give_back(row)
        except JobError as error:
            fail(row, str(error))
        except MetricError as error:
            fail(row, error.message)

    def failed(self, row: Translation, error: Exception) -> None:
        """Whatever it was would come again."""
        fail(row, f"{type(error).__name__}: {error}")

    def ended(self, row: Translation) -> None:
        """Note when."""
        Translation.objects.filter(pk=row.pk).update(finished_at=Now())


translations = Translations()


def lacking(row: Translation) -> Iterator[str]:
    """Say what this host lacks for a translation: a sentence with the command for each."""
    for package in PACKAGES:
        if find_spec(package) is None:
            yield f"The package {package} is not installed: {INSTALL}"
    for name in (row.model, row.request.get("language_model")):
        if name and inventory.find(name) is None:
            yield f"The checkpoint {name} is missing: {hosts.fetch_command(name)}"


def work_here(row: Translation) -> None:
    """Translate in the process of the command that asked."""
    do_one(translations, Translation.objects.filter(pk=row.pk, is_here=True))
