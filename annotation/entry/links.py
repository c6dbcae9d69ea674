"""Access links: one address that lets many people in, each as an annotator of their own."""

import re
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.access import only_rates
from annotation.entry.places import free_places, is_fixed, new_place
from annotation.entry.welcome import NotOpenError, refuse_unless_open
from annotation.models import AccessLink, Annotator, AuditEntry, Campaign
from annotation.models.people import hash_token, new_token
from metaeval.messages import Message, MessageError, message

Provider = AccessLink.Provider
# Whose parameter names the person, and which others are kept with the entry.
PERSON = {Provider.PROLIFIC: "PROLIFIC_PID", Provider.MTURK: "workerId"}
DETAILS = {
    Provider.PROLIFIC: ("STUDY_ID", "SESSION_ID"),
    Provider.MTURK: ("assignmentId", "hitId"),
    Provider.OPEN: (),
}
MAX_PARAMETER = 100
IDENTIFIER = re.compile(r"[A-Za-z0-9_-]+")
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"


class EntryError(MessageError):
    """A refused entry: the HTTP status, a title and a message for the person."""

    def __init__(self, status: int, title: str | Promise, message: Message) -> None:
        super().__init__(message)
        self.status, self.title = status, title


def create_link(
    *,
    campaign: Campaign,
    actor: User,
    provider: str = Provider.OPEN,
    quota: int = 0,
    completion_code: str = "",
    expires_at: datetime | None = None,
) -> tuple[AccessLink, str]:
    """Return a new link with its token, which is known only now."""
    token, token_hash = new_token()
    with transaction.atomic():
        link = AccessLink.objects.create(
            campaign=campaign,
            token_hash=token_hash,
            provider=provider,
            quota=quota,
            completion_code=completion_code,
            expires_at=expires_at,
        )
        AuditEntry.objects.create(
            campaign=campaign, actor=actor, action="access link made", details={"by": provider}
        )
    return link, token


@transaction.atomic
def revoke_link(*, link: AccessLink, actor: User) -> None:
    """Let nobody in by this link any more, newcomer or not; work begun stays."""
    done = AccessLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=timezone.now())
    if done:
        AuditEntry.objects.create(
            campaign=link.campaign,
            actor=actor,
            action="access link revoked",
            details={"by": link.provider},
        )


def find_link(token: str) -> AccessLink:
    """Return the link that carries the token; raises EntryError 404 or, once revoked, 410."""
    rows = AccessLink.objects.select_related("campaign__test_set")
    link = rows.filter(token_hash=hash_token(token)).first()
    if link is None:
        raise EntryError(
            404,
            _("This link does not work"),
            message(
                "entry.unknown-link",
                "The link is incomplete or wrong. Ask the person who sent it for a new one.",
            ),
        )
    if link.revoked_at is not None:
        raise EntryError(
            410,
            _("This link has been withdrawn"),
            message("entry.withdrawn", "It can no longer be used."),
        )
    return link


def is_preview(link: AccessLink, query: Mapping[str, str]) -> bool:
    """Return whether the visitor previews the task on Mechanical Turk without accepting it."""
    return link.provider == Provider.MTURK and query.get("assignmentId") == PREVIEW


def person_id(link: AccessLink, query: Mapping[str, str]) -> str:
    """Return the id of the person in the address, named by its provider.

    Raises EntryError 400 where it is missing, too long, or a placeholder that nobody filled.
    """
    name = PERSON[Provider(link.provider)]
    value = query.get(name, "")
    for each in (name, *DETAILS[Provider(link.provider)]):
        if len(query.get(each, "")) > MAX_PARAMETER:
            raise _bad(
                message(
                    "entry.parameter-too-long",
                    "The parameter {name} in the address is too long. Open the task again from the "
                    "page on which you found it.",
                    name=each,
                )
            )
    if not value:
        raise _bad(
            message(
                "entry.parameter-missing",
                "The parameter {name} is missing from the address. Open the task again from the "
                "page on which you found it.",
                name=name,
            )
        )
    if not IDENTIFIER.fullmatch(value):
        raise _bad(
            message(
                "entry.parameter-invalid",
                "The parameter {name} in the address is not a valid identifier. Open the task "
                "again from the page on which you found it.",
                name=name,
            )
        )
    return f"{link.provider}:{value}"


