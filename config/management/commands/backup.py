"""`touchstone backup FILE`: save a site while people work."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.management.command_line import BaseCommand
from config.backups import BackupError, save
from core.commands import refused_by, refused_file


class Command(BaseCommand):
    help = "Save database, uploads, recordings, trained models and secret key in one file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="file to write, such as site.tar.gz")

    def handle(self, *args: Any, **options: Any) -> None:
        path = options["file"]
        try:
            save(path)
        except BackupError as error:
            raise refused_by(error) from error
        except OSError as error:
            raise refused_file(path, error) from error
        self.stdout.write(
            f"Saved {path} ({path.stat().st_size / 1e6:.1f} MB).\n"
            "Keep it as safe as a password: it has the secret key, every judgment and the names "
            "of annotators."
        )
