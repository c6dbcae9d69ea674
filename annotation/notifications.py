"""Word of a campaign's end: once when all wanted ratings are there, once when it is closed.

`Campaign.notified_at` is set by a conditional UPDATE; who sets it sends the notification. A
campaign that lacks ratings again (reopened, or items given to somebody else) is unmarked, and
its next completion is told again. Completion is looked for when an annotator runs out of items,
and by every worker's caretaker, which also finds what a crash left untold.
"""

import json
import logging
from functools import partial
from typing import Any
from uuid import uuid4

from celery.exceptions import Retry
from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from annotation import tasks
from annotation.models import Campaign
from annotation.monitor import wanted

logger = logging.getLogger(__name__)
COMPLETE, CLOSED = "complete", "closed"
SENTENCES = {COMPLETE: "is complete", CLOSED: "is closed"}


def wants_notice(campaign: Campaign) -> bool:
    """Whether anybody asked to be told."""
    return bool(campaign.notify_email or campaign.notify_webhook)


def check_complete(campaign: Campaign) -> bool:
    """Tell if the campaign has just become complete; return whether this call did so."""
    if not wants_notice(campaign):
        return False
    done, total, is_complete = wanted(campaign)
    row = Campaign.objects.filter(pk=campaign.pk)
    if not is_complete:
        row.filter(notified_at=campaign.notified_at, notified_at__isnull=False).update(
            notified_at=None
        )
        return False
    with transaction.atomic():
        is_ours = row.filter(notified_at=None).update(notified_at=timezone.now())
        if is_ours:
            _send_on_commit(campaign, COMPLETE, done, total)
    return bool(is_ours)


def check_all() -> None:
    """Look at every campaign that somebody wants to hear of, in the caretaker's rounds."""
    for campaign in _watched():
        check_complete(campaign)


def _watched() -> QuerySet[Campaign]:
    asked = ~Q(notify_email="") | ~Q(notify_webhook="")
    return Campaign.objects.filter(asked, status=Campaign.Status.OPEN)


def after_last_answer(campaign: Campaign) -> None:
    """An annotator has no item left: look whether the campaign is complete.

    The answer is stored; no trouble here may make it look lost.
    """
    try:
        check_complete(campaign)
    except Exception:
        logger.exception("Campaign %s could not be checked for completion", campaign.slug)


def tell_closed(campaign: Campaign) -> None:
    """Tell that a campaign was closed, when the transaction that closes it commits."""
    if wants_notice(campaign):
        done, total, _ = wanted(campaign)
        _send_on_commit(campaign, CLOSED, done, total)


def _send_on_commit(campaign: Campaign, event: str, done: int, total: int) -> None:
    notice = _notice(campaign, event, done, total)
    transaction.on_commit(partial(_send, campaign, notice))


def _notice(campaign: Campaign, event: str, done: int, total: int) -> dict[str, Any]:
    """The body of a webhook; `id` tells a repeated delivery from a second event."""
    return {
        "id": str(uuid4()),
        "event": event,
        "campaign": campaign.slug,
        "url": f"{settings.SITE_URL}{campaign.get_absolute_url()}",
        "done": done,
        "total": total,
        "at": timezone.now().isoformat(timespec="seconds"),
    }


def _send(campaign: Campaign, notice: dict[str, Any]) -> None:
    subject = f"{' '.join(campaign.name.split())} {SENTENCES[notice['event']]}"
    bodies = {
        "email": (campaign.notify_email, _mail_text(subject, notice)),
        "webhook": (campaign.notify_webhook, json.dumps(notice)),
    }
    queued = [
        _enqueue(campaign, channel, subject, body)
        for channel, (address, body) in bodies.items()
        if address
    ]
    if notice["event"] == COMPLETE and not any(queued):
        # The caretaker tries again.
        Campaign.objects.filter(pk=campaign.pk).update(notified_at=None)


def _mail_text(subject: str, notice: dict[str, Any]) -> str:
    return (
        f"{subject}: {notice['done']:,} of {notice['total']:,} judgments are there.\n\n"
        f"{notice['url']}\n"
    )


def _enqueue(campaign: Campaign, channel: str, subject: str, body: str) -> bool:
    """The queue may be away; a page that closes a campaign must not fail for that."""
    try:
        tasks.notify.delay(campaign.pk, channel, subject, body)
    except (BrokerError, OSError):
        logger.exception("The notification %r could not be queued", subject)
        return False
    except Retry:
        logger.warning("%r failed and is not tried again: there is no worker", subject)
    return True
