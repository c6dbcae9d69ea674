"""Links that were just made, for whoever made them: everywhere else only their hashes are stored.

They wait in the session until they are hidden, for a day at most, and only while they work. So
no other click loses them.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode

from annotation.campaigns import Invitation
from annotation.entry.tokens import hash_token
from annotation.models import Campaign

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
    rows = [[*each, time.time()] for each in made]
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
    return [
        _link(request, campaign, label, token, suffix)
        for label, token, suffix, _ in kept
        if hash_token(token) in alive
    ]


def _link(
    request: HttpRequest, campaign: Campaign, label: str, token: str, suffix: str | None
) -> FreshLink:
    name = "personal-link" if suffix is None else "access-link"
    address = request.build_absolute_uri(reverse(name, args=[token])) + (suffix or "")
    return FreshLink(label, address, suffix is None, campaign.name)


def _kept(request: HttpRequest, campaign: Campaign) -> list[Any]:
    rows = request.session.get(_key(campaign), [])
    return [row for row in rows if time.time() - row[3] < SECONDS]


def _key(campaign: Campaign) -> str:
    return f"fresh_links:{campaign.pk}"
