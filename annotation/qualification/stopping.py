"""Stopping people who fail attention checks, hearing them, and deciding whether they go on.

When somebody is stopped must not tell which item was a check. So checks are looked at after every
tenth answer, whatever its item, with the same queries for everybody. Answers that were begun
before the stop are stored all the same.
"""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Max, Q, Value
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.judging.rules import kept_rules
from annotation.models import Annotator, Assignment, AuditEntry, Campaign, Item, Judgment, Stop
from annotation.notices import tell_stopped
from annotation.protocols.asked import Scale
from annotation.quality.scales import scale_of
from annotation.quality.verdict import low_score

# Checks are looked at after so many answers.
EVERY = 10
MAX_MESSAGE = 2_000
_KIND = "assignment__item__kind"


def stop_if_due(stored: Sequence[Judgment]) -> bool:
    """Stop the annotator of answers that were just stored, where they fail too many checks."""
    annotator = stored[0].assignment.annotator
    if not annotator.campaign.stop_after or annotator.stopped_at is not None:
        return False
    n_new = sum(judgment.revision == 1 for judgment in stored)
    own = Assignment.objects.filter(annotator=annotator)
    n_done = own.filter(completed_at__isnull=False).count()
    if n_done // EVERY == (n_done - n_new) // EVERY:
        return False
    # Who has nothing left to rate is done.
    return own.filter(completed_at=None, released_at=None).exists() and _look(annotator)


@transaction.atomic
def _look(annotator: Annotator) -> bool:
    person = Annotator.objects.select_for_update().get(pk=annotator.pk)
    n_failed = failures(annotator)
    if person.stopped_at is None and n_failed >= annotator.campaign.stop_after:
        stop(person, Stop.Reason.CHECKS, n_failed=n_failed)
        return True
    return person.stopped_at is not None


def failures(annotator: Annotator) -> int:
    """Count the attention checks failed since somebody last let the annotator go on.

    A trap is failed above the lowest fifth of the scale, a gold item outside its range or against
    its rules; where answers are errors and no scores, by its rules alone.
    """
    since = annotator.stops.aggregate(at=Max("decided_at"))["at"]
    rows = Judgment.objects.filter(assignment__annotator=annotator, is_current=True)
    if since is not None:
        rows = rows.filter(submitted_at__gt=since)
    gold = Q(**{_KIND: Item.Kind.GOLD})
    failed = {pk for pk, is_kept in kept_rules(rows.filter(gold)).items() if not is_kept}
    if scale := scale_of(annotator.campaign):
        failed |= set(rows.filter(_outside(scale)).values_list("pk", flat=True))
    return len(failed)


def passes(annotator: Annotator, most: float) -> bool:
    """Whether an annotator fails at most so many checks, below 1 at most that share of them."""
    n_failed = failures(annotator)
    if 0 < most < 1:
        checks = Q(**{f"{_KIND}__in": (Item.Kind.TRAP, Item.Kind.GOLD)}, is_current=True)
        n_checks = Judgment.objects.filter(checks, assignment__annotator=annotator).count()
        return n_failed <= most * n_checks
    return n_failed <= most


def _outside(scale: Scale) -> Q:
    low = Coalesce(F("assignment__item__low"), Value(scale.low))
    high = Coalesce(F("assignment__item__high"), Value(scale.high))
    trap = Q(**{_KIND: Item.Kind.TRAP}, score__gt=low_score(scale))
    return trap | Q(**{_KIND: Item.Kind.GOLD}) & (Q(score__lt=low) | Q(score__gt=high))


def stop(person: Annotator, reason: Stop.Reason, *, n_failed: int) -> Stop:
    """Stop somebody whose row is locked, and tell those who run the campaign."""
    person.stopped_at = timezone.now()
    person.save(update_fields=["stopped_at"])
    tell_stopped(person)
    return Stop.objects.create(
        annotator=person, reason=reason, n_failed=n_failed, stopped_at=person.stopped_at
    )


def last_stop(annotator: Annotator) -> Stop | None:
    """Return how somebody was stopped the last time."""
    return annotator.stops.order_by("-pk").first()


def write(*, annotator: Annotator, message: str) -> bool:
    """Store the one message of a stopped annotator; False where there is one already.

    Raises ValidationError for an empty message, and for one that is too long.
    """
    text = message.strip()
    if not text:
        raise ValidationError(_("The message is empty."))
    if len(text) > MAX_MESSAGE:
        raise ValidationError(
            _("A message has at most %(max)s characters."), params={"max": MAX_MESSAGE}
        )
    rows = Stop.objects.filter(annotator=annotator, may_go_on=None, written_at=None)
    return bool(rows.update(message=text, written_at=timezone.now()))


@transaction.atomic
def decide(
    *, campaign: Campaign, pk: int, actor: User, may_go_on: bool, reply: str = ""
) -> Annotator | None:
    """Let a stopped annotator go on, or not; None where that was decided before, or is no stop.

    Who failed the comprehension test and may go on need not take it again. Judgments stay as they
    are, whatever is decided.
    """
    stops = Stop.objects.select_for_update().filter(annotator__campaign=campaign, may_go_on=None)
    found = stops.filter(pk=pk).first()
    if found is None:
        return None
    found.may_go_on, found.reply = may_go_on, reply.strip()[:MAX_MESSAGE]
    found.decided_by, found.decided_at = actor, timezone.now()
    found.save(update_fields=["may_go_on", "reply", "decided_by", "decided_at"])
    person = Annotator.objects.select_for_update().get(pk=found.annotator_id)
    if may_go_on:
        person.stopped_at = None
        if found.reason == Stop.Reason.TEST:
            person.qualified_at = found.decided_at
        person.save(update_fields=["stopped_at", "qualified_at"])
    AuditEntry.objects.create(
        campaign=campaign,
        actor=actor,
        action="let go on" if may_go_on else "ended",
        annotator=person,
        reason=found.reply,
    )
    return person


def waiting(campaign: Campaign) -> Any:
    """Return the stops of a campaign, those that wait for a decision first, then the newest."""
    rows = Stop.objects.filter(annotator__campaign=campaign)
    return rows.select_related("annotator", "decided_by").order_by(
        F("decided_at").desc(nulls_first=True), "-pk"
    )
