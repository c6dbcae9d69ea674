"""Answers that could not be taken: the score stays in an address, to be sent once more.

The way back is a plain GET of the item page with the score filled in, which the person then
submits. So nothing is stored that nobody confirmed, and no form is replayed across sign-ins.
"""

from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.forms.judgments import parse_score

SIGNED_OUT = "You are signed out, so the score is not saved yet."


def kept_score(raw: str) -> str:
    """Return the score if it is one, and nothing otherwise."""
    try:
        return str(parse_score(raw))
    except ValidationError:
        return ""


def unsent_page(request: HttpRequest, *, status: int, title: str, sentence: str) -> HttpResponse:
    """Answer a refused plain form with the score and the ways to send it after all."""
    score = kept_score(request.POST.get("score", ""))
    back = request.path
    if score:
        back += "?" + urlencode({"unsent": score, "started": request.POST.get("started", "")[:200]})
    context = {
        "title": title,
        "sentence": sentence,
        "score": score,
        "back": back,
        "sign_in": f"{reverse('login')}?{urlencode({'next': back})}",
    }
    return render(request, "annotation/unsent.html", context, status=status)
