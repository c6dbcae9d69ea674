"""Ways into a campaign for its annotators, and the pages between items."""

from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import signed_in, visible_campaigns
from annotation.entry import throttle, welcome
from annotation.entry.accounts import BY_LINK, may_replace
from annotation.entry.welcome import NotOpenError, refuse_unless_open
from annotation.judging import assignments
from annotation.judging.progress import progress
from annotation.models import Annotator, Campaign
from annotation.pay import pay_for
from annotation.prefill.trial import is_trial
from annotation.qualification import codes
from annotation.web import password
from annotation.web.errors import refuse, refuse_guessing
from core.messages import translated
from metaeval.messages import Message, message

DEAD_LINK_TITLE = _("This link does not work")
DEAD_LINK = message(
    "entry.dead-link",
    "The link is incomplete, or a newer one has replaced it. Ask the person "
    "who sent it for a new one. Your earlier ratings are saved.",
)
EXPIRED_LINK_TITLE = _("This link has expired")
EXPIRED_LINK = message(
    "entry.expired-link",
    "This link has passed its last day. Ask the person who sent it for a new "
    "one. Your earlier ratings are saved.",
)
PAGE_SIZE = 100


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def personal_link(request: HttpRequest, token: str) -> HttpResponse:
    """Sign the owner of the link in; ask first if that would end a session with a password."""
    with transaction.atomic():
        annotator = assignments.find_by_token(token, lock=True)
        if annotator is None or annotator.user is None:
            return _dead_link(request, token)
        if asked := ask_to_switch(request, annotator.user, annotator.campaign):
            return asked
        sign_in_by_link(request, annotator.user)
    return redirect("annotate", slug=annotator.campaign.slug)


def sign_in_by_link(request: HttpRequest, user: User | None) -> None:
    """Sign the owner of a link in; a link is no password, so deletions ask for that again."""
    login(request, user, backend=BY_LINK)
    request.session.pop(password.KEY, None)


def ask_to_switch(
    request: HttpRequest, user: User | None, campaign: Campaign
) -> HttpResponse | None:
    """Return what to answer before a link signs `user` in; None if it may do so now.

    Another person's session is replaced only by the button that says so. The page does not say
    whose link it is.
    """
    if may_replace(request, user):
        return None
    choice = request.POST.get("switch", "")
    if choice == "open":
        logout(request)
        return None
    if choice == "stay":
        is_seen = visible_campaigns(request.user).filter(pk=campaign.pk).exists()
        return redirect(campaign if is_seen else "home")
    return render(request, "annotation/switch.html")


def _dead_link(request: HttpRequest, token: str) -> HttpResponse:
    if assignments.is_expired(token):
        return refuse(request, 410, EXPIRED_LINK_TITLE, EXPIRED_LINK)
    if until := throttle.attempt_link(request).blocked_until:
        return refuse_guessing(request, until)
    return refuse(request, 404, DEAD_LINK_TITLE, DEAD_LINK)


@never_cache
@require_safe
@login_required
def next_item(request: HttpRequest, slug: str) -> HttpResponse:
    """Go on where one was."""
    annotator = annotator_or_404(request, slug)
    try:
        refuse_unless_open(annotator.campaign.status)
    except NotOpenError as refusal:
        return not_open_page(request, annotator.campaign.slug, refusal.message)
    if address := welcome.next_step(annotator):
        return redirect(address)
    public_id = assignments.first_open(annotator)
    if public_id is None:
        return redirect("annotate-done", slug=slug)
    return redirect("item", public_id=public_id)


@never_cache
@require_safe
@login_required
def done(request: HttpRequest, slug: str) -> HttpResponse:
    """Thank the annotator, or redirect to the next item."""
    annotator = annotator_or_404(request, slug)
    how_far = progress(annotator)
    is_open = annotator.campaign.status == Campaign.Status.OPEN
    if is_open and (welcome.next_step(annotator) or assignments.first_open(annotator)):
        return redirect("annotate", slug=slug)
    context = {"campaign": annotator.campaign.title, "slug": slug, "progress": how_far}
    until = assignments.changeable_until(annotator)
    context |= {"annotator": annotator, "until": until}
    context["is_changeable"] = is_open and (until is None or until > timezone.now())
    is_done = bool(how_far.done) and how_far.done == how_far.total
    is_asked = is_done and annotator.attitude is None and is_trial(annotator.campaign)
    context |= {"is_asked": is_asked, "currency": annotator.campaign.currency}
    if annotator.campaign.shows_pay:
        context["pay"] = pay_for(annotator.campaign, how_far.paid_ms)
    told = codes.completion_of(annotator, has_more=not is_open)
    context["told"] = told
    context["goodbye"] = codes.goodbye(annotator, told) if is_done else ""
    return render(request, "annotation/done.html", context)


@never_cache
@require_safe
@login_required
def history(request: HttpRequest, slug: str) -> HttpResponse:
    """List an annotator's answers, with links to revise them while the campaign is open."""
    annotator = annotator_or_404(request, slug)
    campaign = annotator.campaign
    page = Paginator(assignments.rated_items(annotator), PAGE_SIZE).get_page(
        request.GET.get("page")
    )
    context = {
        "campaign": campaign.title,
        "annotator": annotator,
        "slug": slug,
        "is_open": campaign.status == Campaign.Status.OPEN,
        "shows_corrections": campaign.shows_corrections,
        "page": page,
        "items": assignments.shown_items(list(page), campaign),
    }
    return render(request, "annotation/history.html", context)


def not_open_page(request: HttpRequest, slug: str, refusal: Message) -> HttpResponse:
    """Answer 409 for a campaign that takes no answers, with a link to one's own ratings."""
    context = {"sentence": translated(refusal), "slug": slug}
    return render(request, "annotation/not_open.html", context, status=409)


def annotator_or_404(request: HttpRequest, slug: str) -> Annotator:
    annotator = assignments.find_annotator(user=signed_in(request), slug=slug)
    if annotator is None:
        raise Http404
    return annotator


CHOICES = range(1, 6)


@never_cache
@require_POST
@login_required
def attitude(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep the first answer of somebody who is done."""
    annotator = annotator_or_404(request, slug)
    if not is_trial(annotator.campaign):
        raise Http404
    how_far = progress(annotator)
    given = request.POST.get("attitude", "")
    is_known = given in {str(choice) for choice in CHOICES}
    if is_known and how_far.done and how_far.done == how_far.total:
        own = Annotator.objects.filter(pk=annotator.pk, attitude=None)
        own.update(attitude=int(given))
    return redirect("annotate-done", slug=slug)
