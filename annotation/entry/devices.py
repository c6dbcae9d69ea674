"""Browsers from which an account has signed in with its password before.

A signed cookie names the browser and its accounts. It lets nobody in; attempts from such a browser
at such an account are counted by themselves, so that strangers who guess cannot hold its owner up.
See https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies.
"""

from django.http import HttpRequest, HttpResponse
from django.utils.crypto import get_random_string

COOKIE = "touchstone_device"
SALT = "annotation.entry.devices"
SECONDS = 180 * 24 * 3600
# Computers that many people use; the cookie must stay small.
ACCOUNTS = 20
SHOWN = 16


def known_device(request: HttpRequest, account: str) -> str:
    """Return the name of the browser if the `account`, a hash, has signed in from it, or ""."""
    name, accounts = _read(request)
    return name if account[:SHOWN] in accounts else ""


def remember_device(request: HttpRequest, response: HttpResponse, account: str) -> None:
    """Set the cookie of a browser from which the `account`, a hash, has just signed in."""
    name, accounts = _read(request)
    short = account[:SHOWN]
    newest_first = [short, *(each for each in accounts if each != short)][:ACCOUNTS]
    response.set_signed_cookie(
        COOKIE,
        ".".join([name or get_random_string(22), *newest_first]),
        salt=SALT,
        max_age=SECONDS,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure(),
    )


def _read(request: HttpRequest) -> tuple[str, list[str]]:
    value = request.get_signed_cookie(COOKIE, default="", salt=SALT, max_age=SECONDS) or ""
    name, *accounts = value.split(".")
    return name, accounts
