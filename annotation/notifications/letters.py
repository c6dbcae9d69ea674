"""Letters: e-mails that bring one person a link, asked for by whoever runs a campaign or the site.

A letter is asked for with its text, and the link is made when a worker sends it (`work.Letters`).
So no link waits in the database, and none is in a log.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from annotation.access import ANNOTATOR
from annotation.models import Annotator, AuditEntry, Campaign, Letter
from core.work.sending import send_on_commit
from metaeval.messages import Message, message

QUEUE = "mail"
# How long a letter waits until the page says that nobody takes it.
PATIENCE_SECONDS = 20
NO_SERVER = message(
    "mail.no-server",
    "No mail server is set. Administrators of this server set one in the variable EMAIL_URL, for "
    "the web process and for the workers.",
)


@dataclass(frozen=True)
class Words:
    """What a letter says; `{link}` in the text stands for the link."""

    subject: str
    text: str


def missing() -> Message | None:
    """Return what is missing before links can be mailed; None if nothing is."""
    return None if settings.MAILS_LINKS else NO_SERVER


def language_for(campaign: Campaign) -> str:
    """Return the language in which its annotators most likely read: that of the translations."""
    wanted = campaign.test_set.target_language.split("-")[0]
    known = (code for code, _ in settings.LANGUAGES if code.split("-")[0] == wanted)
    return next(known, settings.LANGUAGE_CODE)


def personal_words(campaign: Campaign, language: str) -> Words:
    """Return what a letter with a personal link says unless somebody changes it."""
    with translation.override(language):
        paragraphs = (
            _("You are invited to rate translations."),
            _("This is your personal link:") + "\n" + Letter.LINK,
            _(
                "Open it at any time to continue where you stopped. Please do not share "
                "it: anyone who opens it rates in your name."
            ),
        )
        subject = _("Your link to rate translations: %(campaign)s") % {"campaign": campaign.title}
    return Words(subject, "\n\n".join(paragraphs) + "\n")


def account_words(user: User, site: str) -> Words:
    """Return what a letter with a link to set a password says."""
    about = {"site": site, "name": user.get_username()}
    greeting = (
        _("Use this link to set a new password for your account %(name)s at %(site)s:")
        if user.has_usable_password()
        else _("You have an account at %(site)s: %(name)s. Use this link to set its password:")
    )
    ends = _("The link works once and expires soon. Do not share it.")
    subject = _("Your account at %(site)s") % about
    return Words(subject, f"{greeting % about}\n{Letter.LINK}\n\n{ends}\n")


def reachable(campaign: Campaign) -> QuerySet[Annotator]:
    """Return the annotators who can get a personal link, with how their last letter stands.

    Their e-mail address is that of their account.
    """
    last = Letter.objects.filter(annotator=OuterRef("pk")).order_by("-pk")
    rows = campaign.annotators.filter(
        user__is_active=True, user__is_staff=False, user__is_superuser=False,
        access_link=None, is_simulated=False, excluded_at=None,
    ).exclude(user__groups__in=Group.objects.exclude(name=ANNOTATOR))  # fmt: skip
    return (
        rows.select_related("user")
        .annotate(letter_status=Subquery(last.values("status")[:1]))
        .order_by("pk")
    )


def has_recipients(campaign: Campaign) -> bool:
    """Return whether an annotator can get a personal link."""
    return reachable(campaign).exists()


def sent(campaign: Campaign) -> QuerySet[Letter]:
    """Return the letters of a campaign, the newest first."""
    rows = Letter.objects.filter(annotator__campaign=campaign)
    return rows.select_related("annotator").order_by("-pk")


def is_stuck(rows: Iterable[Letter]) -> bool:
    """Return whether a letter has waited for a worker for longer than usual."""
    waits = (row for row in rows if row.status == Letter.Status.QUEUED and not row.attempts)
    return any(
        (timezone.now() - row.created_at).total_seconds() > PATIENCE_SECONDS for row in waits
    )


@transaction.atomic
def ask_personal(
    *,
    campaign: Campaign,
    actor: User,
    sheet: UUID,
    people: Iterable[Annotator],
    words: Words,
    site: str,
    expires_at: datetime | None = None,
) -> int:
    """Ask for a letter to each of some annotators with an address; return how many are asked now.

    Nobody gets a second one of the same sheet, nor while one to them is on its way.
    """
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    mine = Letter.objects.filter(annotator__campaign=campaign)
    waiting = mine.filter(status__in=Letter.ACTIVE) | mine.filter(sheet=sheet)
    busy = set(waiting.values_list("annotator", flat=True))
    rows = [
        Letter(
            annotator=person, sheet=sheet, address=person.user.email, subject=words.subject,
            body=words.text, site=site, link_expires_at=expires_at, asked_by=actor, queue=QUEUE,
        )
        for person in people
        if person.pk not in busy and person.user is not None and person.user.email
    ]  # fmt: skip
    send_on_commit(Letter.objects.bulk_create(rows))
    if rows:
        AuditEntry.objects.create(
            campaign=campaign, actor=actor, action="links mailed", details={"people": len(rows)}
        )
    return len(rows)


@transaction.atomic
def ask_account(*, user: User, actor: User, sheet: UUID, address: str, site: str) -> bool:
    """Ask for a letter with a link that sets the password of an account; whether one is asked now.

    The caller has checked that `actor` may change the account.
    """
    User.objects.select_for_update().get(pk=user.pk)
    mine = Letter.objects.filter(account=user)
    if mine.filter(status__in=Letter.ACTIVE).exists() or mine.filter(sheet=sheet).exists():
        return False
    words = account_words(user, site)
    row = Letter.objects.create(
        account=user, sheet=sheet, address=address, subject=words.subject, body=words.text,
        site=site, asked_by=actor, queue=QUEUE,
    )  # fmt: skip
    send_on_commit([row])
    return True
