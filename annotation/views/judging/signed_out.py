"""What scripts and browsers get that nobody is signed in for."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.urls import reverse

from annotation.views.judging.unsent import SIGNED_OUT
from annotation.web.errors import refusal_json, wants_json


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
