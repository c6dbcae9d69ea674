"""The language of the pages: what an annotator chose, kept in a cookie and with the account.

Annotators read their pages in every language of `settings.LANGUAGES`, researchers in those of
`settings.READERS`: a page is in one language throughout, numbers and dates included. Exports, the
API and Django's admin are the same for everybody. `docs/translating.md` tells how texts are
translated.
"""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

from annotation.models import Annotator

# The first part of every address that annotators open.
TRANSLATED = frozenset(
    {"", "login", "logout", "language", "enter", "a", "annotate", "item", "account", "password"}
)
# Addresses that programs read, and Django's own pages.
NEVER = frozenset({"api", "admin", "static"})
ENGLISH = "en"


def is_translated(path: str) -> bool:
    """Return whether the page at this address comes in every language of the interface."""
    return _first(path) in TRANSLATED


def languages_of(path: str) -> list[tuple[str, str]]:
    """Return the languages of the page at this address, with their own names."""
    if is_translated(path):
        return list(settings.LANGUAGES)
    # Reports are documents for papers, like other files.
    if _first(path) in NEVER or path.endswith(".html"):
        return []
    return [(code, name) for code, name in settings.LANGUAGES if code in settings.READERS]


def _first(path: str) -> str:
    return path.lstrip("/").split("/")[0]


def is_known(language: str) -> bool:
    """Return whether the interface has this language."""
    return language in dict(settings.LANGUAGES)


def remember(*, user: User, language: str) -> None:
    """Keep the language that a person chose with their part in every campaign (one query)."""
    Annotator.objects.filter(user=user).update(language=language)


def remembered(user: User) -> str:
    """Return the language that a person chose last, or nothing (one query)."""
    chosen = Annotator.objects.filter(user=user).exclude(language="").order_by("-pk")
    return chosen.values_list("language", flat=True).first() or ""


class LanguageMiddleware(LocaleMiddleware):
    """Django's middleware, with English for the pages that lack the reader's language.

    `request.chosen_language` is the reader's language on any page, and `request.languages` are
    those that this page comes in.
    """

    def process_request(self, request: HttpRequest) -> None:
        """Activate the language of the cookie, or else of the browser."""
        super().process_request(request)
        reader: Any = request
        reader.chosen_language = translation.get_language()
        reader.languages = languages_of(request.path_info)
        if reader.chosen_language not in dict(reader.languages):
            translation.activate(ENGLISH)
            reader.LANGUAGE_CODE = ENGLISH

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Set this browser to the language of the account after sign-in."""
        if language := getattr(request, "account_language", ""):
            set_cookie(response, language)
        return super().process_response(request, response)


def set_cookie(response: HttpResponseBase, language: str) -> None:
    """Let a browser keep the language, as Django's own view does."""
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        path=settings.LANGUAGE_COOKIE_PATH,
        domain=settings.LANGUAGE_COOKIE_DOMAIN,
        secure=settings.LANGUAGE_COOKIE_SECURE,
        httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
        samesite="Lax",
    )


@receiver(user_logged_in, dispatch_uid="annotation.interface")
def _recall(request: HttpRequest | None, user: Any, **kwargs: Any) -> None:
    if request is not None:
        reader: Any = request
        reader.account_language = remembered(user)
