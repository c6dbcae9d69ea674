"""`manage.py add_judge_template FILE`: a template of a judge, as the page takes it."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError

from annotation.management.command_line import BaseCommand
from core.commands import refused_by, refused_file
from extensions.judges import templates
from metaeval.messages import DataError


class Command(BaseCommand):
    help = "Store the template of a judge from a JSON file, the first or a further version."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="JSON; see docs/judges.md")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            stored = templates.add(**templates.read(path.name, path.read_bytes()))
        except OSError as error:
            raise refused_file(path, error) from error
        except (ValidationError, DataError) as error:
            raise refused_by(error) from error
        self.stdout.write(f"Saved {stored.key}.")
