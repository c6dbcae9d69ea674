"""`manage.py import_pearmut campaign.json`: import a campaign of Pearmut."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.management.campaign_imports import add_campaign_arguments, encodings_of, finish
from annotation.management.command_line import BaseCommand, opened
from annotation.uploads import Report
from core import languages
from core.commands import refused_by
from extensions.formats import pearmut


class Command(BaseCommand):
    help = "Import a Pearmut campaign file as a draft, or with its log as a finished campaign."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "campaign", type=Path, nargs="+",
            help="JSON files of campaigns; those of one campaign_id are parts of one campaign",
        )  # fmt: skip
        parser.add_argument("--source-language", required=True, help="language code, such as en")
        parser.add_argument("--target-language", required=True)
        parser.add_argument(
            "--name", default="", help="name of the campaign; default: the campaign_id"
        )
        add_campaign_arguments(parser)
        parser.add_argument(
            "--breaks",
            choices=("counted", "uncounted"),
            default="",
            help="whether offsets count line breaks, as in Pearmut from 1.1.5; default: inferred "
            "from the marks of omissions",
        )
        parser.add_argument(
            "--log", type=Path, action="append", default=[],
            help="judgments, as JSONL or a download; finishes the campaign; may be repeated",
        )  # fmt: skip
        parser.add_argument(
            "--media", type=Path, nargs="+", action="extend", default=[],
            help="recordings and pictures that segments name, or ZIP archives of them",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        report = Report()
        report.chosen = {"": encodings_of(options)}
        try:
            source, target = (
                languages.find(options[f"{side}_language"]) for side in ("source", "target")
            )
        except languages.LanguageError as error:
            raise refused_by(error) from error
        file, *parts = (opened(path) for path in options["campaign"])
        drafts = pearmut.read(
            file,
            report,
            parts=parts,
            source_language=source,
            target_language=target,
            name=options["name"],
            ends=options["ends"],
            breaks=options["breaks"],
            logs=[opened(path) for path in options["log"]],
            media=[opened(path) for path in options["media"]],
        )
        finish(self, drafts, report, options)
