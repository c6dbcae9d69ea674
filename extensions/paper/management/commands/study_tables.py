"""`manage.py study_tables STUDY --to DIR`: all tables and figures of a paper on a study."""

import time
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.http.request import QueryDict

from annotation.filters import FilterError
from annotation.management.command_line import BaseCommand
from annotation.models import Campaign
from core.commands import RefusedCommandError, refused_by, refused_file
from core.text import pluralize
from core.work.working import drain, due
from dashboards.documents.computing import documents
from dashboards.documents.results import Result
from dashboards.pages.answers import is_unfinished
from dashboards.pages.page import campaigns_in_order
from dashboards.systems.document import SystemsChoice
from extensions.paper import files
from extensions.paper.files import TAKES
from extensions.paper.gather import Paper, gather
from metaeval.messages import message

PAUSE_SECONDS = 1.0


class Command(BaseCommand):
    help = (
        "Write tables 2 to 14 (LaTeX, CSV) and the figures (PDF, SVG) of a paper on a study, when "
        "all numbers are of one state."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="name of the study")
        parser.add_argument("--to", type=Path, required=True, metavar="DIR", help="folder to write")
        parser.add_argument(
            "--choose", action="append", default=[], metavar="NAME=VALUE",
            help="a choice or filter, as in the address of the page: layers=held-out, "
            "layer_order=zh-en,en-zh, table9=METRIC (may be repeated), rounding=half-even, top=0",
        )  # fmt: skip
        parser.add_argument(
            "--wait", type=float, default=600.0, metavar="SECONDS",
            help="how long to wait for numbers; default: %(default)g",
        )  # fmt: skip
        parser.add_argument(
            "--here", action="store_true", help="compute here what no worker has computed"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study, query = options["study"], _query(options["choose"])
        campaigns = campaigns_in_order(
            Campaign.objects.filter(study=study).exclude(status=Campaign.Status.DRAFT)
        )
        if not campaigns:
            raise RefusedCommandError(
                message(
                    "paper.no-campaign",
                    "The study “{study}” has no open or finished campaign.",
                    study=study,
                )
            )
        try:
            TAKES().check(query)
            filters = SystemsChoice.from_query(query)
            result = self._whole(study, campaigns, query, options["wait"], is_here=options["here"])
        except FilterError as error:
            raise refused_by(error) from error
        if result.document is None or result.as_of is None:
            raise RefusedCommandError(message("paper.no-numbers", "There are no numbers."))
        folder: Path = options["to"]
        n = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in files.contents(result.document, filters, result.as_of):
                (folder / name).write_bytes(content)
                n += 1
        except OSError as error:
            raise refused_file(folder, error) from error
        if not result.is_fresh:
            self.stdout.write("note: The data have changed since. Wait longer (--wait) for newer.")
        for each in files.missing(result.document):
            self.stdout.write(f"note: {each.text}")
        self.stdout.write(
            f"{n} files in {folder}, as of {result.as_of.isoformat(timespec='seconds')}."
        )

    def _whole(
        self,
        study: str,
        campaigns: Sequence[Campaign],
        query: QueryDict,
        seconds: float,
        *,
        is_here: bool,
    ) -> Result[Paper]:
        """Return the documents of the newest data, all of one state; refuse if this fails.

        After `seconds` older ones of one state are good enough: judgments may come in all the time.
        """
        deadline, said = time.monotonic() + seconds, ""
        while True:
            result = gather(study, campaigns, query)
            is_late = time.monotonic() > deadline
            is_whole = not is_unfinished(result, of_one_state=True)
            if is_whole and (result.is_fresh or is_late):
                return result
            if result.message:
                raise RefusedCommandError(
                    message("paper.not-computed", "The numbers could not be computed."),
                    result.message,
                )
            if is_late:
                raise RefusedCommandError(
                    message(
                        "paper.not-complete",
                        "The numbers are not complete yet. Start a worker, wait longer (--wait), "
                        "or compute them here (--here).",
                    )
                )
            rows = due(documents).filter(campaign__in=campaigns)
            doing = f"Computing {pluralize(rows.count(), 'analysis', 'analyses')} …"
            if not is_here or not rows.exists():
                doing = "Waiting for workers to compute the numbers …"
            if doing != said:
                self.stderr.write(said := doing, str)
            if not (is_here and drain(documents, rows)):
                time.sleep(PAUSE_SECONDS)


def _query(choices: Sequence[str]) -> QueryDict:
    query = QueryDict(mutable=True)
    for choice in choices:
        name, mark, value = choice.partition("=")
        if not mark:
            raise RefusedCommandError(
                message(
                    "paper.no-choice",
                    "--choose {choice}: write it as NAME=VALUE.",
                    choice=choice,
                )
            )
        query.appendlist(name.strip(), value.strip())
    return query
