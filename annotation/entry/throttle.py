"""A brake on guessing: after too many failures from one network address it has to wait.

Counted in Django's cache. The default cache is one for each server process, so that with several
processes an address gets as many times the failures.
"""

import ipaddress

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

FAILURES = 20
SECONDS = 10 * 60
TITLE = _("Too many attempts")
SENTENCE = _("Too many attempts failed from your network. Wait ten minutes, then try again.")


def is_blocked(request: HttpRequest, what: str) -> bool:
    """Whether the visitor's address has failed too often at `what` lately."""
    return int(cache.get(_key(request, what), 0)) >= FAILURES


def count_failure(request: HttpRequest, what: str) -> None:
    """Count a failure; the ten minutes begin with the first."""
    key = _key(request, what)
    cache.add(key, 0, SECONDS)
    try:
        cache.incr(key)
    except ValueError:  # expired between the two
        cache.set(key, 1, SECONDS)


def _key(request: HttpRequest, what: str) -> str:
    return f"throttle:{what}:{network_address(request)}"


def network_address(request: HttpRequest) -> str:
    """Return whom to hold responsible: an IPv4 address, or the /64 network of an IPv6 one.

    Behind a proxy (HTTPS=yes) the last entry of X-Forwarded-For is the one the proxy wrote;
    those before it are whatever the visitor sent.
    """
    address = str(request.META.get("REMOTE_ADDR", ""))
    forwarded = str(request.META.get("HTTP_X_FORWARDED_FOR", ""))
    if settings.HTTPS and forwarded:
        address = forwarded.rpartition(",")[2].strip()
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if parsed.version == 6:
        return str(ipaddress.ip_network((parsed, 64), strict=False).network_address)
    return str(parsed)
