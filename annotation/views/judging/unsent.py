"""Answers that could not be taken: of browsers without scripts, and of people signed out.

Two ways lead on. The page keeps all that was sent in a form, to be sent once more from there. And
a single score stays in an address: a plain GET of the item with the score filled in, which the
person then submits. Either way nothing is stored that nobody confirmed.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.forms.judgments import parse_score
from annotation.judging.answers import MAX_TEXT
from annotation.web.errors import refusal_json, refuse, wants_json
from core.messages import translated
from metaeval.messages import Message, message

OUT_OF_DATE_TITLE = _("This form is out of date")
SCORE_OUT_OF_DATE = message(
    "rating.page-out-of-date",
    "This page was opened before you last signed in, or cookies are blocked. "
    "The score is not saved yet. Submit it again.",
)
OUT_OF_DATE = message(
    "form.out-of-date",
    "This form is out of date: it was opened before you last signed in, or "
    "cookies are blocked. Nothing has been saved. Reload the page and send the "
    "form again.",
)
SIGNED_OUT_TITLE = _("You are signed out")
SIGNED_OUT = message("rating.signed-out", "You are signed out, so the rating is not saved yet.")
GONE = message(
    "rating.gone", "This item is no longer assigned to you, so the rating cannot be stored."
)


def kept_score(raw: str) -> str:
    """Return the score if it is one, and nothing otherwise."""
    try:
        return str(parse_score(raw))
    except ValidationError:
        return ""


def unsent_page(
    request: HttpRequest, *, status: int, title: str | Promise, refusal: Message
) -> HttpResponse:
    """Answer a refused plain form with the score and the ways to send it after all."""
    score = kept_score(request.POST.get("score", ""))
    back = request.path
    if score:
        back += "?" + urlencode({"unsent": score, "started": request.POST.get("started", "")[:200]})
    context = {
        "title": title,
        "sentence": translated(refusal),
        "score": score,
        "fields": _fields(request),
        "back": back,
        "path": request.path,
        "sign_in": f"{reverse('login')}?{urlencode({'next': back})}",
    }
    return render(request, "annotation/unsent.html", context, status=status)


def _fields(request: HttpRequest) -> list[tuple[str, str]]:
    """Return what was sent, each part cut to its maximum length."""
    sent = [(name, value) for name, value in request.POST.items() if name != "csrfmiddlewaretoken"]
    return [(name[:40], str(value)[:MAX_TEXT]) for name, value in sent]


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer 403 for a form that was open while the user signed out or in again."""
    title = OUT_OF_DATE_TITLE
    if "submit_key" in request.POST and not wants_json(request):
        return unsent_page(request, status=403, title=title, refusal=SCORE_OUT_OF_DATE)
    if "submit_key" in request.POST:
        return refuse(request, 403, title, SCORE_OUT_OF_DATE)
    return refuse(request, 403, title, OUT_OF_DATE)


def answered_here(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Decorate a view for people who are signed in; scripts get status 401.

    Sent on to the sign-in page they would fetch it, and its new CSRF cookie would spoil the form
    that somebody is filling in in another tab.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        return told_signed_out(request) or redirect_to_login(request.get_full_path())

    return guarded


def told_signed_out(request: HttpRequest) -> JsonResponse | None:
    """Answer 401 to a script without a session; the response sets no cookie."""
    if not wants_json(request):
        return None
    return JsonResponse(refusal_json(SIGNED_OUT, sign_in=reverse("login")), status=401)
