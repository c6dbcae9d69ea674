"""Show links that were just made to the person who made them; the database has only their hashes.

They stay in the session until they are hidden, for a day at most and only while they work, so that
they are not lost by leaving the page. They are encrypted with `SECRET_KEY`, so that a copy of the
database does not reveal them.
"""

import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.http import urlencode

from annotation.campaigns import Invitation
from annotation.models import Campaign
from annotation.models.people import hash_token

SECONDS = 24 * 3600
MOST = 1_000


@dataclass(frozen=True)
class FreshLink:
    """A link with the label of its annotator, or of the service its annotators come from."""

    label: str
    address: str
    is_personal: bool
    campaign: str

    @property
    def mail(self) -> str:
        """The `mailto:` address of a mail with the link."""
        body = f"{self.address}\n\nThis link is yours alone: whoever has it rates as you.\n"
        words = {"subject": f"Your link to rate: {self.campaign}", "body": body}
        return "mailto:?" + urlencode(words).replace("+", "%20")


def keep_invitations(
    request: HttpRequest, campaign: Campaign, invitations: Iterable[Invitation]
) -> None:
    """Store personal links in the session; a renewed link replaces the old one."""
    keep(request, campaign, [(each.annotator.label, each.token, None) for each in invitations])


def keep(
    request: HttpRequest, campaign: Campaign, made: Iterable[tuple[str, str, str | None]]
) -> None:
    """Store (label, token, suffix of an access link's address or None) in the session."""
    keep_sealed(request, campaign, sealed(made))


def sealed(made: Iterable[tuple[str, str, str | None]]) -> list[list[Any]]:
    """Return links encrypted, with the time, as plain values."""
    return [[label, *_sealed(token), suffix, time.time()] for label, token, suffix in made]


def sealed_invitations(invitations: Iterable[Invitation]) -> list[list[Any]]:
    """Return personal links encrypted, for a person whom a worker cannot show them."""
    return sealed((each.annotator.label, each.token, None) for each in invitations)


def personal(request: HttpRequest, rows: Iterable[list[Any]]) -> list[tuple[str, str]]:
    """Return the annotators and addresses of sealed personal links of the last day."""
    return [
        (label, request.build_absolute_uri(reverse("personal-link", args=[_opened(*secret)])))
        for label, *secret, _, made_at in rows
        if time.time() - made_at < SECONDS
    ]


def keep_sealed(request: HttpRequest, campaign: Campaign, rows: list[list[Any]]) -> None:
    """Store links in the session that were sealed before."""
    if rows:
        request.session[_key(campaign)] = [*_stored(request, campaign), *rows][-MOST:]


def hide(request: HttpRequest, campaign: Campaign) -> None:
    """Delete the links from the session."""
    request.session.pop(_key(campaign), None)


def shown(request: HttpRequest, campaign: Campaign) -> list[FreshLink]:
    """Return the links that still work, in the order in which they were made."""
    stored = _stored(request, campaign)
    if not stored:
        return []
    links = campaign.access_links.filter(revoked_at=None)
    alive = {
        *campaign.annotators.exclude(token_hash=None).values_list("token_hash", flat=True),
        *links.values_list("token_hash", flat=True),
    }
    opened = [(label, _opened(*sealed), suffix) for label, *sealed, suffix, _ in stored]
    return [_link(request, campaign, *row) for row in opened if hash_token(row[1]) in alive]


def _link(
    request: HttpRequest, campaign: Campaign, label: str, token: str, suffix: str | None
) -> FreshLink:
    name = "personal-link" if suffix is None else "access-link"
    address = request.build_absolute_uri(reverse(name, args=[token])) + (suffix or "")
    return FreshLink(label, address, suffix is None, campaign.name)


def _stored(request: HttpRequest, campaign: Campaign) -> list[Any]:
    rows = request.session.get(_key(campaign), [])
    return [row for row in rows if len(row) == 5 and time.time() - row[-1] < SECONDS]


def _sealed(token: str) -> tuple[str, str]:
    """Encrypt a token with a pad that is derived from a nonce and `SECRET_KEY`."""
    nonce = secrets.token_hex(16)
    return nonce, _padded(token.encode(), nonce).hex()


def _opened(nonce: str, sealed: str) -> str:
    """Decrypt a token; meaningless text if `SECRET_KEY` has changed."""
    return _padded(bytes.fromhex(sealed), nonce).decode(errors="replace")


def _padded(data: bytes, nonce: str) -> bytes:
    """Combine data with the pad by XOR, which is its own inverse. Tokens have 43 of 64 bytes."""
    pad = salted_hmac("annotation.web.fresh_links", nonce, algorithm="sha512").digest()
    return bytes(one ^ other for one, other in zip(data, pad[: len(data)], strict=True))


def _key(campaign: Campaign) -> str:
    return f"fresh_links:{campaign.pk}"
