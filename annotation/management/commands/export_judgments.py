"""`manage.py export_judgments SLUG --format csv`: a campaign's judgments as a file."""

import os
import sys
from argparse import ArgumentParser
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from annotation.campaigns.facts import n_removed, removed
from annotation.exports.facts import FACTS, facts_of
from annotation.exports.formats import declared
from annotation.exports.parquet import MissingPackageError
from annotation.filters import FilterError
from annotation.management.command_line import BaseCommand, find_campaign
from annotation.models import Campaign
from core.commands import refused_by
from metaeval.messages import message


class Command(BaseCommand):
    help = "Write the judgments of a campaign, all revisions included."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's short name")
        parser.add_argument("--format", choices=declared(), default="csv")
        parser.add_argument("--output", type=Path, help="file to write; default: standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = find_campaign(options["campaign"])
        try:
            self._write(campaign, options["format"], options["output"])
        except (MissingPackageError, FilterError) as error:
            raise refused_by(error) from error
        if n := n_removed(campaign):
            self.stderr.write(str(removed(n)))
        missing = declared()[options["format"]].without_place(campaign, facts_of(campaign))
        if missing:
            facts = [FACTS[fact] for fact in missing]
            text = message("export.no-place", "This format has no place for: {facts}.", facts=facts)
            self.stderr.write(str(text))

    def _write(self, campaign: Campaign, name: str, path: Path | None) -> None:
        """Write to a temporary file and rename it, so that no incomplete file has the name."""
        part = path.with_name(f"{path.name}.part") if path else None
        with part.open("wb") if part else nullcontext(sys.stdout.buffer) as file:
            for piece in declared()[name].pieces(campaign):
                file.write(piece)
        if path and part:
            os.replace(part, path)
