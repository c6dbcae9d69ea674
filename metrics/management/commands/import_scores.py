"""`manage.py import_scores`: metric scores that were computed elsewhere, from files on disk."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from annotation.management.command_line import BaseCommand, values_by_name
from annotation.models import TestSet
from annotation.uploads import InputFile
from annotation.uploads.tables.lines import LINES, LINES_HELP
from core.text import pluralize
from metrics.imported.checking import Checked, bring_in, check
from metrics.imported.choices import FIELDS, Choices
from metrics.imported.storing import summary

SHOWN = 50


class Command(BaseCommand):
    help = "Import scores of metrics that were computed elsewhere; they are shown, and never run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("test_set", help="slug of the test set")
        parser.add_argument(
            "files", nargs="+", type=Path, metavar="FILE",
            help="TSV, CSV, XLSX, Parquet or JSON, or NAME.seg.score and NAME.sys.score of "
            "mt-metrics-eval",
        )  # fmt: skip
        parser.add_argument(
            "--metric", action="append", default=[], metavar="NAME",
            help="import this metric alone, may be repeated; of a table with scores and no names "
            "their name",
        )  # fmt: skip
        parser.add_argument(
            "--column", action="append", default=[], metavar="COLUMN=FIELD",
            help=f"what a column holds: {', '.join(field.name for field in FIELDS)}, or nothing "
            "of these",
        )  # fmt: skip
        parser.add_argument(
            "--name", action="append", default=[], metavar="METRIC=NAME",
            help="call a metric of the files otherwise",
        )  # fmt: skip
        parser.add_argument(
            "--lower-is-better", action="append", default=[], metavar="METRIC",
            help="a metric of the files that is better when lower, such as an error rate; inferred "
            "from name and signs if not given, and said",
        )  # fmt: skip
        parser.add_argument(
            "--higher-is-better", action="append", default=[], metavar="METRIC",
            help="a metric of the files that is better when higher",
        )  # fmt: skip
        parser.add_argument(
            "--skip-unknown", action="store_true",
            help="skip rows of systems and segments that the test set does not have",
        )  # fmt: skip
        parser.add_argument("--system", help="whose scores these are, where the files do not say")
        parser.add_argument("--lines", choices=LINES, default="", help=LINES_HELP)
        parser.add_argument("--note", default="", help="whence the scores come, in a sentence")
        parser.add_argument("--dry-run", action="store_true", help="check, store nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        test_set = TestSet.objects.filter(slug=options["test_set"]).first()
        if test_set is None:
            raise CommandError(f"There is no test set {options['test_set']!r}.")
        files = [opened(path) for path in options["files"]]
        checked = check(test_set, files, _choices(options))
        self._report(checked)
        if checked.report.errors:
            raise CommandError(
                f"{pluralize(len(checked.report.errors), 'error')}; nothing was stored."
            )
        if options["dry_run"]:
            self.stdout.write("Dry run: nothing was stored.")
            return
        try:
            self.stdout.write(str(summary(bring_in(checked, provenance=options["note"]))))
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error

    def _report(self, checked: Checked) -> None:
        problems = checked.report.problems
        for problem in problems[:SHOWN]:
            self.stderr.write(f"{problem.severity}: {problem}")
        if len(problems) > SHOWN:
            self.stderr.write(f"… and {len(problems) - SHOWN} more")
        for found in checked.metrics:
            state = str(found.plan.message) if found.plan else "–" if found.is_taken else "skipped"
            self.stdout.write(
                f"  {found.name}: {found.n_outputs:,} of {checked.n_outputs:,} outputs, "
                f"{pluralize(found.n_systems, 'system')}, {found.n_missing:,} without a score; "
                f"{state}"
            )


def _choices(options: dict[str, Any]) -> Choices:
    names = options["metric"]
    return Choices(
        columns=values_by_name(map(_pair, options["column"])),
        metrics=tuple(names) or None,
        metric=names[0] if len(names) == 1 else "",
        names=values_by_name(map(_pair, options["name"])),
        lower=frozenset(options["lower_is_better"]),
        higher=frozenset(options["higher_is_better"]),
        skips_unknown=options["skip_unknown"],
        lines=options["lines"],
        system=options["system"] or "",
    )


def _pair(text: str) -> tuple[str, str]:
    left, mark, right = text.rpartition("=")
    if not mark:
        raise CommandError(f"“{text}”: write COLUMN=FIELD or METRIC=NAME.")
    return left.strip(), right.strip()


def opened(path: Path) -> InputFile:
    """Return a file that a command names; CommandError where it cannot be read."""
    try:
        return InputFile.at(path)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}.") from error
