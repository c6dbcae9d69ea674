"""What commands that import campaigns share."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.urls import reverse

from annotation.imports.drafts import CampaignDraft, described
from annotation.imports.sources import Drafts
from annotation.imports.store import examine, launch
from annotation.management.command_line import (
    BaseCommand,
    add_dry_run_argument,
    is_dry_run,
    refuse_errors,
    values_of,
    write_problems,
)
from annotation.uploads import Report
from annotation.uploads.problems import ENCODING
from annotation.uploads.tables.skipping import skipped
from core.commands import RefusedCommandError, refused_by
from core.text import pluralize
from metaeval.messages import message


def add_study_arguments(parser: ArgumentParser) -> None:
    """Add the arguments for the study and the question of an imported campaign."""
    parser.add_argument("--study", default="", help="study of the campaigns")
    parser.add_argument(
        "--question", default="",
        help="question to the annotators; default: that of the files or of the protocol",
    )  # fmt: skip


def add_campaign_arguments(parser: ArgumentParser) -> None:
    """Add what imports of campaigns ask for; an encoding is written as in imports of tables."""
    add_study_arguments(parser)
    parser.add_argument(
        "--column", action="append", default=[], metavar=f"{ENCODING}=NAME",
        help="the encoding of files that are not UTF-8, such as (encoding)=Windows-1250",
    )  # fmt: skip
    parser.add_argument(
        "--ends", choices=("included", "excluded"), default="",
        help="whether the ends of errors marked beforehand include the last character; default: "
        "inferred from the words",
    )  # fmt: skip
    add_dry_run_argument(parser)


def encodings_of(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the stated encodings. Raises RefusedCommandError for another choice."""
    chosen = values_of(options["column"])
    if others := [name for name in chosen if not name.startswith(ENCODING)]:
        text = message(
            "command.no-columns",
            "The files have no columns such as {names}. Write “(encoding)=NAME”.",
            names=others,
        )
        raise RefusedCommandError(text)
    return chosen


def finish(
    command: BaseCommand, drafts: Drafts, report: Report, options: Mapping[str, Any]
) -> None:
    """Check and store an import. Raises RefusedCommandError for errors; then nothing is stored.

    `options` are those of the command: `study`, `question` and `dry_run`.
    """
    drafts = described(drafts, options, report)
    if not report.errors:
        examine(drafts, report)
    report.gather()
    store_drafts(command, drafts, report, options)


def store_drafts(
    command: BaseCommand, drafts: Drafts, report: Report, options: Mapping[str, Any]
) -> None:
    """Report what was found in files, and store drafts unless this is a dry run.

    Raises RefusedCommandError for errors; then nothing is stored.
    """
    write_problems(command, report)
    refuse_errors(report)
    if options["dry_run"]:
        for _, draft in drafts:
            command.stdout.write(f"{draft.slug}: {_foreseen(draft)}.")
    if is_dry_run(command, options):
        return
    try:
        for each in launch(drafts, skipped=skipped(report)):
            result = each.result
            state = "imported" if result.is_new else "already stored, unchanged"
            contents = ", ".join(map(str, result.contents))
            command.stdout.write(
                f"{result.campaign.slug}: {contents}: {state}. "
                f"Test set: {result.campaign.test_set.slug}"
            )
            for invitation in each.invitations:
                path = reverse("personal-link", args=[invitation.token])
                command.stdout.write(f"  {invitation.annotator.label}: {path}")
    except ValidationError as error:
        raise refused_by(error) from error


def _foreseen(draft: CampaignDraft) -> str:
    n_published = draft.n_published
    if n_published:
        return pluralize(n_published, "published score")
    return f"{pluralize(len(draft.items), 'item')}, {pluralize(len(draft.judgments), 'judgment')}"
