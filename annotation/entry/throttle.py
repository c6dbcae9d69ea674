"""A brake on guessing passwords and links, counted in the database: one for all processes.

It delays and never locks: docs/access.md says against whom it helps. An attempt is counted before
it is judged, so that many at once are not judged all, and taken back if it was right.

A signed cookie names a browser and the accounts that have signed in from it with their password.
It is no credential; attempts from such a browser at such an account are counted apart, so
that strangers who guess cannot hold its owner up. See
https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies.
"""

import ipaddress
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import get_random_string, salted_hmac
from django.utils.translation import gettext_lazy as _

from annotation.models import GuessCount
from metaeval.messages import Message, message

UNKNOWN = "unknown"
# How settings.TRUSTED_PROXIES names a proxy that comes by a Unix socket, without an address.
UNIX = "unix"
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def network_address(request: HttpRequest) -> str:
    """Return whom to hold responsible: an IPv4 address, or the /64 network of an IPv6 one.

    X-Forwarded-For is whatever a visitor sends, up to what our own proxies add at its end. So it
    is read from its end, and only while whoever added an entry is in `settings.TRUSTED_PROXIES`.
    """
    peer = str(request.META.get("REMOTE_ADDR", ""))
    found = UNKNOWN
    for text in (peer, *_forwarded(request)):
        address = _parsed(text)
        found = _network(address) if address else found
        if not _is_trusted(address, text):
            return found
    return found


def _forwarded(request: HttpRequest) -> Iterator[str]:
    entries = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",")
    return (entry.strip() for entry in reversed(entries))


def _parsed(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    # A server that listens on IPv6 sees IPv4 visitors so, all in one /64.
    return getattr(address, "ipv4_mapped", None) or address


def _is_trusted(address: Address | None, text: str) -> bool:
    if address is None:
        return text == "" and UNIX in settings.TRUSTED_PROXIES
    networks = (each for each in settings.TRUSTED_PROXIES if each != UNIX)
    return any(address in ipaddress.ip_network(each) for each in networks)


def _network(address: Address) -> str:
    if address.version == 6:
        return str(ipaddress.ip_network((address, 64), strict=False).network_address)
    return str(address)


# Wrong passwords without delay: at one account from one network or one known browser; the same
# from a network that fails at many accounts; at one account from everywhere. Dead links.
FREE, FREE_WHEN_SPRAYING, FREE_ANYWHERE, FREE_LINKS = 5, 2, 20, 20
SPRAYING = 20
FIRST_DELAY, LONGEST_DELAY = timedelta(seconds=30), timedelta(minutes=15)
RECENT, FORGOTTEN = timedelta(hours=1), timedelta(days=1)
PRUNED = 100
TITLE = _("Too many attempts")


@dataclass(frozen=True)
class Attempt:
    """A counted attempt, or one that has to wait until `blocked_until`."""

    account: str = ""
    keys: Sequence[str] = ()
    blocked_until: datetime | None = None


@dataclass(frozen=True)
class _Limit:
    key: str
    free: int
    network: str = ""


def attempt_sign_in(request: HttpRequest, username: str) -> Attempt:
    """Count an attempt to sign in by password, before the password is looked at.

    A browser from which the account signed in before has a count of its own; only when that is
    used up, or without one, the counts of account and network decide.
    """
    account = _hashed("account", unicodedata.normalize("NFKC", username.strip()).casefold())
    if device := known_device(request, account):
        attempt = _attempt(account, [_Limit(_hashed("device", device, account), FREE)])
        if attempt.blocked_until is None:
            return attempt
    network = _hashed("network", network_address(request))
    free = FREE_WHEN_SPRAYING if _is_spraying(network) else FREE
    here = _Limit(_hashed("pair", network, account), free, network)
    return _attempt(account, [here, _Limit(_hashed("anywhere", account), FREE_ANYWHERE)])


def take_back(attempt: Attempt) -> None:
    """Remove the last attempt from the failures, because it succeeded."""
    rows = GuessCount.objects.filter(key__in=attempt.keys, failures__gt=0)
    rows.update(failures=F("failures") - 1)


def attempt_link(request: HttpRequest) -> Attempt:
    """Count a link that leads nowhere; links that work are not counted, so none is held up."""
    return _attempt("", [_Limit(_hashed("link", network_address(request)), FREE_LINKS)])


def refusal(until: datetime) -> Message:
    """Return the message with the time of the next attempt."""
    return message(
        "entry.too-many-attempts",
        "There were too many failed attempts. Try again at {time} (UTC).",
        time=f"{until + timedelta(seconds=1):%H:%M:%S}",
    )


def seconds_until(moment: datetime) -> int:
    """Return how long to wait, for the header Retry-After."""
    return max(1, 1 + int((moment - timezone.now()).total_seconds()))


def _hashed(*parts: str) -> str:
    return salted_hmac(
        "annotation.entry.throttle", "\n".join(parts), algorithm="sha256"
    ).hexdigest()


def _is_spraying(network: str) -> bool:
    since = timezone.now() - RECENT
    failing = GuessCount.objects.filter(network=network, failures__gt=0, failed_at__gt=since)
    return failing.count() >= SPRAYING


@transaction.atomic
def _attempt(account: str, limits: Sequence[_Limit]) -> Attempt:
    now = timezone.now()
    rows = _locked(limits, now)
    ends = [_end_of_delay(rows[limit.key], limit.free, now) for limit in limits]
    if blocked := [end for end in ends if end is not None and end > now]:
        return Attempt(account, blocked_until=max(blocked))
    for row in rows.values():
        row.failures, row.failed_at = _failures(row, now) + 1, now
    GuessCount.objects.bulk_update(rows.values(), ["failures", "failed_at"])
    return Attempt(account, [limit.key for limit in limits])


def _locked(limits: Sequence[_Limit], now: datetime) -> dict[str, GuessCount]:
    """Return the rows by key, made where they are not there, and locked in one order by all."""
    _prune(now)
    keys = sorted(limits, key=lambda limit: limit.key)
    GuessCount.objects.bulk_create(
        [GuessCount(key=limit.key, network=limit.network, failed_at=now) for limit in keys],
        update_conflicts=True,
        unique_fields=["key"],
        update_fields=["network"],
    )
    rows = GuessCount.objects.select_for_update().order_by("key")
    return {row.key: row for row in rows.filter(key__in=[limit.key for limit in keys])}


def _prune(now: datetime) -> None:
    """Forget old failures, a few at a time; who else has them locked is left alone."""
    old = GuessCount.objects.filter(failed_at__lt=now - FORGOTTEN)
    locked = old.select_for_update(skip_locked=True).values_list("pk", flat=True)[:PRUNED]
    if pks := list(locked):
        GuessCount.objects.filter(pk__in=pks).delete()


def _failures(row: GuessCount, now: datetime) -> int:
    return row.failures if row.failed_at > now - FORGOTTEN else 0


def _end_of_delay(row: GuessCount, free: int, now: datetime) -> datetime | None:
    beyond = _failures(row, now) - free
    if beyond < 0:
        return None
    delay: timedelta = min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(beyond, 10))
    return row.failed_at + delay


COOKIE = f"{settings.COOKIE_PREFIX}touchstone_device"
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
