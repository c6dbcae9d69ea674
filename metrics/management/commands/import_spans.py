"""`manage.py import_spans`: error spans that were found elsewhere, from files on disk."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.management.command_line import (
    SHOWN,
    BaseCommand,
    add_check_arguments,
    is_dry_run,
    opened,
    refuse_errors,
    values_of,
    write_problems,
)
from annotation.uploads.tables.skipping import SKIP
from core.commands import refused_by
from core.text import pluralize
from metrics.imported.files import Choices
from metrics.management.commands.import_scores import (
    add_test_set_arguments,
    take_apart,
    test_sets,
)
from metrics.spans.doors import ENDS_INCLUDED
from metrics.spans.importing import Checked, check, store
from metrics.spans.tables import FIELDS


class Command(BaseCommand):
    help = "Import error spans of a metric that ran elsewhere; they are shown beside its scores."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_test_set_arguments(parser)
        parser.add_argument(
            "files", nargs="+", type=Path, metavar="FILE",
            help="a row a span or an output, TSV, CSV, XLSX, ODS, Parquet or JSON",
        )  # fmt: skip
        parser.add_argument("--name", required=True, help="the metric that found them")
        parser.add_argument(
            "--ends", choices=list(ENDS_INCLUDED),
            help="whether an end is the last character of a span (included) or the position after "
            "it (excluded). Without this option nothing is stored, and the command says which "
            "reading ends at the ends of words",
        )  # fmt: skip
        parser.add_argument(
            "--column", action="append", default=[], metavar="COLUMN=FIELD",
            help=f"what a column holds: {', '.join(field.name for field in FIELDS)}, or nothing "
            "of these",
        )  # fmt: skip
        add_check_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        files = [opened(path) for path in options["files"]]
        choices = Choices(columns=values_of(options["column"]), skip=frozenset(options[SKIP]))
        ends = ENDS_INCLUDED.get(options["ends"])
        found = [
            check(each, files, options["name"], ends, choices=choices)
            for each in test_sets(options)
        ]
        take_apart({each.test_set: (each.pairs, each.report) for each in found})
        for each in found:
            self._tell(each)
        refuse_errors(*(each.report for each in found))
        if is_dry_run(self, options):
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
        write_problems(self, checked.report, SHOWN)
        kinds = ", ".join(f"{n:,} {kind or 'without'}" for kind, n in checked.severities.items())
        self.stdout.write(
            f"  {checked.name}: {pluralize(checked.n_spans, 'span')} of "
            f"{pluralize(checked.n_checked, 'output')}, {checked.n_clean:,} without one"
            + (f"; severities: {kinds}" if kinds else "")
        )
