"""Trying a campaign: its first screens as annotators will see them; nothing is stored."""

from collections.abc import Mapping, Sequence
from uuid import UUID, uuid5

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_http_methods

from annotation.access import campaign_for_admin, researcher_required
from annotation.campaigns.rehearsal import Shown, rehearse
from annotation.interface import is_known
from annotation.judging import instructions
from annotation.judging.progress import Progress
from annotation.judging.screens import ShownItem, ShownScreen, span_sides, text
from annotation.models import Campaign
from annotation.prefill.keeping import suggested_in
from annotation.protocols import Span
from annotation.views.judging.cards import fresh_cards

# Names of items that are stored nowhere.
NOWHERE = UUID("f3a1d6de-6c53-4be0-9a5e-0d2c2f1f3a11")


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one screen; an answer leads to the next."""
    campaign = campaign_for_admin(request, slug)
    screens = rehearse(campaign)
    number = request.GET.get("screen", "1")
    place = min(int(number) if number.isdecimal() and len(number) < 4 else 1, len(screens) or 1)
    language = request.GET.get("language", "en")
    language = language if is_known(language) else "en"
    if request.method == "POST":
        messages.info(request, "An annotator’s answer would be stored now. Here nothing is.")
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


def _address(campaign: Campaign, place: int, language: str) -> str:
    address = reverse("campaign-preview", args=[campaign.slug])
    return f"{address}?screen={place}&language={language}"


def _drawn(
    request: HttpRequest,
    campaign: Campaign,
    screens: list[list[Shown]],
    place: int,
    language: str,
) -> SafeString:
    """Draw a screen by the annotators' templates, with its answers sent back here."""
    with translation.override(language):
        screen = _screen(campaign, screens[place - 1], place, len(screens))
        context = {"screen": screen, "cards": fresh_cards(request, screen)}
        html: str = render_to_string("annotation/_item.html", context, request)
    for item in screen.items:
        own = reverse("item", args=[item.public_id])
        html = html.replace(own, _address(campaign, place, language))
    return mark_safe(html)  # noqa: S308 - made of escaped parts


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
        campaign_slug=campaign.slug,
        campaign_name=campaign.name,
        campaign_status=Campaign.Status.OPEN,
        protocol=campaign.judging,
        span_sides=span_sides(campaign),
        instructions=instructions.read(campaign, "instructions"),
        question=campaign.question_text,
        items=items,
        feedback=None,
        count=lambda: Progress(place=place, done=place - 1, total=total, paid_ms=0),
        gray=campaign.shown_text,
        is_prefilled=campaign.is_prefilled,
    )


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
    )
