"""Links that were just made, for whoever made them: everywhere else only their hashes are stored.

They wait in the session until they are hidden, for a day at most, and only while they work. So
no other click loses them. There they are sealed with `SECRET_KEY`: who reads the database alone,
or a copy of it, has no link.
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
    """A link with the label of its annotator, or of where its people come from."""

    label: str
    address: str
    is_personal: bool
    campaign: str

    @property
    def mail(self) -> str:
        """The address of a mail that holds the link."""
        body = f"{self.address}\n\nThis link is yours alone: whoever has it rates as you.\n"
        words = {"subject": f"Your link to rate: {self.campaign}", "body": body}
        return "mailto:?" + urlencode(words).replace("+", "%20")


def keep_invitations(
    request: HttpRequest, campaign: Campaign, invitations: Iterable[Invitation]
) -> None:
    """Keep personal links; a link made again takes the place of the old one."""
    keep(request, campaign, [(each.annotator.label, each.token, None) for each in invitations])


def keep(
    request: HttpRequest, campaign: Campaign, made: Iterable[tuple[str, str, str | None]]
) -> None:
    """Keep (label, token, what follows the address of an access link, or None)."""
    rows = [[label, *_sealed(token), suffix, time.time()] for label, token, suffix in made]
    if rows:
        request.session[_key(campaign)] = [*_kept(request, campaign), *rows][-MOST:]


def hide(request: HttpRequest, campaign: Campaign) -> None:
    """Forget them."""
    request.session.pop(_key(campaign), None)


def shown(request: HttpRequest, campaign: Campaign) -> list[FreshLink]:
    """Return those that still work, in the order in which they were made."""
    kept = _kept(request, campaign)
    if not kept:
        return []
    links = campaign.access_links.filter(revoked_at=None)
    alive = {
        *campaign.annotators.exclude(token_hash=None).values_list("token_hash", flat=True),
        *links.values_list("token_hash", flat=True),
    }
    opened = [(label, _opened(*sealed), suffix) for label, *sealed, suffix, _ in kept]
    return [_link(request, campaign, *row) for row in opened if hash_token(row[1]) in alive]


def _link(
    request: HttpRequest, campaign: Campaign, label: str, token: str, suffix: str | None
) -> FreshLink:
    name = "personal-link" if suffix is None else "access-link"
    address = request.build_absolute_uri(reverse(name, args=[token])) + (suffix or "")
    return FreshLink(label, address, suffix is None, campaign.name)


def _kept(request: HttpRequest, campaign: Campaign) -> list[Any]:
    rows = request.session.get(_key(campaign), [])
    return [row for row in rows if len(row) == 5 and time.time() - row[-1] < SECONDS]


def _sealed(token: str) -> tuple[str, str]:
    """A token under a pad of its own, which only `SECRET_KEY` makes again from the nonce."""
    nonce = secrets.token_hex(16)
    return nonce, _padded(token.encode(), nonce).hex()


def _opened(nonce: str, sealed: str) -> str:
    """The token; anything else where `SECRET_KEY` is another one now."""
    return _padded(bytes.fromhex(sealed), nonce).decode(errors="replace")


def _padded(data: bytes, nonce: str) -> bytes:
    """Each byte and its byte of the pad: the same again undoes it. Tokens have 43 of 64 bytes."""
    pad = salted_hmac("annotation.web.fresh_links", nonce, algorithm="sha512").digest()
    return bytes(one ^ other for one, other in zip(data, pad[: len(data)], strict=True))


def _key(campaign: Campaign) -> str:
    return f"fresh_links:{campaign.pk}"
