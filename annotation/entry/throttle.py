"""A brake on guessing passwords and links, counted in the database: one for all processes.

It delays and never locks: docs/access.md says against whom it helps. An attempt is counted before
it is judged, so that many at once are not judged all, and taken back if it was right.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from django.db import transaction
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.functional import Promise, lazy
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from annotation.entry.devices import known_device
from annotation.entry.origins import network_address
from annotation.models import GuessCount

# Wrong passwords without delay: at one account from one network or one known browser; the same
# from a network that fails at many accounts; at one account from everywhere. Dead links.
FREE, FREE_WHEN_SPRAYING, FREE_ANYWHERE, FREE_LINKS = 5, 2, 20, 20
SPRAYING = 20
FIRST_DELAY, LONGEST_DELAY = timedelta(seconds=30), timedelta(minutes=15)
RECENT, FORGOTTEN = timedelta(hours=1), timedelta(days=1)
PRUNED = 100
TITLE = _("Too many attempts")
SENTENCE = gettext_noop("Too many attempts failed. Try again at %(time)s (UTC).")


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
    """The attempt was right: it is no failure."""
    rows = GuessCount.objects.filter(key__in=attempt.keys, failures__gt=0)
    rows.update(failures=F("failures") - 1)


def attempt_link(request: HttpRequest) -> Attempt:
    """Count a link that leads nowhere; links that work are not counted, so none is held up."""
    return _attempt("", [_Limit(_hashed("link", network_address(request)), FREE_LINKS)])


def sentence(until: datetime) -> Promise:
    """Say when the next attempt is judged, in the reader's language."""
    time = f"{until + timedelta(seconds=1):%H:%M:%S}"
    return cast(Promise, lazy(lambda: gettext(SENTENCE) % {"time": time}, str)())


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
