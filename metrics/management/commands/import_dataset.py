"""`manage.py import_dataset wmt17`: published judgments and scores, as if collected here."""

from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError

from annotation.imports import Pair
from annotation.imports.drafts import described
from annotation.management.campaign_imports import add_study_arguments
from annotation.management.command_line import BaseCommand, refuse_errors, write_problems
from annotation.uploads import Report
from core.commands import RefusedCommandError, refused_by
from core.messages import messages_of
from core.text import pluralize
from metaeval.messages import Message, message
from metrics import datasets
from metrics.datasets import DATASETS, Stored


class Command(BaseCommand):
    help = "Import a published data set: its test sets, outputs, judgments and scores."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", nargs="*", metavar="DATASET", help=", ".join(DATASETS))
        parser.add_argument("--all", action="store_true", help="import every data set")
        parser.add_argument("--pair", default="", help="one language pair, such as zh-en")
        add_study_arguments(parser)
        parser.add_argument(
            "--data", type=Path, default=settings.DATA_DIR, help="folder of the published files"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        names = list(DATASETS) if options["all"] else options["dataset"]
        if not names:
            for name, each in DATASETS.items():
                self.stdout.write(f"{name}: {each.about}")
            raise RefusedCommandError(
                message("command.no-data-set", "Name a data set of this list, or use --all.")
            )
        try:
            wanted = [datasets.find(name) for name in names]
        except ValidationError as error:
            raise refused_by(error) from error
        report = Report()
        described([], options, report)
        write_problems(self, report)
        refuse_errors(report)
        done, failed = self._import_all(wanted, options)
        if len(wanted) > 1:
            self.stdout.write(f"Imported: {', '.join(done) or 'nothing'}.")
        if failed:
            for name, reasons in failed.items():
                self.stderr.write(f"{name}: {' '.join(map(str, reasons))}")
            raise RefusedCommandError(
                message("command.not-imported", "Not imported: {names}.", names=list(failed)),
                *(each for reasons in failed.values() for each in reasons),
            )

    def _import_all(
        self, wanted: list[tuple[str, str]], options: dict[str, Any]
    ) -> tuple[list[str], dict[str, list[Message]]]:
        """Import all sets; continue after invalid ones. Return imported and failed sets."""
        done: list[str] = []
        failed: dict[str, list[Message]] = {}
        for name, own in wanted:
            try:
                found = datasets.pairs(name, options["data"], options["pair"] or own)
            except ValidationError as error:
                failed[name] = messages_of(error)
                continue
            for each in found:
                label = f"{name} {each.name}"
                try:
                    self._import(name, each, options)
                    done.append(label)
                except ValidationError as error:
                    failed[label] = messages_of(error)
        return done, failed

    def _import(self, name: str, pair: Pair, options: dict[str, Any]) -> None:
        for draft in datasets.read(name, pair):
            own = described([(draft.test_set, each) for each in draft.campaigns], options, Report())
            draft = replace(draft, campaigns=[campaign for _, campaign in own])
            for line in sentences(datasets.store(draft)):
                self.stdout.write(line)


def sentences(stored: Stored) -> Iterator[str]:
    """Return what was stored, one line per campaign and one for the metrics."""
    for each in stored.campaigns:
        what = "imported" if each.is_new else "unchanged, it was stored already"
        yield f"{each.campaign.slug}: {', '.join(map(str, each.contents))}: {what}."
    if stored.metrics:
        new = sum(outcome.row is not None for outcome in stored.metrics)
        metrics = pluralize(len(stored.metrics), "metric")
        yield f"{stored.test_set.slug}: scores of {metrics}, {new} of them new."
    if not stored.campaigns and not stored.metrics:
        yield f"{stored.test_set.slug}: {pluralize(stored.changes.outputs_added, 'output')} added."
