"""`manage.py import_scores`: metric scores that were computed elsewhere, from files on disk."""

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.management.command_line import (
    SHOWN,
    BaseCommand,
    add_check_arguments,
    find_test_set,
    is_dry_run,
    opened,
    refuse_errors,
    values_of,
    write_problems,
)
from annotation.models import TestSet
from annotation.uploads import Place, Report
from annotation.uploads.tables.lines import LINES, LINES_HELP
from annotation.uploads.tables.pairs import Pair
from annotation.uploads.tables.skipping import SKIP
from core.commands import refused_by
from core.text import pluralize
from metaeval.messages import message
from metrics.imported.checking import Checked, bring_in, check
from metrics.imported.files import FIELDS, Choices
from metrics.imported.storing import summary

# Metrics with the same facts that are listed one by one.
LISTED = 10


class Command(BaseCommand):
    help = "Import scores of metrics that were computed elsewhere; they are shown, and never run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_test_set_arguments(parser)
        parser.add_argument(
            "files", nargs="+", type=Path, metavar="FILE",
            help="TSV, CSV, XLSX, ODS, Parquet or JSON, or NAME.seg.score and NAME.sys.score of "
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
        parser.add_argument("--system", help="whose scores these are, where the files do not say")
        parser.add_argument("--lines", choices=LINES, default="", help=LINES_HELP)
        parser.add_argument("--note", default="", help="whence the scores come, in a sentence")
        add_check_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        files = [opened(path) for path in options["files"]]
        names = options["metric"]
        choices = Choices(
            columns=values_of(options["column"]),
            metrics=tuple(names) or None,
            metric=names[0] if len(names) == 1 else "",
            names=values_of(options["name"]),
            lower=frozenset(options["lower_is_better"]),
            higher=frozenset(options["higher_is_better"]),
            skip=frozenset(options[SKIP]),
            lines=options["lines"],
            system=options["system"] or "",
        )
        found = [check(each, files, choices) for each in test_sets(options)]
        take_apart({each.test_set: (each.reading.pairs, each.report) for each in found})
        for each in found:
            self._report(each)
        refuse_errors(*(each.report for each in found))
        if is_dry_run(self, options):
            return
        try:
            with transaction.atomic():
                for each in found:
                    outcomes = bring_in(each, provenance=options["note"])
                    self.stdout.write(f"{each.test_set.slug}: {summary(outcomes)}")
        except ValidationError as error:
            raise refused_by(error) from error

    def _report(self, checked: Checked) -> None:
        write_problems(self, checked.report, SHOWN)
        by_facts: dict[str, list[str]] = {}
        for found in checked.metrics:
            state = str(found.becomes) if found.becomes else "–" if found.is_taken else "skipped"
            parts = f"{found.n_parts:,} of documents and domains, " if found.n_parts else ""
            facts = (
                f"{found.n_outputs:,} of {checked.n_outputs:,} outputs, "
                f"{pluralize(found.n_systems, 'system')}, {parts}"
                f"{found.n_missing:,} without a score; {state}"
            )
            by_facts.setdefault(facts, []).append(found.name)
        self.stdout.write(f"{checked.test_set.slug}:")
        for facts, names in by_facts.items():
            if len(names) > LISTED:
                names = [f"{len(names)} metrics, {names[0]} to {names[-1]}"]
            for name in names:
                self.stdout.write(f"  {name}: {facts}")


def add_test_set_arguments(parser: ArgumentParser) -> None:
    """Add the test sets that an import of scores or spans is for."""
    parser.add_argument("test_set", help="slug of the test set")
    parser.add_argument(
        "--also", action="append", default=[], metavar="TESTSET",
        help="a further test set; of files with several language pairs each takes its own rows",
    )  # fmt: skip


def test_sets(options: dict[str, Any]) -> list[TestSet]:
    """Return the test sets that options name; RefusedCommandError where there is none."""
    return [find_test_set(slug) for slug in (options["test_set"], *options["also"])]


def take_apart(found: Mapping[TestSet, tuple[Iterable[Pair], Report]]) -> None:
    """Withdraw the warnings about rows of other pairs if one of the test sets takes every row.

    Otherwise name the option that adds test sets. `found` has, by test set, the language pairs of
    the rows and the report of the check.
    """
    taken = {(each.source_language, each.target_language) for each in found}
    for pairs, report in found.values():
        if taken.issuperset(pairs):
            report.problems = [p for p in report.problems if p.code != "pair.of-other-test-sets"]
        elif any(p.code == "pair.of-other-test-sets" for p in report.problems):
            report.note(
                message("command.also", "Name the test sets of other pairs by --also."), Place()
            )
