"""Make the links of letters while sending, and take them back if a letter is refused."""

from collections.abc import Callable
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.urls import reverse

from annotation.access import is_site_admin
from annotation.accounts import managing
from annotation.entry import places
from annotation.models import AccountLink, Annotator, Campaign, Letter
from annotation.models.people import hash_token
from metaeval.messages import message


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
