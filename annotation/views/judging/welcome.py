"""The way in by an access link, and what is asked before the first item."""

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.access import signed_in
from annotation.entry import links, welcome
from annotation.entry.throttle import attempt_link
from annotation.entry.welcome import NotOpenError, refuse_unless_open
from annotation.forms.welcome import BackgroundForm, initial
from annotation.judging import instructions
from annotation.judging.assignments import find_annotator
from annotation.models import AccessLink, Annotator
from annotation.views.judging.assignments import (
    annotator_or_404,
    ask_to_switch,
    not_open_page,
    sign_in_by_link,
)
from annotation.web.errors import refusal_json, refuse, refuse_guessing, wants_json
from metaeval.messages import message

STEP_FIRST = message(
    "rating.step-first", "There is one more step before the next item. Open it first."
)
# Of one address, so that a host-wide prefix does not fit.
KEPT = f"{'__Secure-' if settings.HTTPS else ''}touchstone_place"
KEPT_SECONDS = 180 * 24 * 3600


@never_cache
@require_http_methods(["GET", "POST"])
def access_link(request: HttpRequest, token: str) -> HttpResponse:
    """Let somebody in who comes by an access link, or say why not.

    An open link asks for a click first: programs that look at links in messages take no place.
    """
    try:
        return _enter(request, links.find_link(token))
    except links.EntryError as refusal:
        if refusal.status == 404:
            return _unknown(request, refusal)
        return refuse(request, refusal.status, refusal.title, refusal.message)


def _unknown(request: HttpRequest, refusal: links.EntryError) -> HttpResponse:
    if until := attempt_link(request).blocked_until:
        return refuse_guessing(request, until)
    return refuse(request, 404, refusal.title, refusal.message)


def _enter(request: HttpRequest, link: AccessLink) -> HttpResponse:
    if links.is_preview(link, request.GET):
        return _about(request, link, is_preview=True)
    if link.provider == AccessLink.Provider.OPEN:
        return _enter_open(request, link)
    return _let_in(request, link, links.person_id(link, request.GET))


def _enter_open(request: HttpRequest, link: AccessLink) -> HttpResponse:
    """Recognise a person by the session, or by the cookie of an earlier visit."""
    slug = link.campaign.slug
    if request.user.is_authenticated and find_annotator(user=signed_in(request), slug=slug):
        return redirect("annotate", slug=slug)
    person = request.get_signed_cookie(KEPT, default="") or ""
    if request.method != "POST" and links.find_person(link, person) is None:
        links.refuse_newcomers(link)
        return _about(request, link, is_preview=False)
    person = person or links.new_person_id()
    response = _let_in(request, link, person)
    response.set_signed_cookie(
        KEPT,
        person,
        max_age=KEPT_SECONDS,
        path=request.path,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure(),
    )
    return response


def _let_in(request: HttpRequest, link: AccessLink, person: str) -> HttpResponse:
    known = links.find_person(link, person)
    if asked := ask_to_switch(request, known.user if known else None, link.campaign):
        return asked
    details = links.entry_details(link, request.GET)
    annotator = links.let_in(link=link, external_id=person, details=details)
    sign_in_by_link(request, annotator.user)
    return redirect("annotate", slug=link.campaign.slug)


def _about(request: HttpRequest, link: AccessLink, *, is_preview: bool) -> HttpResponse:
    told = instructions.read(link.campaign, "instructions")
    context = {"campaign": link.campaign, "instructions": told, "is_preview": is_preview}
    return render(request, "annotation/enter.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def consent(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what is to be agreed to, and take the decision."""
    annotator = annotator_or_404(request, slug)
    campaign = annotator.campaign
    try:
        refuse_unless_open(campaign.status)
    except NotOpenError as refusal:
        return not_open_page(request, slug, refusal.message)
    if not campaign.consent:
        return redirect("annotate", slug=slug)
    context = {"campaign": campaign, "consent": instructions.read(campaign, "consent")}
    if annotator.consented_at is not None:
        return render(request, "annotation/consent.html", context | {"is_agreed": True})
    if request.method == "POST" and request.POST.get("decision") == "agree":
        welcome.agree(annotator=annotator)
        return redirect("annotate", slug=slug)
    if request.method == "POST" and request.POST.get("decision") == "decline":
        return _declined(request, annotator)
    status = 422 if request.method == "POST" else 200
    return render(request, "annotation/consent.html", context, status=status)


def _declined(request: HttpRequest, annotator: Annotator) -> HttpResponse:
    """Show the page for people who decline; nothing is stored about them."""
    title = annotator.campaign.title
    links.give_up(annotator=annotator)
    logout(request)
    return render(request, "annotation/declined.html", {"campaign": title})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def background(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask about the annotator's background; later, show and change the answers."""
    annotator = annotator_or_404(request, slug)
    if not annotator.campaign.asks_background:
        return redirect("annotate", slug=slug)
    if annotator.campaign.consent and annotator.consented_at is None:
        return redirect("consent", slug=slug)
    form = BackgroundForm(request.POST or None, initial=initial(annotator.background))
    if request.method == "POST" and not request.POST:
        form = BackgroundForm({})
    if form.is_valid():
        welcome.store_background(annotator=annotator, answers=form.answers())
        return redirect("annotate", slug=slug)
    context = {"campaign": annotator.campaign, "form": form}
    status = 422 if form.errors else 200
    return render(request, "annotation/background.html", context, status=status)


def ask_first(request: HttpRequest, address: str) -> HttpResponse:
    """Send an annotator to what comes before the items: 302, or 409 in JSON."""
    if wants_json(request):
        return JsonResponse(refusal_json(STEP_FIRST, address=address), status=409)
    return redirect(address)
