"""`touchstone restore FILE`: an empty site becomes the one that was saved."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.management.command_line import BaseCommand
from config.backups import BackupError, restore
from core.commands import refused_by


class Command(BaseCommand):
    help = "Restore what `backup` saved, into an empty database and empty folders."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="file that `touchstone backup` wrote")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = restore(options["file"])
        except BackupError as error:
            raise refused_by(error) from error
        self.stdout.write(f"Restored the site as it was at {manifest['made_at']}.")
        if manifest["version"] != settings.VERSION:
            self.stdout.write(
                f"It was made by version {manifest['version']}. "
                f"Run `touchstone manage migrate` before you start version {settings.VERSION}."
            )
