"""The appearance and language of pages in one browser, stored in cookies."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from annotation import interface

COOKIE = f"{settings.COOKIE_PREFIX}appearance"
Options = Mapping[str, str | Promise]
# The first option follows the system.
THEMES: Options = {"": _("Same as the system"), "light": _("Light"), "dark": _("Dark")}
TEXTS: Options = {"": _("Standard"), "large": _("Large"), "larger": _("Larger")}
MOTIONS: Options = {"": _("Same as the system"), "reduced": _("Reduced")}
KNOWN = {
    "theme": (_("Colours"), THEMES),
    "text": (_("Text size"), TEXTS),
    "motion": (_("Motion"), MOTIONS),
}


@dataclass(frozen=True)
class Choice:
    """A setting with its options."""

    name: str
    label: str | Promise
    options: list[tuple[str, str | Promise]]
    chosen: str


def chosen(request: HttpRequest) -> dict[str, str]:
    """Return this browser's choices by name, without unknown values."""
    parts = request.COOKIES.get(COOKIE, "").split(".")
    found = zip(KNOWN, parts, strict=False)
    return {name: value for name, value in found if value and value in KNOWN[name][1]}


def appearance(request: HttpRequest) -> dict[str, object]:
    """Give templates `appearance`: the attributes of the page's root."""
    return {"appearance": chosen(request)}


def choices(request: HttpRequest) -> list[Choice]:
    """Return all settings with the chosen options."""
    now = chosen(request)
    return [
        Choice(name, label, list(options.items()), now.get(name, ""))
        for name, (label, options) in KNOWN.items()
    ]


@require_POST
def choose_appearance(request: HttpRequest) -> HttpResponse:
    """Store a choice for a year; unknown values count as the defaults."""
    sent = {name: request.POST.get(name, "") for name in KNOWN}
    value = ".".join(v if v in KNOWN[name][1] else "" for name, v in sent.items())
    response = redirect("own-account")
    response.set_cookie(
        COOKIE,
        value,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        secure=settings.LANGUAGE_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


@require_POST
def choose_language(request: HttpRequest) -> HttpResponseBase:
    """Keep the language in a cookie and with the account; go back to where the person was."""
    language = request.POST.get("language", "")
    if request.user.is_authenticated and interface.is_known(language):
        interface.remember(user=request.user, language=language)
    return set_language(request)
