"""`manage.py import_parallel`: clean and store parallel text from files on disk."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import DatabaseError

from annotation.forms.uploads import LanguageField
from annotation.management.command_line import BaseCommand
from core import disk
from core.commands import NOTHING_STORED, RefusedCommandError, refused_by, refused_file
from metaeval.messages import message
from training.forms import RESERVED
from training.parallel import corpora
from training.parallel.reading import (
    Languages,
    ParallelError,
    Row,
    clean,
    read_moses,
    read_pairs,
    reason_of,
)

SIDES = "source", "target"


class Command(BaseCommand):
    help = "Import parallel text: one file of pairs, or two files with one side each."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "name", metavar="NAME", help="name of the corpus in addresses and commands"
        )
        parser.add_argument(
            "file", metavar="FILE", type=Path, help="TSV, or lines source ||| target"
        )
        parser.add_argument("target", metavar="FILE2", type=Path, nargs="?", help="target side")
        parser.add_argument("--source-language", required=True)
        parser.add_argument("--target-language", required=True)
        parser.add_argument(
            "--dry-run", action="store_true", help="check the files and store nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["name"] in RESERVED:
            raise RefusedCommandError(
                message(
                    "command.reserved",
                    "{name} is the address of a page. Choose another name.",
                    name=options["name"],
                )
            )
        language = LanguageField()
        try:
            source, target = (language.clean(options[f"{side}_language"]) for side in SIDES)
            rows = _read(options["file"], options["target"], (source, target))
            self._report(rows)
            if options["dry_run"]:
                self.stdout.write("Dry run: nothing was stored.")
                return
            corpus = corpora.add(
                name=options["name"],
                source_language=source,
                target_language=target,
                rows=rows,
            )
        except ParallelError as error:
            raise refused_by(error) from error
        except ValidationError as error:
            raise refused_by(error) from error
        except DatabaseError as error:
            problem = disk.refusal(error, Path(settings.VAR_DIR))
            if problem is None:
                raise
            raise RefusedCommandError(problem, NOTHING_STORED) from error
        self.stdout.write(f"Stored {corpus.name} with {corpus.n_pairs:,} pairs.")

    def _report(self, rows: list[Row]) -> None:
        _, report = clean(rows)
        self.stdout.write(f"Read {report.read:,} pairs, {report.usable:,} are usable.")
        for reason, n in report.left_out.items():
            places = ", ".join(report.examples[reason])
            self.stderr.write(f"  excluded, {reason_of(reason)}: {n:,}, such as {places}")


def _read(file: Path, target: Path | None, languages: Languages) -> list[Row]:
    if target is None:
        return read_pairs(file.name, _content(file), languages)
    return read_moses((file.name, _content(file)), (target.name, _content(target)))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise refused_file(path, error) from error
