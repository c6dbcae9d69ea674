"""What all commands of manage.py share."""

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.core.management import base
from django.core.management.base import CommandParser

from annotation.models import Campaign, TestSet
from annotation.uploads import InputFile, Report
from annotation.uploads.tables.skipping import HELP, KINDS, SKIP
from core.commands import RefusedCommandError, refused_by, refused_file
from core.work import kinds
from metaeval.messages import Message, message, plural, truncated
from metaeval.repeats import RepeatError, by_name, refuse_repeats

# Rows between two reports of progress.
EVERY = 50_000
# How many known names a refusal lists, and how many problems of a file are written.
SHOWN = 50


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


def add_check_arguments(parser: ArgumentParser) -> None:
    """Add the choice of rows that an import skips, by kind of problem, and the dry run."""
    parser.add_argument(
        "--skip", action="append", default=[], dest=SKIP, choices=list(KINDS), help=HELP
    )
    add_dry_run_argument(parser)


def add_dry_run_argument(parser: ArgumentParser) -> None:
    """Add the dry run of an import."""
    parser.add_argument(
        "--dry-run", action="store_true", help="check the files without storing anything"
    )


def write_problems(command: base.BaseCommand, report: Report, most: int | None = None) -> None:
    """Write the problems of files, at most a number of them."""
    for problem in report.problems[:most]:
        command.stderr.write(f"{problem.severity}: {problem}")
    if most is not None and len(report.problems) > most:
        command.stderr.write(f"… and {len(report.problems) - most} more")


def refuse_errors(*reports: Report) -> None:
    """Raise RefusedCommandError if errors prevent storing."""
    if n := sum(len(report.errors) for report in reports):
        raise RefusedCommandError(
            plural(
                "command.errors",
                "{n} error; nothing was stored.",
                "{n} errors; nothing was stored.",
                n=n,
            )
        )


def is_dry_run(command: base.BaseCommand, options: Mapping[str, Any]) -> bool:
    """Return whether nothing is to be stored, and say so then."""
    if options["dry_run"]:
        command.stdout.write("Dry run: nothing was stored.")
    return bool(options["dry_run"])


def find_test_set(slug: str) -> TestSet:
    """Return a stored test set. Raises RefusedCommandError, which lists those that there are."""
    found = TestSet.objects.filter(slug=slug).first()
    if found is None:
        raise RefusedCommandError(
            message("command.no-test-set", "There is no test set “{slug}”.", slug=slug),
            known_names(TestSet.objects.values_list("slug", flat=True)),
        )
    return found


def find_campaign(slug: str) -> Campaign:
    """Return a campaign with its test set. Raises RefusedCommandError if there is none."""
    found = Campaign.objects.select_related("test_set").filter(slug=slug).first()
    if found is None:
        raise RefusedCommandError(
            message("command.no-campaign", "There is no campaign “{slug}”.", slug=slug)
        )
    return found


def known_names(names: Iterable[str]) -> Message:
    """Return the second sentence of a refusal of a name: which there are."""
    shown = truncated(list(names), SHOWN)
    if not shown:
        return message("command.none-known", "There are none.")
    return message("command.known", "Known: {names}.", names=shown)


def opened(path: Path) -> InputFile:
    """Return a file. Raises RefusedCommandError if it cannot be read."""
    try:
        return InputFile.at(path)
    except OSError as error:
        raise refused_file(path, error) from error


def values_of(arguments: Iterable[str]) -> dict[str, str]:
    """Return the values of options such as `COLUMN=FIELD`. Raises RefusedCommandError."""
    pairs = [argument.rpartition("=") for argument in arguments]
    for left, mark, right in pairs:
        if not mark or not left.strip():
            raise RefusedCommandError(
                message(
                    "command.pair",
                    "“{text}”: write COLUMN=FIELD or METRIC=NAME.",
                    text=f"{left}{mark}{right}",
                )
            )
    return values_by_name((left.strip(), right.strip()) for left, _, right in pairs)


def values_by_name(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the values of NAME=VALUE options; RefusedCommandError for a name given twice."""
    try:
        return by_name(pairs)
    except RepeatError as error:
        raise refused_by(error) from error
