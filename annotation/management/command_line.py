"""What all commands of manage.py share."""

from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management import base
from django.core.management.base import CommandError, CommandParser

from annotation.uploads.tables.skipping import HELP, KINDS, SKIP
from core.work import kinds
from metaeval.repeats import by_name, refuse_repeats

# Rows between two reports of progress.
EVERY = 50_000


class BaseCommand(base.BaseCommand):
    """A command that refuses an option with one value where it is given twice."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Return the parser of the command line."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        refuse_repeats(parser)
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command, and say on stderr how far it has come with large files."""
        with kinds.heard(self._say_progress):
            return super().execute(*args, **options)

    def _say_progress(self, stage: str, done: int, total: int) -> None:
        if done and done % EVERY == 0:
            self.stderr.write(f"{stage}: {done:,} of {total:,} rows", str)


def add_skip_argument(parser: ArgumentParser) -> None:
    """Add the choice of rows that an import skips, by kind of problem."""
    parser.add_argument(
        "--skip", action="append", default=[], dest=SKIP, choices=list(KINDS), help=HELP
    )


def values_by_name(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the values of NAME=VALUE options; CommandError for a name given twice."""
    try:
        return by_name(pairs)
    except ValueError as error:
        raise CommandError(str(error)) from error
