"""The people of a campaign: annotators with their personal links, and members."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.access import ANNOTATOR, is_researcher
from annotation.models import Annotator, AuditEntry, Campaign, Membership
from annotation.models.people import new_token
from metaeval.messages import Message, message, truncated

# How many accounts an error names.
SHOWN = 30
NO_ACCOUNT = message("people.no-account", "This annotator was imported and has no account.")
NOT_BY_LINK = message(
    "people.not-by-link",
    "Only accounts that cannot do anything except rate can have a personal link.",
)


@dataclass(frozen=True)
class Invitation:
    """An annotator with the token of their personal link, which is not stored."""

    annotator: Annotator
    token: str


STATES: dict[str, Message] = {
    Campaign.Status.DRAFT: message("campaign.draft", "draft"),
    Campaign.Status.OPEN: message("campaign.open", "open"),
    Campaign.Status.CLOSED: message("campaign.closed", "closed"),
}


def require_status(campaign: Campaign, status: Campaign.Status) -> None:
    """Raise ValidationError unless the campaign has this status."""
    if campaign.status != status:
        raise ValidationError([_wrong_status(status, STATES[campaign.status])])


def _wrong_status(status: str, state: Message) -> Message:
    if status == Campaign.Status.DRAFT:
        return message(
            "campaign.not-draft",
            "This is possible only while a campaign is a draft. The state of this campaign: "
            "{state}.",
            state=state,
        )
    if status == Campaign.Status.OPEN:
        return message(
            "campaign.not-open",
            "This is possible only while a campaign is open. The state of this campaign: {state}.",
            state=state,
        )
    return message(
        "campaign.not-closed",
        "This is possible only while a campaign is closed. The state of this campaign: {state}.",
        state=state,
    )


def takes_annotators(campaign: Campaign) -> bool:
    """Return whether annotators can be added: in drafts, and in open campaigns with a pool."""
    if campaign.status == Campaign.Status.OPEN:
        return campaign.assignment_mode != Campaign.Mode.STATIC
    return campaign.status == Campaign.Status.DRAFT


@transaction.atomic
def add_annotators(
    *, campaign: Campaign, users: Iterable[User] = (), links: int = 0
) -> list[Invitation]:
    """Add existing accounts, and `links` new annotators with personal links.

    Raises ValidationError if annotators cannot be added now, or if an account already is one.
    """
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if not takes_annotators(campaign):
        require_status(campaign, Campaign.Status.DRAFT)
    users = list(users)
    known = set(campaign.annotators.filter(user__in=users).values_list("user_id", flat=True))
    if known:
        names = [user.get_username() for user in users if user.pk in known]
        raise ValidationError(
            [
                message(
                    "people.already-annotators",
                    "These accounts are already annotators of this campaign: {names}.",
                    names=truncated(names, SHOWN),
                )
            ]
        )
    taken = set(campaign.annotators.values_list("label", flat=True))
    free = (label for number in range(1, 100_000) if (label := f"A{number}") not in taken)
    for user in users:
        Annotator.objects.create(campaign=campaign, user=user, label=next(free))
    return [_invite(campaign, next(free)) for _ in range(links)]


def _invite(campaign: Campaign, label: str) -> Invitation:
    annotator = Annotator.objects.create(campaign=campaign, user=new_account(), label=label)
    return renew_link(annotator=annotator)


def new_account() -> User:
    """Create an account without password that can only rate.

    Its name, which the annotator sees, is random and reveals neither campaign nor label.
    """
    user = User.objects.create_user(f"{ANNOTATOR}-{secrets.token_hex(6)}")
    user.groups.add(Group.objects.get(name=ANNOTATOR))
    return user


def renew_link(*, annotator: Annotator) -> Invitation:
    """Give an annotator a new personal link; the old one stops working.

    Raises ValidationError for imported annotators, and for accounts that can do more than rate:
    a link works like a password and must not open a researcher's or an admin's account.
    """
    user = annotator.user
    if user is None:
        raise ValidationError([NO_ACCOUNT])
    if user.is_staff or user.is_superuser or user.groups.exclude(name=ANNOTATOR).exists():
        raise ValidationError([NOT_BY_LINK])
    token, annotator.token_hash = new_token()
    annotator.save(update_fields=["token_hash"])
    return Invitation(annotator, token)


def reader_named(username: str) -> User:
    """Return an active account that may read.

    Raises ValidationError for accounts that do not exist or have no reading role: an annotator
    must not see others' judgments.
    """
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise ValidationError(
            {
                "username": message(
                    "people.unknown-account",
                    "There is no account named “{name}”.",
                    name=username,
                )
            }
        )
    if not is_researcher(user):
        raise ValidationError(
            {
                "username": message(
                    "people.only-rates",
                    "“{name}” can only rate. Ask a site admin to give the account the role "
                    "researcher first.",
                    name=username,
                )
            }
        )
    return user


@transaction.atomic
def set_member(*, campaign: Campaign, username: str, role: str, actor: User) -> Membership:
    """Give an account a role in a campaign, or change its role.

    Raises ValidationError as `reader_named` does.
    """
    user = reader_named(username)
    member, _ = Membership.objects.update_or_create(
        campaign=campaign, user=user, defaults={"role": role}
    )
    _note(campaign, actor, "member set", username, role)
    return member


@transaction.atomic
def remove_member(*, member: Membership, actor: User) -> None:
    """Remove an account's role in a campaign."""
    _note(member.campaign, actor, "member removed", member.user.get_username(), member.role)
    member.delete()


@transaction.atomic
def set_private(*, campaign: Campaign, is_private: bool, actor: User) -> None:
    """Show a campaign to its members only, or to all accounts with a reading role."""
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
