"""The people of a campaign: annotators with their personal links, members, and who is refused."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.access import ANNOTATOR, is_researcher
from annotation.models import Annotator, AuditEntry, Campaign, Membership
from annotation.models.people import new_token


@dataclass(frozen=True)
class Invitation:
    """An annotator with the secret of their personal link, which is known only now."""

    annotator: Annotator
    token: str


def require_status(campaign: Campaign, status: Campaign.Status, verb: str) -> None:
    """Raise ValidationError unless the campaign stands at `status`."""
    if campaign.status != status:
        raise ValidationError(
            f"This campaign is {campaign.get_status_display().lower()}; only one that is "
            f"{status.label.lower()} can be {verb}."
        )


def takes_annotators(campaign: Campaign) -> bool:
    """Whether people can be added now: to drafts, and to open campaigns without fixed shares."""
    if campaign.status == Campaign.Status.OPEN:
        return campaign.assignment_mode != Campaign.Mode.STATIC
    return campaign.status == Campaign.Status.DRAFT


@transaction.atomic
def add_annotators(
    *, campaign: Campaign, users: Iterable[User] = (), links: int = 0
) -> list[Invitation]:
    """Add existing accounts, and `links` new people who come by a personal link.

    Raises ValidationError if the campaign takes nobody now, or if an account is in it already.
    """
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if not takes_annotators(campaign):
        require_status(campaign, Campaign.Status.DRAFT, "given annotators")
    users = list(users)
    known = set(campaign.annotators.filter(user__in=users).values_list("user_id", flat=True))
    if known:
        names = ", ".join(user.get_username() for user in users if user.pk in known)
        raise ValidationError(f"Already an annotator of this campaign: {names}.")
    taken = set(campaign.annotators.values_list("label", flat=True))
    free = (label for number in range(1, 100_000) if (label := f"A{number}") not in taken)
    for user in users:
        Annotator.objects.create(campaign=campaign, user=user, label=next(free))
    return [_invite(campaign, next(free)) for _ in range(links)]


def _invite(campaign: Campaign, label: str) -> Invitation:
    annotator = Annotator.objects.create(campaign=campaign, user=new_account(), label=label)
    return renew_link(annotator=annotator)


def new_account() -> User:
    """Create an account that can do nothing but rate, and has no password.

    Its name, which the annotator sees, is random: it says nothing about campaign or label.
    """
    user = User.objects.create_user(f"{ANNOTATOR}-{secrets.token_hex(6)}")
    user.groups.add(Group.objects.get(name=ANNOTATOR))
    return user


def renew_link(*, annotator: Annotator) -> Invitation:
    """Give an annotator a new personal link; the old one stops working.

    Raises ValidationError for imported annotators, and for accounts that can do more than rate:
    a link is a password, and must not open a researcher's or an admin's account.
    """
    user = annotator.user
    if user is None:
        raise ValidationError("This annotator was imported and has no account.")
    if user.is_staff or user.is_superuser or user.groups.exclude(name=ANNOTATOR).exists():
        raise ValidationError("A personal link is only for accounts that can do nothing but rate.")
    token, annotator.token_hash = new_token()
    annotator.save(update_fields=["token_hash"])
    return Invitation(annotator, token)


NOT_YET_OPEN = _("This campaign is not open yet.")
CLOSED = _(
    "This campaign is closed, and no more ratings can be stored. Your earlier ratings are saved."
)


class RefusedError(Exception):
    """An answer that was not stored, with the sentence that says why."""

    def __init__(self, sentence: str | Promise) -> None:
        super().__init__(sentence)
        self.sentence = str(sentence)


class NotOpenError(RefusedError):
    """The campaign takes no answers; sending again does not help."""


def refuse_unless_open(status: str) -> None:
    """Raise NotOpenError unless a campaign with this status takes answers."""
    if status != Campaign.Status.OPEN:
        raise NotOpenError(NOT_YET_OPEN if status == Campaign.Status.DRAFT else CLOSED)


@transaction.atomic
def set_member(*, campaign: Campaign, username: str, role: str, actor: User) -> Membership:
    """Give an account a role in a campaign, or another role than it had.

    Raises ValidationError for an account that is not there or that has no reading role: an
    annotator must not see what others say.
    """
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise ValidationError({"username": f"There is no account named “{username}”."})
    if not is_researcher(user):
        raise ValidationError(
            {
                "username": f"“{username}” may only rate. A site admin can give the account the "
                "role researcher first."
            }
        )
    member, _ = Membership.objects.update_or_create(
        campaign=campaign, user=user, defaults={"role": role}
    )
    _note(campaign, actor, "member set", username, role)
    return member


@transaction.atomic
def remove_member(*, member: Membership, actor: User) -> None:
    """Take an account's role in a campaign away."""
    _note(member.campaign, actor, "member removed", member.user.get_username(), member.role)
    member.delete()


@transaction.atomic
def set_private(*, campaign: Campaign, is_private: bool, actor: User) -> None:
    """Show a campaign to its members only, or to everybody with a reading role."""
    Campaign.objects.filter(pk=campaign.pk).update(is_private=is_private)
    action = "made private" if is_private else "made public"
    AuditEntry.objects.create(campaign=campaign, actor=actor, action=action)


def _note(campaign: Campaign, actor: User, action: str, username: str, role: str) -> None:
    AuditEntry.objects.create(
        campaign=campaign,
        actor=actor,
        action=action,
        details={"account": username, "role": role},
    )
