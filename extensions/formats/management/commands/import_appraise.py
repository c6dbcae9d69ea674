"""`manage.py import_appraise batches.json manifest.json`: import a campaign of Appraise."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.management.campaign_imports import add_campaign_arguments, encodings_of, finish
from annotation.management.command_line import BaseCommand, opened
from annotation.uploads import Report
from extensions.formats import appraise


class Command(BaseCommand):
    help = (
        "Import Appraise batches and a manifest as a draft, or with scores as a finished campaign."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("batches", type=Path, help="JSON list of tasks")
        parser.add_argument("manifest", type=Path, help="JSON manifest of the campaign")
        parser.add_argument("--scores", type=Path, help="CSV of exported scores, without header")
        parser.add_argument(
            "--name", default="", help="name of the campaign; default: that of the manifest"
        )
        add_campaign_arguments(parser)
        parser.add_argument(
            "--unmatched",
            choices=appraise.UNMATCHED,
            default="",
            help="whether check items that repeat no target of their task are imported as targets "
            "or skipped; default: they are an error",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        report = Report()
        report.chosen = {"": encodings_of(options)}
        scores = options["scores"]
        drafts = appraise.read(
            opened(options["batches"]),
            opened(options["manifest"]),
            report,
            scores=opened(scores) if scores else None,
            name=options["name"],
            ends=options["ends"],
            unmatched=options["unmatched"],
        )
        finish(self, drafts, report, options)
