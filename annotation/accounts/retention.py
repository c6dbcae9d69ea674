"""Delete personal data some days after a campaign was closed, as its rule says."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.access import READERS
from annotation.accounts.personal import ENTERED, forget_visits
from annotation.models import Annotator, AuditEntry, Campaign, DataRule, Letter

KINDS = ("addresses", "platform_ids", "backgrounds")


def forget_due(now: datetime) -> Iterator[tuple[Campaign, dict[str, int]]]:
    """Delete what is due at a moment; yield each campaign with what was deleted by kind."""
    closed = Campaign.Status.CLOSED
    rules = DataRule.objects.filter(campaign__status=closed, campaign__closed_at__isnull=False)
    for rule in rules.select_related("campaign").order_by("pk"):
        if any(_is_due(rule, kind, now) for kind in KINDS):
            counts = _forget(rule, now)
            if any(counts.values()):
                yield rule.campaign, counts


def _is_due(rule: DataRule, kind: str, now: datetime) -> bool:
    days, closed_at = getattr(rule, f"{kind}_days"), rule.campaign.closed_at
    return days is not None and closed_at is not None and closed_at + timedelta(days=days) <= now


@transaction.atomic
def _forget(rule: DataRule, now: datetime) -> dict[str, int]:
    campaign = Campaign.objects.select_for_update().get(pk=rule.campaign_id)
    people = campaign.annotators.all()
    counts = dict.fromkeys(KINDS, 0)
    if campaign.status != Campaign.Status.CLOSED:
        return counts
    if _is_due(rule, "addresses", now):
        counts["addresses"] = _forget_addresses(people, now)
    if _is_due(rule, "platform_ids", now):
        counts["platform_ids"] = people.exclude(external_id="").update(external_id="")
        forget_visits(AuditEntry.objects.filter(campaign=campaign, action=ENTERED))
    if _is_due(rule, "backgrounds", now):
        counts["backgrounds"] = people.exclude(background=None).update(background=None)
    if any(counts.values()):
        AuditEntry.objects.create(campaign=campaign, action="forgot", details=counts)
    return counts


def _forget_addresses(people: QuerySet[Annotator], now: datetime) -> int:
    """Delete addresses of letters, and of accounts that links made and nothing else needs."""
    letters = Letter.objects.filter(annotator__in=people).exclude(address="")
    n = letters.exclude(status__in=Letter.ACTIVE).update(address="")
    users = User.objects.filter(annotators__in=people).exclude(email="")
    by_link = users.filter(password__startswith=UNUSABLE_PASSWORD_PREFIX, account_link=None)
    for user in by_link.exclude(groups__name__in=READERS).distinct():
        others = user.annotators.select_related("campaign__data_rule")
        if all(_is_due_in(one.campaign, now) for one in others):
            n += User.objects.filter(pk=user.pk).update(email="")
    return n


def _is_due_in(campaign: Campaign, now: datetime) -> bool:
    rule = getattr(campaign, "data_rule", None)
    is_closed = campaign.status == Campaign.Status.CLOSED
    return rule is not None and is_closed and _is_due(rule, "addresses", now)
