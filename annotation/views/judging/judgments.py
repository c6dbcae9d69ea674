"""The item page: one address that shows a screen and takes its answers.

Browsers without scripts get pages and redirects. Scripts ask for JSON: `html` is the screen to
show and `path` its address, `next` is where work goes on. The two differ after practice, whose own
screen comes once more with feedback. Both get the same status codes and messages.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from annotation import notices
from annotation.access import pseudonym, signed_in
from annotation.entry import welcome
from annotation.entry.welcome import NotOpenError, refuse_unless_open
from annotation.forms.judgments import JudgmentForm
from annotation.judging import judgments, screens
from annotation.judging.answerable import Answerable, find_answerable
from annotation.judging.screens import ShownScreen
from annotation.judging.upcoming import next_screen
from annotation.models import Assignment, Item, Judgment
from annotation.protocols import Layout
from annotation.qualification.stopping import stop_if_due
from annotation.views.judging.assignments import not_open_page
from annotation.views.judging.cards import Card, drawn, fresh_cards, kept_card, refused_card
from annotation.views.judging.unsent import (
    GONE,
    SIGNED_OUT,
    SIGNED_OUT_TITLE,
    kept_score,
    told_signed_out,
    unsent_page,
)
from annotation.views.judging.welcome import ask_first
from annotation.web.errors import refusal_json, wants_json
from core.messages import messages_of
from metaeval.messages import Message

# A field of scripts that have the next screen already, and one that every answer has.
AHEAD, KEY = "ahead", "submit_key"
PRACTICE = Item.Kind.TUTORIAL


@never_cache
@vary_on_headers("Accept", "Cookie")
@require_http_methods(["GET", "HEAD", "POST"])
def item(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Show an item to its annotator, or take the answer."""
    if not request.user.is_authenticated:
        return _signed_out(request)
    is_answer = request.method == "POST"
    find = find_answerable if is_answer else screens.find_screen
    found: Any = find(user=signed_in(request), public_id=public_id)
    if found is None:
        return _not_here(request)
    if found.asked_first:
        return ask_first(request, found.asked_first)
    try:
        return _take(request, found) if is_answer else _show(request, found)
    except (NotOpenError, judgments.TooLateError) as refusal:
        return _not_open(request, found.campaign_slug, refusal.message)


def _signed_out(request: HttpRequest) -> HttpResponse:
    if told := told_signed_out(request):
        return told
    if request.method == "POST":
        return unsent_page(request, status=401, title=SIGNED_OUT_TITLE, refusal=SIGNED_OUT)
    return redirect_to_login(request.get_full_path())


def _not_here(request: HttpRequest) -> HttpResponse:
    """Answer 404; a script that sent an answer also gets the name of the session's user.

    With it the script knows whether to keep the answer for another user, or to say that the item is
    gone.
    """
    if not (request.method == "POST" and wants_json(request)):
        raise Http404
    return JsonResponse(refusal_json(GONE, person=pseudonym(signed_in(request))), status=404)


def _show(request: HttpRequest, screen: ShownScreen) -> HttpResponse:
    refuse_unless_open(screen.campaign_status)
    cards = fresh_cards(request, screen)
    if unsent := kept_score(request.GET.get("unsent", "")):
        cards = [
            kept_card(card, unsent, _valid_start(request, card))
            if card.item.public_id == screen.public_id
            else card
            for card in cards
        ]
    return _reply(request, screen, cards)


def _take(request: HttpRequest, asked: Answerable) -> HttpResponse:
    forms = _forms(request, asked)
    if not all(form.is_valid() for form in forms):
        refuse_unless_open(asked.campaign_status)
        return _refuse(request, asked, forms, status=422)
    annotator = asked.rows[0].annotator
    begun = max(form.cleaned_data["started"] for form in forms)
    if annotator.barred_at is not None and begun > annotator.barred_at:
        return ask_first(request, welcome.stopped(annotator))
    try:
        stored = judgments.submit(
            user=signed_in(request),
            answers=[form.answer() for form in forms],
            rows=[row for _, row in _sent(request, asked)],
            draws_next=AHEAD not in request.POST,
        )
    except ValidationError as error:
        return _refuse(request, asked, forms, status=422, refusal=messages_of(error)[0])
    except Assignment.DoesNotExist:
        return _not_here(request)
    except judgments.TooFastError as refusal:
        return _hold(request, asked, forms, refusal)
    except judgments.ConflictError as conflict:
        return _refuse(request, asked, forms, status=409, refusal=conflict.message)
    return _go_on(request, stored, is_alone=_is_alone(request, asked))


def _forms(request: HttpRequest, asked: Answerable) -> list[JudgmentForm]:
    """Return a form for each item that is submitted."""
    return [
        JudgmentForm(
            request.POST,
            user_id=signed_in(request).pk,
            public_id=row.public_id,
            protocol=asked.protocol.of_document
            if row.item.kind == Item.Kind.DOCUMENT
            else asked.protocol,
            prefix=prefix,
        )
        for prefix, row in _sent(request, asked)
    ]


