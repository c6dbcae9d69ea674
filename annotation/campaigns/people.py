"""The annotators of a campaign: adding them, and their personal links."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.access import ANNOTATOR
from annotation.models import Annotator, Campaign
from annotation.models.tokens import new_token


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
