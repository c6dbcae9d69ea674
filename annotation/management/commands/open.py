"""`manage.py open campaign.json`: from one file to an open campaign and its links."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.urls import reverse

from annotation.campaign_files import Opened, open_file
from annotation.campaign_files.storing import Wish
from annotation.management.command_line import BaseCommand, opened, refuse_errors, write_problems
from annotation.uploads import Report
from core import languages
from core.commands import refused_by
from core.text import pluralize


class Command(BaseCommand):
    help = "Import a campaign from one JSON file (ours or Pearmut's), open it and print its links."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", type=Path, help="JSON file; see docs/campaign-files.md")
        parser.add_argument(
            "--media", type=Path, nargs="+", action="extend", default=[],
            help="recordings and pictures that segments name, or ZIP archives of them",
        )  # fmt: skip
        parser.add_argument(
            "--dry-run", action="store_true", help="check the files without storing anything"
        )
        parser.add_argument("--draft", action="store_true", help="store the campaign as a draft")
        parser.add_argument("--slug", default="", help="another short name, to import a copy")
        parser.add_argument(
            "--source-language", default="", help="source language of a Pearmut file"
        )
        parser.add_argument("--target-language", default="")
        parser.add_argument(
            "--ends",
            choices=("included", "excluded"),
            default="",
            help="whether the ends of error spans in a Pearmut file include the last character",
        )
        parser.add_argument(
            "--address", default=settings.SITE_URL, help="address of the site, for the links"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        report = Report()
        wish = Wish(
            options["slug"],
            _language(options["source_language"]),
            _language(options["target_language"]),
            options["draft"],
            options["dry_run"],
            options["ends"],
            [opened(path) for path in options["media"]],
        )
        found = open_file(opened(options["campaign"]), report, wish)
        write_problems(self, report)
        refuse_errors(report)
        if found is None:
            return
        self._say(found, options["address"].rstrip("/"), wish)

    def _say(self, found: Opened, address: str, wish: Wish) -> None:
        campaign, people = found.campaign, pluralize(len(found.invitations), "personal link")
        if wish.is_dry_run:
            self.stdout.write(f"{campaign.slug}: it would open with {people}.")
            self.stdout.write("Dry run: nothing was stored.")
            return
        state = "stored as a draft" if wish.is_draft else "open"
        path = reverse("access", args=[campaign.slug])
        self.stdout.write(f"{campaign.slug}: {state}, {people}. {address}{path}")
        for invitation in found.invitations:
            path = reverse("personal-link", args=[invitation.token])
            self.stdout.write(f"{invitation.annotator.label}\t{address}{path}")


def _language(text: str) -> str:
    try:
        return languages.find(text) if text else ""
    except languages.LanguageError as error:
        raise refused_by(error) from error
