"""`manage.py import_dataset wmt17`: published judgments and scores, as if collected here."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils.module_loading import import_string

from annotation import uploads
from annotation.imports import DATASETS, store_campaign


class Command(BaseCommand):
    help = "Import a published data set: its test sets, outputs, judgments and human scores."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", nargs="*", metavar="DATASET", help=", ".join(DATASETS))
        parser.add_argument("--all", action="store_true", help="import every data set")
        parser.add_argument(
            "--data", type=Path, default=settings.DATA_DIR, help="folder of the published files"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        names = list(DATASETS) if options["all"] else options["dataset"]
        if not names:
            listing = "\n".join(f"  {name}: {about}" for name, (about, _) in DATASETS.items())
            raise CommandError(f"Name a data set, or --all:\n{listing}")
        if unknown := sorted(set(names) - set(DATASETS)):
            raise CommandError(
                f"No data set {', '.join(unknown)}. There are: {', '.join(DATASETS)}."
            )
        for name in names:
            self._import(name, options["data"])

    def _import(self, name: str, folder: Path) -> None:
        try:
            with transaction.atomic():
                for test_set_draft, campaign_draft in import_string(DATASETS[name][1])(folder):
                    stored = uploads.store(test_set_draft)
                    self._say(store_campaign(campaign_draft, stored.test_set))
        except ValidationError as error:
            raise CommandError(f"{name}: {' '.join(error.messages)}") from error

    def _say(self, result: Any) -> None:
        campaign = result.campaign
        what = "imported" if result.is_new else "unchanged, it was stored already"
        self.stdout.write(
            f"{campaign.slug}: {result.n_items} items, {result.n_judgments} judgments, "
            f"{result.n_published} published scores: {what}."
        )
