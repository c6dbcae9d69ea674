"""One file, one step: a campaign is stored, staffed and opened, or nothing happens."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.campaign_files.parsing import is_own, read
from annotation.campaign_files.storing import store_file
from annotation.campaigns import Invitation, add_annotators, open_campaign
from annotation.imports import pearmut
from annotation.imports.jsonfiles import read_json
from annotation.imports.launch import examine, launch
from annotation.models import Campaign
from annotation.uploads import InputFile, Report
from annotation.uploads.problems import Place
from core.messages import messages_of
from metaeval.messages import message


@dataclass(frozen=True)
class Opened:
    """A campaign with the personal links of its annotators, which are available only now."""

    campaign: Campaign
    invitations: Sequence[Invitation]


@dataclass(frozen=True)
class Wish:
    """Options that a file does not contain.

    `ends` says whether the ends of errors that Pearmut marks beforehand are `included` or
    `excluded`; `media` are the recordings and pictures that the file names, or archives of them.
    """

    slug: str = ""
    source_language: str = ""
    target_language: str = ""
    is_draft: bool = False
    is_dry_run: bool = False
    ends: str = ""
    media: Sequence[InputFile] = ()


def open_file(
    file: InputFile, report: Report, wish: Wish | None = None, *, user: Any = None
) -> Opened | None:
    """Store a campaign, add its annotators and open it; what prevents this goes to the report.

    A dry run does all of it and rolls it back.
    """
    wish = wish or Wish()
    opened = None
    try:
        with transaction.atomic():
            opened = _stored(file, report, wish, user)
            if opened and not wish.is_draft:
                open_campaign(campaign=opened.campaign)
            if wish.is_dry_run or report.errors:
                transaction.set_rollback(True)
    except ValidationError as error:
        for text in messages_of(error):
            report.error(text, Place(file.name))
    return None if report.errors else opened


def _stored(file: InputFile, report: Report, wish: Wish, user: Any) -> Opened | None:
    values = read_json(file, report)
    if report.errors:
        return None
    if not is_own(values):
        return _of_pearmut(file, report, wish, user)
    whole = read(file, report, wish.media)
    if whole is None or report.errors:
        return None
    if wish.slug:
        whole = replace(whole, settings={**whole.settings, "slug": wish.slug})
    campaign = store_file(whole, report, user=user)
    if campaign is None:
        return None
    links = add_annotators(campaign=campaign, links=whole.people) if whole.people else []
    return Opened(campaign, links)


def _of_pearmut(file: InputFile, report: Report, wish: Wish, user: Any) -> Opened | None:
    if not (wish.source_language and wish.target_language):
        text = message(
            "campaign-file.no-languages",
            "This is not a campaign file of Touchstone, because it has no key “touchstone”. If it "
            "is a file of Pearmut, state its languages.",
        )
        report.error(text, Place(file.name))
        return None
    drafts = pearmut.read(
        file,
        report,
        source_language=wish.source_language,
        target_language=wish.target_language,
        name=wish.slug,
        ends=wish.ends,
        media=wish.media,
    )
    if not report.errors:
        examine(drafts, report, user=user)
    if report.errors:
        return None
    (launched,) = launch(drafts, user=user)
    if not launched.result.is_new:
        text = message(
            "campaign-file.stored",
            "“{campaign}” is stored already.",
            campaign=str(launched.result.campaign),
        )
        report.error(text, Place(file.name))
    return Opened(launched.result.campaign, launched.invitations)
