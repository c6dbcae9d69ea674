"""`manage.py import_pearmut campaign.json`: a campaign of Pearmut as a draft."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.imports import pearmut
from annotation.management.command_line import BaseCommand
from annotation.management.commands.import_appraise import add_study_arguments, finish, opened
from annotation.uploads import Report
from core import languages


class Command(BaseCommand):
    help = "Import a campaign file of Pearmut as a draft, or with its log as a finished one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", type=Path, help="JSON file of the campaign")
        parser.add_argument("--source-language", required=True, help="such as en")
        parser.add_argument("--target-language", required=True)
        parser.add_argument("--name", default="", help="name here; the campaign_id if not given")
        add_study_arguments(parser)
        parser.add_argument(
            "--ends",
            choices=("included", "excluded"),
            default="",
            help="whether ends of errors marked beforehand are; as the words say if not given",
        )
        parser.add_argument(
            "--breaks",
            choices=("counted", "uncounted"),
            default="",
            help="whether offsets count line breaks (Pearmut from 1.1.5 on does); as the marks of "
            "what is missing say if not given",
        )
        parser.add_argument(
            "--log", type=Path, help="its answers, JSONL or a download: the campaign is finished"
        )
        parser.add_argument(
            "--media", type=Path, nargs="+", action="extend", default=[],
            help="recordings and pictures that segments name, or ZIP archives of them",
        )  # fmt: skip
        parser.add_argument("--dry-run", action="store_true", help="check, store nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        report = Report()
        try:
            source, target = (
                languages.find(options[f"{side}_language"]) for side in ("source", "target")
            )
        except ValueError as error:
            raise CommandError(str(error)) from error
        drafts = pearmut.read(
            opened(options["campaign"]),
            report,
            source_language=source,
            target_language=target,
            name=options["name"],
            ends=options["ends"],
            breaks=options["breaks"],
            log=opened(options["log"]) if options["log"] else None,
            media=[opened(path) for path in options["media"]],
        )
        finish(self, drafts, report, options)