def _bad(message: Message) -> EntryError:
    return EntryError(400, _("This address is incomplete"), message)


def new_person_id() -> str:
    """Return an id for somebody who came by an open link; their browser keeps it."""
    return f"{Provider.OPEN}:{secrets.token_urlsafe(24)}"


def entry_details(link: AccessLink, query: Mapping[str, str]) -> dict[str, str]:
    """Return what else the provider says of the visit."""
    names = DETAILS[Provider(link.provider)]
    return {name: query[name][:MAX_PARAMETER] for name in names if query.get(name)}


def find_person(link: AccessLink, external_id: str) -> Annotator | None:
    """Return the annotator that a person has been in this campaign, with the account."""
    rows = link.campaign.annotators.select_related("user", "campaign")
    return rows.filter(external_id=external_id).first() if external_id else None


def refuse_newcomers(link: AccessLink) -> None:
    """Raise EntryError if the link admits no new people: not open, expired, or full."""
    try:
        refuse_unless_open(link.campaign.status)
    except NotOpenError as refusal:
        raise EntryError(409, _("No ratings at the moment"), refusal.message) from None
    if link.expires_at is not None and link.expires_at <= timezone.now():
        raise EntryError(
            410,
            _("This link has expired"),
            message(
                "entry.link-over",
                "This link is no longer accepting new people. Ask the person who sent it "
                "for another one.",
            ),
        )
    is_full = 0 < link.quota <= link.annotators.count()
    if is_full or (is_fixed(link.campaign) and not free_places(link.campaign).exists()):
        raise EntryError(
            403,
            _("All places are taken"),
            message("entry.full", "Enough people are already taking part."),
        )


@transaction.atomic
def let_in(*, link: AccessLink, external_id: str, details: Mapping[str, Any]) -> Annotator:
    """Return the annotator of a person: the one they have been, or a new one.

    The lock on the campaign makes newcomers queue, so that no more get in than the quota says,
    no free place is taken twice, and nobody who clicks twice becomes two people. Raises
    EntryError.
    """
    campaign = Campaign.objects.select_for_update().get(pk=link.campaign_id)
    link = AccessLink.objects.get(pk=link.pk)
    link.campaign = campaign
    annotator = find_person(link, external_id)
    if annotator is None:
        refuse_newcomers(link)
        annotator = _take_place(link, external_id, details)
    if annotator.user is None or not annotator.user.is_active or not only_rates(annotator.user):
        raise EntryError(
            403,
            _("This link cannot be used for your account"),
            message("entry.not-by-link", "Sign in with your password instead."),
        )
    return annotator


def _take_place(link: AccessLink, external_id: str, details: Mapping[str, Any]) -> Annotator:
    """Assign a free annotator to a person; its personal link stops working."""
    free = free_places(link.campaign).select_related("user") if is_fixed(link.campaign) else None
    annotator = new_place(link.campaign) if free is None else free[0]
    annotator.access_link, annotator.external_id = link, external_id
    annotator.token_hash = annotator.token_expires_at = None
    annotator.save(update_fields=["access_link", "external_id", "token_hash", "token_expires_at"])
    AuditEntry.objects.create(
        campaign=link.campaign,
        annotator=annotator,
        action="entered by access link",
        details={"by": link.provider, **details},
    )
    return annotator


@transaction.atomic
def give_up(*, annotator: Annotator) -> None:
    """Give the place of somebody free who came by an access link and does not take part.

    Nothing is given up once something is rated. A place with a share of items waits for the next
    person; any other goes together with its account, so nothing is kept of the person.
    """
    Campaign.objects.select_for_update().get(pk=annotator.campaign_id)
    annotator = Annotator.objects.select_related("user").get(pk=annotator.pk)
    if annotator.access_link_id is None or annotator.user is None:
        return
    if annotator.assignments.filter(completed_at__isnull=False).exists():
        return
    user = annotator.user
    if annotator.assignments.exists():
        annotator.access_link, annotator.external_id, annotator.background = None, "", None
        annotator.save(update_fields=["access_link", "external_id", "background"])
        user.last_login = None
        user.save(update_fields=["last_login"])
    else:
        annotator.delete()
        user.delete()
