"""Store a campaign file as a draft: all of it, or nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import transaction

from annotation import uploads
from annotation.access import project_of_new
from annotation.campaign_files.parsing import CampaignFile, is_own, read
from annotation.campaign_files.suggesting import suggest
from annotation.campaign_files.writing import OWN
from annotation.campaigns import Invitation, add_annotators, open_campaign
from annotation.campaigns.sampling import draw, read_rule
from annotation.forms.campaign.form import CampaignForm
from annotation.forms.uploads import slug_of
from annotation.imports import sources
from annotation.imports.drafts import CampaignDraft
from annotation.imports.jsonfiles import read_json
from annotation.imports.store import examine, launch, note_suggestions, outputs_of, store_items
from annotation.interface import is_known
from annotation.models import Campaign, Instructions, TestSet
from annotation.presets import fitting, propose
from annotation.projects import hidden_slug
from annotation.quality.reach import proposed_traps
from annotation.uploads import InputFile, Report
from annotation.uploads.formats.base import CAMPAIGN_FILE
from annotation.uploads.problems import Place
from core.messages import messages_of
from metaeval.messages import Message, message

# Settings that the form does not ask for.
OTHERS = ("special_tokens", "review_gap", "review_overlap")
CHECKS = ("practice", "per_annotator", "trap_ratio", "control_spacing", "_checks", "check_percent")


def store_file(whole: CampaignFile, report: Report, *, user: Any = None) -> Campaign | None:
    """Return the draft; if an error prevents it, report that and store nothing."""
    try:
        with transaction.atomic():
            draft = whole.test_set
            draft.slug = draft.slug or slug_of(draft.name, user, draft.project)
            test_set = uploads.store(draft, user=user).test_set
            campaign = _campaign(whole, test_set, report, user)
            if campaign:
                _instruct(campaign, whole, report)
                _add_items(campaign, whole)
                suggest(campaign, whole.suggestions, whole.file, report, user)
            if report.errors:
                raise ValidationError([])
            return campaign
    except ValidationError as error:
        for text in messages_of(error):
            report.error(text, Place(whole.file))
    return None


def _campaign(whole: CampaignFile, test_set: TestSet, report: Report, user: Any) -> Campaign | None:
    own = dict((whole.texts or {}).get(OWN, {}))
    form = CampaignForm(form_data({**own, **whole.settings}, test_set), test_set=test_set)
    slug, project = whole.settings.get("slug", ""), project_of_new(test_set, user)
    if slug and project:
        slug = hidden_slug(slug, project)
    if slug and Campaign.objects.filter(slug=slug).exists():
        text = message(
            "campaign-file.slug-taken",
            "A campaign “{slug}” is stored already. Use another slug.",
            slug=slug,
        )
        _fault(report, whole, "slug", text)
    elif form.is_valid():
        try:
            campaign = form.create(user, slug=slug)
            others = [name for name in OTHERS if name in whole.settings]
            for name in others:
                setattr(campaign, name, whole.settings[name])
            campaign.secret = whole.secret or campaign.secret
            campaign.save(update_fields=[*others, "secret"])
            return campaign
        except ValidationError as error:
            _report(report, whole, ValidationError(error).update_error_dict({}))
    else:
        _report(report, whole, form.errors.as_data())
    return None


def form_data(settings: Mapping[str, Any], test_set: TestSet) -> dict[str, Any]:
    """Return the form's values: the settings, else those of their preset for these texts."""
    given = {name: value for name, value in settings.items() if value is not None}
    proposed, _ = propose(fitting(test_set, given.get("preset", "")), test_set)
    if ratio := given.get("length_ratio"):
        given["length_ratio"] = f"{float(ratio):.2f}"
        named = test_set.systems.filter(length_ratio=given["length_ratio"])
        proposed["systems"] = list(named.values_list("name", flat=True))
    hidden = bool(test_set.project_id)
    data = {"practice": True, "seed": 1, "is_private": hidden, **proposed, **given}
    if "sample" in given and "traps_per_annotator" not in given:
        data["traps_per_annotator"] = min(data["traps_per_annotator"], _most_traps(test_set, data))
    return data


def _most_traps(test_set: TestSet, data: Mapping[str, Any]) -> int:
    """Return how many traps are proposed for a sample; the form refuses what cannot be drawn."""
    try:
        rows = test_set.systems.filter(name__in=data["systems"], length_ratio=data["length_ratio"])
        n_drawn = len(draw(test_set, rows, read_rule(data["sample"]) or {}, int(data["seed"])))
    except (ValidationError, TypeError, ValueError):
        return 0
    return proposed_traps(n_drawn, n_drawn * len(rows))


def _report(
    report: Report, whole: CampaignFile, errors: Mapping[str, Sequence[ValidationError]]
) -> None:
    for name, refusals in errors.items():
        for refusal in refusals:
            for text in messages_of(refusal):
                _fault(report, whole, "" if name == NON_FIELD_ERRORS else name, text)


def _fault(report: Report, whole: CampaignFile, name: str, text: Message) -> None:
    part = "checks" if name.endswith(CHECKS) else "task"
    report.error(text, Place(whole.file, None, f"{part}.{name}".rstrip(".")))


def _instruct(campaign: Campaign, whole: CampaignFile, report: Report) -> None:
    """Replace the standard texts by those of the file, including empty ones."""
    if whole.texts is None:
        return
    own = whole.texts.get(OWN, {})
    campaign.instructions = own.get("instructions", "")
    campaign.save(update_fields=["instructions"])
    campaign.translations.all().delete()
    for language, texts in whole.texts.items():
        if language != OWN and not is_known(language):
            place = Place(whole.file, None, f"instructions.{language}")
            text = message(
                "campaign-file.language", "Annotators’ pages are not available in this language."
            )
            report.error(text, place)
        elif language != OWN:
            Instructions.objects.create(campaign=campaign, language=language, **texts)


def _add_items(campaign: Campaign, whole: CampaignFile) -> None:
    segments = dict(campaign.test_set.segments.values_list("key", "pk"))
    draft = CampaignDraft(campaign.slug, campaign.name, campaign.question, items=whole.items)
    store_items(campaign, draft, segments, outputs_of(campaign))
    note_suggestions(campaign, draft)


# One file, one step: a campaign is stored, staffed and opened, or nothing happens.


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
    values = read_json(file, report, CAMPAIGN_FILE)
    if report.errors:
        return None
    foreign = [each.open_file for each in sources.tools().values() if each.open_file]
    if foreign and not is_own(values):
        return _of_tool(foreign[0](file, report, wish), file, report, user)
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


def _of_tool(drafts: sources.Drafts, file: InputFile, report: Report, user: Any) -> Opened | None:
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
