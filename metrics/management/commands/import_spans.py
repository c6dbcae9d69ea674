"""`manage.py import_spans`: error spans that were found elsewhere, from files on disk."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.management.command_line import (
    BaseCommand,
    add_skip_argument,
    errors_found,
    opened,
    values_by_name,
)
from annotation.uploads.tables.skipping import SKIP
from core.commands import refused_by
from core.text import pluralize
from metrics.imported.files import Choices
from metrics.management.commands.import_scores import (
    SHOWN,
    add_test_set_arguments,
    column_and_field,
    test_sets,
)
from metrics.spans.importing import Checked, check, store
from metrics.spans.tables import FIELDS

ENDS = {"included": True, "excluded": False}


class Command(BaseCommand):
    help = "Import error spans of a metric that ran elsewhere; they are shown beside its scores."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_test_set_arguments(parser)
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
        parser.add_argument(
            "--column", action="append", default=[], metavar="COLUMN=FIELD",
            help=f"what a column holds: {', '.join(field.name for field in FIELDS)}, or nothing "
            "of these",
        )  # fmt: skip
        add_skip_argument(parser)
        parser.add_argument("--dry-run", action="store_true", help="check, store nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        files = [opened(path) for path in options["files"]]
        columns = values_by_name(map(column_and_field, options["column"]))
        choices = Choices(columns=columns, skip=frozenset(options[SKIP]))
        ends = ENDS.get(options["ends"])
        found = [
            check(each, files, options["name"], ends, choices=choices)
            for each in test_sets(options)
        ]
        for each in found:
            self._tell(each)
        if n := sum(len(each.report.errors) for each in found):
            raise errors_found(n)
        if options["dry_run"]:
            self.stdout.write("Dry run: nothing was stored.")
            return
        try:
            with transaction.atomic():
                outcomes = [store(each) for each in found]
        except ValidationError as error:
            raise refused_by(error) from error
        for outcome in outcomes:
            is_new = outcome.row is not None
            self.stdout.write(
                "Imported." if is_new else "Nothing changed: these are stored already."
            )

    def _tell(self, checked: Checked) -> None:
        problems = checked.report.problems
        for problem in problems[:SHOWN]:
            self.stderr.write(f"{problem.severity}: {problem}")
        if len(problems) > SHOWN:
            self.stderr.write(f"… and {len(problems) - SHOWN} more")
        kinds = ", ".join(f"{n:,} {kind or 'without'}" for kind, n in checked.severities.items())
        self.stdout.write(
            f"  {checked.name}: {pluralize(checked.n_spans, 'span')} of "
            f"{pluralize(checked.n_checked, 'output')}, {checked.n_clean:,} without one"
            + (f"; severities: {kinds}" if kinds else "")
        )