def _sent(request: HttpRequest, asked: Answerable) -> list[tuple[str, Assignment]]:
    """Return the items of a screen that a submit answers, with the prefixes of their fields.

    Rated items can be missing: a page shows them alone once the time to change them is over.
    """
    if not asked.protocol.layout.has_several or _is_alone(request, asked):
        return [("", row) for row in asked.rows if row.public_id == asked.public_id]
    rows = [(f"{number}-", row) for number, row in enumerate(asked.rows)]
    return [
        (prefix, row)
        for prefix, row in rows
        if row.completed_at is None or f"{prefix}{KEY}" in request.POST
    ] or rows


def _is_alone(request: HttpRequest, asked: Answerable) -> bool:
    """Return whether a segment was sent without the rest of its document.

    Earlier releases sent them so, and such answers may still wait in a browser.
    """
    return asked.protocol.layout == Layout.DOCUMENT and KEY in request.POST


def _refuse(
    request: HttpRequest,
    asked: Answerable,
    forms: Sequence[JudgmentForm],
    *,
    status: int,
    refusal: Message | None = None,
) -> HttpResponse:
    """Show the form again as it was sent, with status 422 or 409.

    After 409 it carries the stored revision, so that sending it again replaces the stored answer.
    """
    # Read only now: another window may have changed the screen.
    screen = screens.find_screen(user=signed_in(request), public_id=asked.public_id)
    if screen is None:
        raise Http404
    by_item = {form.public_id: form for form in forms}
    cards = [
        refused_card(card, form, refusal=refusal, is_conflict=status == 409)
        if (form := by_item.get(card.item.public_id))
        else card
        for card in fresh_cards(request, screen)
    ]
    return _reply(request, screen, cards, status=status)


def _hold(
    request: HttpRequest,
    asked: Answerable,
    forms: Sequence[JudgmentForm],
    refusal: judgments.TooFastError,
) -> HttpResponse:
    """Answer 429 with the form as it was sent, which can be sent again later."""
    if wants_json(request):
        return JsonResponse(refusal_json(refusal.message, seconds=refusal.seconds), status=429)
    return _refuse(request, asked, forms, status=429, refusal=refusal.message)


def _go_on(request: HttpRequest, stored: Sequence[Judgment], *, is_alone: bool) -> HttpResponse:
    annotator = stored[0].assignment.annotator
    leaves = annotator.barred_at is not None or stop_if_due(stored)
    if not leaves and (practice := _practice(request, stored)):
        return practice
    if not wants_json(request):
        return redirect("annotate", slug=annotator.campaign.slug)
    if leaves:
        return JsonResponse({"next": welcome.stopped(annotator), "leaves": True})
    if AHEAD in request.POST:
        return JsonResponse({"next": reverse("annotate", args=[annotator.campaign.slug])})
    following = next_screen(annotator=annotator, after=stored[-1].assignment.position)
    if following is None:
        notices.after_last_answer(annotator.campaign)
        return JsonResponse({"next": reverse("annotate-done", args=[annotator.campaign.slug])})
    if is_alone:
        return JsonResponse({"next": reverse("item", args=[following.public_id])})
    return _reply(request, following, fresh_cards(request, following))


def _practice(request: HttpRequest, stored: Sequence[Judgment]) -> HttpResponse | None:
    """Return the screen of a practice item again, with its feedback, if it has any."""
    own = next((each.assignment for each in stored if each.assignment.item.kind == PRACTICE), None)
    if own is None:
        return None
    screen = screens.find_screen(user=signed_in(request), public_id=own.public_id)
    if screen is None or not screen.has_feedback:
        return None
    if not wants_json(request):
        return redirect("item", public_id=own.public_id)
    going_on = reverse("annotate", args=[screen.campaign_slug])
    return _reply(request, screen, fresh_cards(request, screen), going_on=going_on)


def _reply(
    request: HttpRequest,
    screen: ShownScreen,
    cards: Sequence[Card],
    status: int = 200,
    going_on: str = "",
) -> HttpResponse:
    refused = next((card for card in cards if card.refusal), None)
    if not wants_json(request):
        context = {"screen": screen, "cards": cards}
        return render(request, "annotation/item.html", context, status=status)
    if refused and refused.refusal:
        fields: dict[str, str] = {}
        for card in cards:
            if card.is_sent:
                fields |= card.fields()
        told = refusal_json(refused.refusal, field=refused.problem_field, form=fields)
        return JsonResponse(told, status=status)
    path = reverse("item", args=[screen.public_id])
    html = drawn(request, screen, cards)
    return JsonResponse({"next": going_on or path, "path": path, "html": html})


def _not_open(request: HttpRequest, slug: str, refusal: Message) -> HttpResponse:
    if wants_json(request):
        return JsonResponse(refusal_json(refusal), status=409)
    return not_open_page(request, slug, refusal)


def _valid_start(request: HttpRequest, card: Card) -> str:
    stamp = request.GET.get("started", "")
    try:
        judgments.read_start(stamp, user_id=signed_in(request).pk, public_id=card.item.public_id)
    except ValidationError:
        return ""
    return stamp
