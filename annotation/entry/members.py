"""Members of a campaign: accounts that read it or run it beside its creator and the site admins."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.access import is_researcher
from annotation.models import AuditEntry, Campaign, Membership


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
