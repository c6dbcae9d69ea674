"""Stop annotators who fail control items or answer too fast, and decide whether they continue.

The moment of a stop must not reveal which item was a control item. So control items and speed are
checked after every tenth answer, whatever its item, with the same queries for every annotator.
Answers that were begun before the stop are stored.
"""

from collections.abc import Sequence
from datetime import timedelta
from itertools import groupby, islice
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Max, Q, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.judging.rules import kept_rules
from annotation.judging.timing import least_time
from annotation.models import Annotator, Assignment, AuditEntry, Campaign, Item, Judgment, Stop
from annotation.notices import tell_stopped
from annotation.protocols.base import Scale
from annotation.quality.columns import scale_of
from annotation.quality.verdict import low_score
from metaeval.messages import message

# Control items are checked after this many answers.
EVERY = 10
# Speed is computed over the last `LAST` items, if there are at least `FEWEST`.
LAST, FEWEST = 10, 5
MAX_MESSAGE = 2_000
MESSAGE_EMPTY = message("stop.message-empty", "The message is empty.")
MESSAGE_TOO_LONG = message(
    "stop.message-too-long", "A message can have at most {max} characters.", max=MAX_MESSAGE
)
_KIND = "assignment__item__kind"


def stop_if_due(stored: Sequence[Judgment]) -> bool:
    """Stop the annotator of answers that were just stored, if a rule of the campaign applies."""
    annotator = stored[0].assignment.annotator
    campaign = annotator.campaign
    has_rule = campaign.stop_after or campaign.speed_rule == Campaign.SpeedRule.STOP
    if not has_rule or annotator.stopped_at is not None:
        return False
    n_new = sum(judgment.revision == 1 for judgment in stored)
    own = Assignment.objects.filter(annotator=annotator)
    n_done = own.filter(completed_at__isnull=False).count()
    if n_done // EVERY == (n_done - n_new) // EVERY:
        return False
    # Annotators without open items have finished.
    return own.filter(completed_at=None, released_at=None).exists() and _look(annotator)


@transaction.atomic
def _look(annotator: Annotator) -> bool:
    person = Annotator.objects.select_for_update().get(pk=annotator.pk)
    if person.stopped_at is None and (due := _due(annotator)):
        reason, n_failed = due
        stop(person, reason, n_failed=n_failed)
    return person.stopped_at is not None


def _due(annotator: Annotator) -> tuple[Stop.Reason, int] | None:
    """Return why an annotator should be stopped, with the number of failures, or None."""
    campaign = annotator.campaign
    if campaign.stop_after and (n_failed := failures(annotator)) >= campaign.stop_after:
        return Stop.Reason.CHECKS, n_failed
    if campaign.speed_rule == Campaign.SpeedRule.STOP:
        are_too_fast = too_fast(annotator)
        n_fast, n = sum(are_too_fast), len(are_too_fast)
        if n >= FEWEST and 2 * n_fast > n:
            return Stop.Reason.SPEED, n_fast
    return None


def failures(annotator: Annotator) -> int:
    """Count the control items failed since the last decision that the annotator can continue.

    A trap is failed above the lowest fifth of the scale, a gold item outside its range or against
    its rules; without scores, only rules count.
    """
    rows = Judgment.objects.filter(_since_decision(annotator), is_current=True)
    gold = Q(**{_KIND: Item.Kind.GOLD})
    failed = {pk for pk, is_kept in kept_rules(rows.filter(gold)).items() if not is_kept}
    if scale := scale_of(annotator.campaign):
        failed |= set(rows.filter(_outside(scale)).values_list("pk", flat=True))
    return len(failed)


def _since_decision(annotator: Annotator) -> Q:
    since = annotator.stops.aggregate(at=Max("decided_at"))["at"]
    own = Q(assignment__annotator=annotator)
    return own if since is None else own & Q(submitted_at__gt=since)


def too_fast(annotator: Annotator) -> list[bool]:
    """Return for the last screens, newest first, whether they were answered too fast to be read.

    Only first answers since the last decision count.
    """
    item = "assignment__item"
    rows = (
        Judgment.objects.filter(_since_decision(annotator), revision=1, started_at__isnull=False)
        .select_related(
            "assignment__annotator__campaign__test_set", f"{item}__output", f"{item}__segment"
        )
        .order_by("-submitted_at", "-assignment__position")
    )
    screens = (list(each) for _, each in groupby(rows.iterator(), key=_screen))
    return [_is_too_fast(screen) for screen in islice(screens, LAST)]


def _screen(judgment: Judgment) -> int:
    screen = judgment.assignment.item.screen
    return -judgment.assignment_id if screen is None else screen


def _is_too_fast(screen: Sequence[Any]) -> bool:
    """Return whether a screen was answered too fast; answers submitted together have one time."""
    times = {(each.started_at, each.submitted_at) for each in screen}
    passed = sum((given - began for began, given in times), timedelta(0))
    return passed < least_time([each.assignment for each in screen])


def passes(annotator: Annotator, most: float) -> bool:
    """Return whether the number of failed items is at most `most`, or that share if below 1."""
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
    """Stop an annotator whose row is locked, and notify the campaign admins."""
    person.stopped_at = timezone.now()
    person.save(update_fields=["stopped_at"])
    tell_stopped(person)
    return Stop.objects.create(
        annotator=person, reason=reason, n_failed=n_failed, stopped_at=person.stopped_at
    )


def last_stop(annotator: Annotator) -> Stop | None:
    """Return the last stop of an annotator."""
    return annotator.stops.order_by("-pk").first()


def write(*, annotator: Annotator, message: str) -> bool:
    """Store the message of a stopped annotator; return False if there is one already.

    Raises ValidationError for an empty message, and for one that is too long.
    """
    text = message.strip()
    if not text:
        raise ValidationError([MESSAGE_EMPTY])
    if len(text) > MAX_MESSAGE:
        raise ValidationError([MESSAGE_TOO_LONG])
    rows = Stop.objects.filter(annotator=annotator, may_go_on=None, written_at=None)
    return bool(rows.update(message=text, written_at=timezone.now()))


@transaction.atomic
def decide(
    *, campaign: Campaign, pk: int, actor: User, may_go_on: bool, reply: str = ""
) -> Annotator | None:
    """Let a stopped annotator continue, or not; return None if that was already decided.

    Annotators who failed the comprehension test and can continue need not take it again. Judgments
    are not changed.
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
    """Return the stops of a campaign: undecided ones first, then the newest."""
    rows = Stop.objects.filter(annotator__campaign=campaign)
    return rows.select_related("annotator", "decided_by").order_by(
        F("decided_at").desc(nulls_first=True), "-pk"
    )
