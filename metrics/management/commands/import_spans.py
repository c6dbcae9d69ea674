"""`manage.py import_spans`: error spans that were found elsewhere, from files on disk."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from annotation.management.command_line import BaseCommand
from annotation.models import TestSet
from core.text import pluralize
from metrics.management.commands.import_scores import SHOWN, opened
from metrics.spans.importing import Checked, check, store

ENDS = {"included": True, "excluded": False}


class Command(BaseCommand):
    help = "Import error spans of a metric that ran elsewhere; they are shown beside its scores."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("test_set", help="slug of the test set")
        parser.add_argument(
            "files", nargs="+", type=Path, metavar="FILE",
            help="a row a span or an output, TSV, CSV, XLSX, Parquet or JSON",
        )  # fmt: skip
        parser.add_argument("--name", required=True, help="the metric that found them")
        parser.add_argument(
            "--ends", choices=list(ENDS),
            help="whether an end is the last character of a span (included) or the position after "
            "it (excluded). Without this option nothing is stored, and the command says which "
            "reading ends at the ends of words",
        )  # fmt: skip
        parser.add_argument("--dry-run", action="store_true", help="check, store nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        test_set = TestSet.objects.filter(slug=options["test_set"]).first()
        if test_set is None:
            raise CommandError(f"There is no test set {options['test_set']!r}.")
        files = [opened(path) for path in options["files"]]
        checked = check(test_set, files, options["name"], ENDS.get(options["ends"]))
        self._tell(checked)
        if n := len(checked.report.errors):
            raise CommandError(f"{pluralize(n, 'error')}; nothing was stored.")
        if options["dry_run"]:
            self.stdout.write("Dry run: nothing was stored.")
            return
        try:
            outcome = store(checked)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        is_new = outcome.row is not None
        self.stdout.write("Imported." if is_new else "Nothing changed: these are stored already.")

    def _tell(self, checked: Checked) -> None:
        problems = checked.report.problems
        for problem in problems[:SHOWN]:
            self.stderr.write(f"{problem.severity}: {problem}")
        if len(problems) > SHOWN:
            self.stderr.write(f"… and {len(problems) - SHOWN} more")
        kinds = ", ".join(f"{n:,} {kind or 'without'}" for kind, n in checked.severities.items())
        self.stdout.write(
            f"  {checked.name}: {pluralize(checked.n_spans, 'span')} of "
            f"{pluralize(len(checked.spans), 'output')}, {checked.n_clean:,} without one"
            + (f"; severities: {kinds}" if kinds else "")
        )
