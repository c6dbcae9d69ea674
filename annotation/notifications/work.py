"""Notifications and letters as background jobs (`core.work`), retried for about an hour."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from annotation import notices
from annotation.access import is_site_admin
from annotation.accounts import managing
from annotation.entry import places
from annotation.models import AccountLink, Annotator, AuditEntry, Campaign, Letter, Notification
from annotation.models.people import hash_token
from annotation.notifications import delivery
from annotation.notifications import letters as mails
from core.messages import messages_of
from core.work.claims import fail, finish, hold, retry
from core.work.kinds import Lease, WorkKind
from metaeval.messages import Message, message

# Make the links of letters while sending, and take them back if a letter is refused.


@dataclass(frozen=True)
class MadeLink:
    """A link; `undo` restores the previous one, unless a newer one has been made."""

    address: str
    undo: Callable[[], None]


def make(letter: Letter) -> MadeLink:
    """Make the link of a letter, in a transaction.

    Raises ValidationError if the person may no longer get one.
    """
    if letter.annotator_id is None:
        return _of_account(letter)
    return _personal(letter, letter.annotator_id)


def _personal(letter: Letter, pk: int) -> MadeLink:
    """Make a personal link; the lock keeps others from taking this annotator meanwhile."""
    annotator = Annotator.objects.select_related("user").get(pk=pk)
    campaign = Campaign.objects.select_for_update().get(pk=annotator.campaign_id)
    annotator.refresh_from_db(
        fields=["access_link", "excluded_at", "token_hash", "token_expires_at"]
    )
    if campaign.status == Campaign.Status.CLOSED:
        raise ValidationError([message("letter.campaign-closed", "This campaign is closed.")])
    if annotator.access_link_id is not None or annotator.excluded_at is not None:
        raise ValidationError(
            [
                message(
                    "letter.annotator-taken",
                    "Somebody joined by an access link as this annotator, or the annotator is "
                    "excluded.",
                )
            ]
        )
    before = {"token_hash": annotator.token_hash, "token_expires_at": annotator.token_expires_at}
    token = places.renew(annotator=annotator, expires_at=letter.link_expires_at).token

    def undo() -> None:
        rows = Annotator.objects.filter(pk=annotator.pk, token_hash=hash_token(token))
        rows.update(**before)

    return MadeLink(letter.site + reverse("personal-link", args=[token]), undo)


def _of_account(letter: Letter) -> MadeLink:
    """Make a link for an account; `reset` records it, and refuses those who may not."""
    user, actor = letter.account, letter.asked_by
    if user is None or actor is None or not actor.is_active or not is_site_admin(actor):
        raise ValidationError(
            [
                message(
                    "letter.no-admin",
                    "The person who requested this e-mail is no longer a site admin.",
                )
            ]
        )
    before = AccountLink.objects.filter(user=user).values("token_hash", "expires_at").first()
    token = managing.reset(actor=actor, user=user)

    def undo() -> None:
        rows = AccountLink.objects.filter(user=user, token_hash=hash_token(token))
        rows.update(**before) if before else rows.delete()

    return MadeLink(letter.site + reverse("account-link", args=[token]), undo)


FIRST_WAIT_SECONDS = 30
LOOK_SECONDS = 60.0
Channel = Notification.Channel


class Notifications(WorkKind[Notification]):
    """One row per channel, so that a failed webhook does not repeat an e-mail."""

    name = "notification"
    model = Notification
    max_attempts = 8
    soft_seconds, hard_seconds = 120.0, 150.0
    looked_at = -LOOK_SECONDS

    def do(self, row: Notification, lease: Lease) -> None:
        """Deliver; retry after 30 s, 60 s, … if that may help."""
        try:
            campaign = row.campaign
            if row.channel == Channel.EMAIL and campaign.notify_email:
                delivery.mail(row.subject, row.body, [campaign.notify_email])
            elif row.channel == Channel.WEBHOOK and campaign.notify_webhook:
                secret = delivery.secret_of(campaign.slug)
                delivery.post(campaign.notify_webhook, row.body.encode(), secret=secret)
        except delivery.TemporaryError as error:
            retry(row, error.message, seconds=FIRST_WAIT_SECONDS * 2**row.attempts)
        except delivery.DeliveryError as error:
            fail(row, error.message)
        else:
            with transaction.atomic():
                if finish(row):
                    _record(row)

    def ended(self, row: Notification) -> None:
        """Record in the audit trail why it failed."""
        _record(row, row.message)

    def tidy(self) -> None:
        """Look for campaigns that have become complete, also after a crash."""
        if time.monotonic() - self.looked_at >= LOOK_SECONDS:
            self.looked_at = time.monotonic()
            notices.check_all()


notifications = Notifications()


class Letters(WorkKind[Letter]):
    """Handed over at most once: one that a mail server may have is never sent again."""

    name = "letter"
    model = Letter
    max_attempts = 8
    soft_seconds, hard_seconds = 120.0, 150.0

    def do(self, row: Letter, lease: Lease) -> None:
        """Send it with a new link. If it is refused, the previous link still works."""
        problem = UNSURE if row.begun_at else mails.missing()
        if problem:
            fail(row, problem)
            return
        try:
            server = delivery.mail_server()
        except delivery.DeliveryError as error:
            _try_again(row, error)
            return
        try:
            if (link := _begin(row)) is not None:
                _hand_over(row, server, link)
        except ValidationError as error:
            fail(row, messages_of(error)[0])
        finally:
            server.close()


letters = Letters()
UNSURE = message(
    "mail.unsure",
    "The mail server did not answer, so the e-mail may have arrived. Ask before you send another "
    "one: it replaces the link.",
)


def _begin(row: Letter) -> MadeLink | None:
    """Make the link and record that; None if another process has the row now."""
    with transaction.atomic():
        if not hold(row, begun_at=timezone.now()):
            return None
        return make(row)


def _hand_over(row: Letter, server: Any, link: MadeLink) -> None:
    text = row.body.replace(Letter.LINK, link.address)
    try:
        delivery.hand_over(server, row.subject, text, row.address)
    except delivery.UnsureError:
        fail(row, UNSURE)
    except delivery.DeliveryError as error:
        with transaction.atomic():
            if hold(row, begun_at=None):
                link.undo()
        _try_again(row, error)
    else:
        finish(row, accepted_at=timezone.now(), message="")


def _try_again(row: Letter, error: delivery.DeliveryError) -> None:
    if isinstance(error, delivery.TemporaryError):
        retry(row, error.message, seconds=FIRST_WAIT_SECONDS * 2**row.attempts)
    else:
        fail(row, error.message)


def _record(row: Notification, problem: Message | str = "") -> None:
    AuditEntry.objects.create(
        campaign_id=row.campaign_id,
        action="notification failed" if problem else "notified",
        reason=problem,  # type: ignore[misc]  # MessageField
        details={"channel": row.channel, "subject": row.subject},
    )
