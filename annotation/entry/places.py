"""Places of annotators in a campaign: accounts of their own, personal links, shares still free."""

from collections.abc import Mapping
from datetime import datetime

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet

from annotation.campaigns import Invitation, add_annotators, renew_link
from annotation.campaigns.people import new_account
from annotation.models import Annotator, Campaign
from metaeval.messages import message

FIXED = message(
    "places.fixed",
    "Items were assigned when the campaign opened, so no annotators can be added now. People can "
    "still enter by an access link and take an assignment that nobody has entered.",
)
CLOSED = message("places.closed", "This campaign is closed. Open it again to invite people.")


def is_fixed(campaign: Campaign) -> bool:
    """Return whether every annotator's items are assigned when the campaign opens."""
    return campaign.assignment_mode == Campaign.Mode.STATIC


def free_places(campaign: Campaign) -> QuerySet[Annotator]:
    """Return the places made for personal links into which nobody has come yet, in order."""
    return campaign.annotators.filter(
        access_link=None,
        external_id="",
        excluded_at=None,
        is_simulated=False,
        user__is_active=True,
        user__last_login=None,
        user__password__startswith=UNUSABLE_PASSWORD_PREFIX,
    ).order_by("pk")


def new_place(campaign: Campaign) -> Annotator:
    """Add an annotator with an account that can do nothing but rate, and no way to sign in yet.

    The caller holds the lock on the campaign, so that no label is given twice.
    """
    taken = set(campaign.annotators.values_list("label", flat=True))
    label = next(label for number in range(1, 1_000_000) if (label := f"A{number}") not in taken)
    return Annotator.objects.create(campaign=campaign, user=new_account(), label=label)


@transaction.atomic
def invite(
    *, campaign: Campaign, count: int, expires_at: datetime | None = None
) -> list[Invitation]:
    """Make places with a personal link each.

    Raises ValidationError once the shares are fixed, and for a closed campaign.
    """
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if campaign.status == Campaign.Status.DRAFT:
        made = add_annotators(campaign=campaign, links=count)
        return [_until(invitation, expires_at) for invitation in made]
    if is_fixed(campaign):
        raise ValidationError([FIXED])
    if campaign.status == Campaign.Status.CLOSED:
        raise ValidationError([CLOSED])
    return [renew(annotator=new_place(campaign), expires_at=expires_at) for _ in range(count)]


@transaction.atomic
def renew(*, annotator: Annotator, expires_at: datetime | None = None) -> Invitation:
    """Give an annotator a new personal link, which works until `expires_at`; the old one dies.

    Who came by the old one stays signed in. Raises ValidationError for imported annotators and for
    accounts that can do more than rate.
    """
    return _until(renew_link(annotator=annotator), expires_at)


@transaction.atomic
def replace(*, annotator: Annotator, expires_at: datetime | None = None) -> Invitation:
    """Renew a link that somebody else may have, and sign out everyone who used the old one."""
    _sign_out(annotator)
    return renew(annotator=annotator, expires_at=expires_at)


def _until(invitation: Invitation, expires_at: datetime | None) -> Invitation:
    invitation.annotator.token_expires_at = expires_at
    invitation.annotator.save(update_fields=["token_expires_at"])
    return invitation


@transaction.atomic
def revoke(*, annotator: Annotator) -> None:
    """Make the personal link of an annotator dead and sign out who came by it; ratings stay."""
    annotator.token_hash = annotator.token_expires_at = None
    annotator.save(update_fields=["token_hash", "token_expires_at"])
    _sign_out(annotator)


def _sign_out(annotator: Annotator) -> None:
    user = annotator.user
    if user is not None and not user.has_usable_password():
        # Sessions rest on the password, and one that nobody can use is random, too.
        user.set_unusable_password()
        user.save(update_fields=["password"])


@transaction.atomic
def set_addresses(campaign: Campaign, addresses: Mapping[Annotator, str]) -> int:
    """Give annotators of a campaign an e-mail address, or none; return how many were named.

    It is kept with the account that their link opens.
    """
    users: list[User] = []
    for annotator, address in addresses.items():
        if annotator.campaign_id == campaign.pk and annotator.user is not None:
            annotator.user.email = address
            users.append(annotator.user)
    return User.objects.bulk_update(users, ["email"]) if users else 0
