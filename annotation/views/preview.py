"""Preview a campaign, stored or as typed: its first screens as annotators will see them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID, uuid5

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import campaign_for_admin, researcher_required, test_set_for_reader
from annotation.campaigns.rehearsal import Shown, first_screens, rehearse
from annotation.forms.campaign.form import CampaignForm
from annotation.interface import is_known
from annotation.judging import instructions
from annotation.judging.attachments import kind_of, shown_attachments
from annotation.judging.progress import Progress
from annotation.judging.screens import ShownItem, ShownScreen, span_sides, text
from annotation.models import Campaign
from annotation.prefill.suggestions import suggested_in
from annotation.presets.filling import mark_missing, standard_text
from annotation.protocols import Span
from annotation.views.judging.cards import drawn, fresh_cards
from core.messages import messages_of, translated
from core.text import whole

# Namespace of the ids of items that are not stored.
NOWHERE = UUID("f3a1d6de-6c53-4be0-9a5e-0d2c2f1f3a11")
# Fields that determine what a screen shows.
DRAWN = ("length_ratio", "systems", "protocol", "systems_per_screen", "answers", "shown_text",
         "question", "instructions")  # fmt: skip


# Segments of a document beside the form.
MOST_SEGMENTS = 2


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one screen; an answer leads to the next."""
    campaign = campaign_for_admin(request, slug)
    screens = rehearse(campaign)
    number = request.GET.get("screen", "1")
    place = min(whole(number) or 1, len(screens) or 1)
    language = _known(request.GET.get("language"))
    if request.method == "POST":
        messages.info(request, _("This is a preview. An annotator’s answer would be stored now."))
        return redirect(_address(campaign, place % max(1, len(screens)) + 1, language))
    item = _drawn(request, campaign, screens, max(1, place), language) if screens else ""
    context = {
        "campaign": campaign,
        "section": "campaigns",
        "tab": "preview",
        "item": item,
        "place": place,
        "places": [(n, _address(campaign, n, language)) for n in range(1, len(screens) + 1)],
        "languages": [
            (code, name, _address(campaign, place, code)) for code, name in settings.LANGUAGES
        ],
        "language": language,
    }
    return render(request, "annotation/preview.html", context)


@researcher_required
@require_POST
def draw_form(request: HttpRequest, slug: str) -> JsonResponse:
    """Render the first screen of the form as typed: `html`, and `errors` by field."""
    form = CampaignForm(request.POST, test_set=test_set_for_reader(request, slug))
    errors = {name: texts for name, texts in errors_of(form).items() if name in DRAWN}
    return JsonResponse({"html": draw(request, form), "errors": errors})


def errors_of(form: CampaignForm) -> dict[str, list[str]]:
    """Return the errors of a form by field, in the language of the page."""
    found = form.errors.as_data().items()
    return {
        name: [translated(each) for each in messages_of(ValidationError(errors))]
        for name, errors in found
    }


def draw(request: HttpRequest, form: CampaignForm) -> str:
    """Render the first screen of a bound form, of a document the first segments.

    Empty where its task has errors.
    """
    if form.errors.keys() & set(DRAWN):
        return ""
    campaign = form.instance
    campaign.test_set, campaign.slug = form.test_set, campaign.slug or "new"
    mark_missing(campaign)
    screen: list[Shown] = next(iter(first_screens(campaign, form.chosen)), [])
    segments = list(dict.fromkeys(each.segment.pk for each in screen))[:MOST_SEGMENTS]
    short = [each for each in screen if each.is_document or each.segment.pk in segments]
    language = _known(request.POST.get("language"))
    return _drawn(request, campaign, [short], 1, language) if short else ""


def _known(language: str | None) -> str:
    return language if language and is_known(language) else "en"


def _address(campaign: Campaign, place: int, language: str) -> str:
    address = reverse("campaign-preview", args=[campaign.slug])
    return f"{address}?screen={place}&language={language}"


def _drawn(
    request: HttpRequest,
    campaign: Campaign,
    screens: list[list[Shown]],
    place: int,
    language: str,
) -> str:
    """Render a screen with the annotators' templates; answers are sent to this page."""
    with translation.override(language):
        screen = _screen(campaign, screens[place - 1], place, len(screens))
        screen = replace(screen, sent_to=_address(campaign, place, language))
        return drawn(request, screen, fresh_cards(request, screen))


def _screen(campaign: Campaign, shown: list[Shown], place: int, total: int) -> ShownScreen:
    segments = list(dict.fromkeys(each.segment.pk for each in shown))
    suggested = suggested_in(campaign, [each.output for each in shown if each.output])
    items = tuple(
        _item(campaign, each, place + n, segments.index(each.segment.pk), suggested)
        for n, each in enumerate(shown)
    )
    return ShownScreen(
        public_id=items[0].public_id,
        previous_id=None,
        annotator="A1",
        campaign_slug=campaign.slug,
        campaign_title=campaign.title,
        campaign_status=Campaign.Status.OPEN,
        protocol=campaign.judging,
        span_sides=span_sides(campaign),
        instructions=_instructions(campaign),
        question=campaign.question_about(kind_of(each.attachments for each in items)),
        items=items,
        count=lambda: Progress(place=place, done=place - 1, total=total, paid_ms=0),
        gray=campaign.shown_text,
        names_colours=campaign.names_colours,
        anchors=campaign.judging.anchors_at(campaign.length_ratio),
        is_prefilled=campaign.is_prefilled,
    )


def _instructions(campaign: Campaign) -> instructions.Prose:
    """Return the instructions of a draft, or those that an unsaved draft will get."""
    if campaign.pk:
        return instructions.read(campaign, "instructions")
    language = instructions.active()
    standard = "" if campaign.instructions.strip() else standard_text(campaign, language)
    return instructions.prose(campaign.instructions, standard, language)


def _item(
    campaign: Campaign,
    shown: Shown,
    place: int,
    row: int,
    suggested: Mapping[int, Sequence[Span]],
) -> ShownItem:
    spans = tuple(suggested.get(shown.output or 0, ()))
    test_set, segment = campaign.test_set, shown.segment
    gray = text(segment.source, test_set.source_language)
    if campaign.shown_text == Campaign.ShownText.REFERENCE:
        reference = segment.references.order_by("name").first()
        gray = text(reference.text if reference else "", test_set.target_language)
    return ShownItem(
        public_id=uuid5(NOWHERE, str(place)),
        place=place,
        row=row,
        context=gray,
        rated=text(shown.text, test_set.target_language),
        is_document=shown.is_document,
        is_practice=shown.is_practice,
        is_editable=True,
        score=None,
        spans=spans,
        offered=spans,
        offers=tuple(range(len(spans))),
        comment="",
        is_flagged=False,
        revision=0,
        attachments=shown_attachments(
            segment.beside,
            campaign,
            partial(reverse, "segment-media", args=[test_set.slug, segment.position]),
        ),
    )
