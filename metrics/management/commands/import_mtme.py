"""`manage.py import_mtme FOLDER`: an mt-metrics-eval folder with its human and metric scores."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError

from annotation.imports.drafts import described
from annotation.management.campaign_imports import add_study_arguments
from annotation.management.command_line import BaseCommand, write_problems
from annotation.uploads import Report
from core.commands import RefusedCommandError, refused_by
from core.text import pluralize
from metaeval.messages import message
from metrics import datasets
from metrics.datasets import EvaluationDraft, mtme
from metrics.management.commands.import_dataset import sentences

ALL = "all"
SHOWN = 100


class Command(BaseCommand):
    help = "Import a test set in the layout of mt-metrics-eval, with human and metric scores."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="folder of the test set, such as wmt22")
        parser.add_argument(
            "--language-pair", default="", help="such as en-de; the only one there is"
        )
        parser.add_argument("--all", action="store_true", help="every language pair of the folder")
        parser.add_argument(
            "--human", action="append", default=[], metavar="NAME", help="human scores; all"
        )
        parser.add_argument(
            "--metrics", nargs="*", default=[ALL], metavar="NAME", help="names, or none; all"
        )
        parser.add_argument(
            "--lower-is-better", nargs="*", default=[], metavar="NAME",
            help="metrics and human scores that are better when lower; inferred if not given",
        )  # fmt: skip
        parser.add_argument(
            "--higher-is-better", nargs="*", default=[], metavar="NAME",
            help="metrics and human scores that are better when higher",
        )  # fmt: skip
        parser.add_argument("--name", default="", help="name of the test set; the folder's")
        add_study_arguments(parser)
        parser.add_argument("--dry-run", action="store_true", help="check, store nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        choice = mtme.Choice(
            human=options["human"],
            metrics=None if options["metrics"] == [ALL] else options["metrics"],
            lower=options["lower_is_better"],
            higher=options["higher_is_better"],
            **{name: options[name] for name in ("name", "study", "question")},
        )
        try:
            root = mtme.find_root(options["folder"])
            pairs = (
                mtme.pairs_of(root)
                if options["all"]
                else mtme.choose_pairs(root, options["language_pair"])
            )
        except ValidationError as error:
            raise refused_by(error) from error
        failed = [
            pair for pair in pairs if not self._import(root, pair, choice, options["dry_run"])
        ]
        if options["dry_run"]:
            self.stdout.write("Dry run: nothing was stored.")
        if failed:
            raise RefusedCommandError(
                message("command.nothing-stored", "Nothing was stored of {names}.", names=failed)
            )

    def _import(self, root: Path, pair: str, choice: mtme.Choice, is_dry_run: bool) -> bool:
        """Check a language pair and store it; return whether that succeeded."""
        report = Report()
        draft = mtme.read(root, pair, report, choice)
        described([], vars(choice), report)
        if not report.errors:
            datasets.examine(draft, report)
        write_problems(self, report, SHOWN)
        if report.errors:
            return False
        self._describe(draft)
        if is_dry_run:
            return True
        try:
            for line in sentences(datasets.store(draft)):
                self.stdout.write(line)
        except ValidationError as error:
            self.stderr.write(" ".join(error.messages))
            return False
        return True

    def _describe(self, draft: EvaluationDraft) -> None:
        test_set = draft.test_set
        held = (
            pluralize(len(test_set.segments), "segment"),
            pluralize(len(test_set.systems), "system"),
            pluralize(len(draft.campaigns), "human score"),
            pluralize(len(draft.metrics), "metric"),
        )
        self.stdout.write(f"{test_set.slug}: {', '.join(held)}.")
