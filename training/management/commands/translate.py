"""`manage.py translate`: translate a test set to target lengths."""

import time
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError

from annotation.management.command_line import BaseCommand, find_test_set
from annotation.uploads.files import parse_ratio
from core.commands import RefusedCommandError, refused_by
from metaeval.messages import message
from training.management.commands.train import how_it_ended
from training.models import Translation
from training.translation.lengths import UNITS
from training.translation.requests import METHODS, OF
from training.translation.systems import starting, work
from training.translation.systems.starting import AUTO, Plan

POLL_SECONDS = 0.5


class Command(BaseCommand):
    help = "Translate a test set with a trained model or any checkpoint, and store the systems."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("test_set", metavar="TESTSET", help="slug of the test set")
        parser.add_argument("--system", required=True, help="name of the systems")
        parser.add_argument(
            "--model", required=True, metavar="JOB|CHECKPOINT",
            help="the number of a training, a name on the Hugging Face hub, or a directory",
        )  # fmt: skip
        parser.add_argument(
            "--ratio", action="append", metavar="RATIO",
            help="length ratio, 0.8 or 80%%; may be repeated; default 1",
        )  # fmt: skip
        parser.add_argument("--of", default="", choices=["", *OF], help="what the ratio refers to")
        parser.add_argument(
            "--unit", default="", choices=["", *UNITS], help="unit of lengths; default pieces"
        )
        parser.add_argument(
            "--method", default=AUTO, choices=[AUTO, *METHODS],
            help="auto: the length control of the model if it has one, else exact",
        )  # fmt: skip
        parser.add_argument("--beam", type=int, default=4)
        parser.add_argument(
            "--metric", default="", help="for n-best: the metric that ranks the outputs"
        )
        parser.add_argument(
            "--language-model",
            default="",
            metavar="CHECKPOINT",
            help="for extract: a causal language model",
        )
        parser.add_argument("--queue", default="gpu", choices=["gpu", "cpu"])
        parser.add_argument(
            "--dry-run", action="store_true", help="check the request and translate nothing"
        )
        place = parser.add_mutually_exclusive_group()
        place.add_argument("--wait", action="store_true", help="wait until a worker is done")
        place.add_argument(
            "--here", action="store_true", help="run in this process, without a worker"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            plan = self._plan(options)
        except ValidationError as error:
            raise refused_by(error) from error
        self._show(plan)
        if options["dry_run"]:
            self.stdout.write("Dry run: nothing was translated.")
            return
        rows = starting.start(plan, queue=options["queue"], here=options["here"])
        for row in rows:
            if options["here"]:
                self._here(row)
            elif options["wait"]:
                self._wait(row)

    def _plan(self, options: dict[str, Any]) -> Plan:
        test_set = find_test_set(options["test_set"])
        try:
            shares = [parse_ratio(text) for text in options["ratio"] or ["1"]]
        except ValueError as error:
            raise refused_by(error) from error
        fields = ("of", "unit", "method", "beam", "metric", "language_model")
        return starting.plan(
            test_set=test_set,
            name=options["system"],
            model=options["model"],
            shares=shares,
            given={field: options[field] for field in fields},
        )

    def _show(self, plan: Plan) -> None:
        for warning in plan.warnings:
            self.stderr.write(f"warning: {warning}")
        for name, request in zip(plan.labels, plan.requests, strict=True):
            wanted = f", {request.share} of the {request.of} in {request.unit}"
            length = wanted if request.asks_for_length else ""
            self.stdout.write(f"{name}: {plan.n_segments:,} segments, {request.method}{length}")

    def _here(self, row: Translation) -> None:
        try:
            work.work_here(row)
        except KeyboardInterrupt:
            starting.cancel(row)
            raise RefusedCommandError(
                message("command.translation-kept", "Interrupted. Translated texts are kept."),
                returncode=130,
            ) from None
        self._report(row)

    def _wait(self, row: Translation) -> None:
        try:
            while row.is_active:
                time.sleep(POLL_SECONDS)
                row.refresh_from_db()
        except KeyboardInterrupt:
            raise RefusedCommandError(
                message(
                    "command.goes-on",
                    "Interrupted. {name} continues on its worker.",
                    name=str(row.label),
                ),
                returncode=130,
            ) from None
        self._report(row)

    def _report(self, row: Translation) -> None:
        row.refresh_from_db()
        if row.status != Translation.Status.DONE:
            raise RefusedCommandError(*how_it_ended(row.label, row))
        lengths = row.result.get("lengths")
        deviation = (
            f" Mean deviation from the target length: {lengths['mean_deviation']:.4f}."
            if lengths
            else ""
        )
        self.stdout.write(f"Stored {row.label} in {row.test_set.slug}.{deviation}")
