"""Count and average the judgments of annotators, reading only what came since the last look."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from math import nan
from typing import Any, NamedTuple

import numpy as np
from django.db.models import BooleanField, Case, Count, F, Max, Q, QuerySet, Sum, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.added import AddedUp
from annotation.models import Campaign, Judgment
from annotation.monitor.controls import (
    ANNOTATOR,
    NO_CONTROLS,
    Controls,
    Rows,
    add_controls,
    by_annotator,
    replaced,
)
from core.caching import ttl_cache

HOURS = 24
OF = [("who", "i8"), ("assignment", "i8")]
# Paid time is -1 where there is none. Times are seconds since 1970.
TIME = np.dtype([*OF, ("paid_ms", "i4"), ("is_remark", "?")])
LATELY = np.dtype([*OF, ("submitted", "f8"), ("completed", "f8")])
NO_TIMES = np.empty(0, TIME)
FLAGGED = Q(is_current=True) & (Q(is_flagged=True) | ~Q(comment=""))


def judgments_of(campaign: Campaign) -> QuerySet[Judgment]:
    """Return all judgments of a campaign, unordered."""
    return Judgment.objects.filter(assignment__annotator__campaign=campaign).order_by()


class Answers(NamedTuple):
    """What is known of the judgments of a campaign.

    `counts` has paid milliseconds, impossible times and the last answer by annotator, of all
    revisions; the others have current judgments only. `times` has rows of `TIME` by annotator, and
    `lately` the rows of `LATELY` of the last `HOURS` and an hour before them.
    """

    counts: Mapping[int, tuple[int, int, datetime | None]] = {}
    times: Mapping[int, Rows] = {}
    lately: Rows = np.empty(0, LATELY)
    controls: Controls = NO_CONTROLS


def _with(known: Answers, rows: QuerySet[Judgment]) -> Answers:
    counts = dict(known.counts)
    summed = rows.values_list(ANNOTATOR).annotate(
        paid=Sum("paid_ms", default=0),
        doubtful=Count("pk", filter=~Q(time_doubt="")),
        last=Max("submitted_at"),
    )
    for who, paid_ms, n_doubtful, last in summed:
        before = counts.get(who, (0, 0, None))
        newest = max(filter(None, (last, before[2])), default=None)
        counts[who] = before[0] + paid_ms, before[1] + n_doubtful, newest
    current = rows.filter(is_current=True)
    paid_ms = Coalesce("paid_ms", -1)
    is_remark = Case(When(FLAGGED, then=True), default=False, output_field=BooleanField())
    columns = current.values_list(ANNOTATOR, "assignment", paid_ms, is_remark)
    new = np.fromiter(columns.iterator(), TIME)
    times = {
        who: replaced(known.times.get(who, NO_TIMES), own) for who, own in by_annotator(new).items()
    }
    since = timezone.now() - timedelta(hours=HOURS + 1)
    is_late = Q(submitted_at__gte=since) | Q(assignment__completed_at__gte=since)
    late = current.filter(is_late, submitted_at__isnull=False).values_list(
        ANNOTATOR, "assignment", "submitted_at", "assignment__completed_at"
    )
    seconds = [
        (who, assignment, submitted.timestamp(), completed.timestamp() if completed else nan)
        for who, assignment, submitted, completed in late
    ]
    is_kept = ~np.isin(known.lately["assignment"], new["assignment"])
    lately = np.concatenate([known.lately[is_kept], np.array(seconds, LATELY)])
    is_still = np.fmax(lately["submitted"], lately["completed"]) >= since.timestamp()
    controls = add_controls(known.controls, rows)
    return Answers(counts, {**known.times, **times}, lately[is_still], controls)


_answers = AddedUp("answers", Answers(), _with)


def read_answers(campaign: Campaign) -> Answers:
    """Return what is known of the judgments of a campaign."""
    return _answers.of(campaign)


def figures_of(answers: Answers, since: datetime) -> dict[int, dict[str, Any]]:
    """Return paid time, counts of impossible times and comments, and last answer by annotator.

    `seconds` is the median of current judgments, `n_lately` their number after `since`, which is
    not before the last `HOURS`.
    """
    lately = answers.lately[answers.lately["submitted"] >= since.timestamp()]
    n_lately = Counter(lately["who"].tolist())
    found: dict[int, dict[str, Any]] = {}
    for who, (paid_ms, n_doubtful, last) in answers.counts.items():
        own = answers.times.get(who, NO_TIMES)
        paid = own["paid_ms"][own["paid_ms"] >= 0]
        found[who] = {
            "paid_ms": paid_ms,
            "n_doubtful": n_doubtful,
            "last": last,
            "n_remarks": np.count_nonzero(own["is_remark"]),
            "seconds": float(np.median(paid)) / 1000 if len(paid) else None,
            "n_lately": n_lately[who],
        }
    return found


def _flagged(found: tuple[int, ...], rows: QuerySet[Judgment]) -> tuple[int, ...]:
    return (*found, *rows.filter(FLAGGED).values_list("pk", flat=True)[: MOST + 1 - len(found)])


# Flags and comments that are looked up by number; with more, the campaign is searched for all.
MOST = 5_000
_remarks = AddedUp[tuple[int, ...]]("remarks", (), _flagged)


def has_remarks(campaign: Campaign) -> bool:
    """Return whether annotators have flagged or commented anything, as of a moment ago."""
    key = ("remarks", campaign.pk)
    return ttl_cache(key, lambda: _with_remarks(campaign).exists())


def _with_remarks(campaign: Campaign) -> QuerySet[Judgment]:
    known = _remarks.of(campaign)
    if len(known) > MOST:
        return judgments_of(campaign).filter(FLAGGED)
    return Judgment.objects.filter(FLAGGED, pk__in=known).order_by()


def flagged_judgments(campaign: Campaign, *, annotator: str = "") -> QuerySet[Any, Any]:
    """Return the judgments with a flag or comment, newest first; only those of a given label."""
    rows = _with_remarks(campaign)
    if annotator:
        rows = rows.filter(assignment__annotator__label=annotator)
    return rows.order_by("-submitted_at", "-pk").values(
        "comment",
        "is_flagged",
        "score",
        "penalty",
        "submitted_at",
        annotator=F("assignment__annotator__label"),
        segment=F("assignment__item__segment__key"),
        source=F("assignment__item__segment__source"),
        kind=F("assignment__item__kind"),
        own_text=F("assignment__item__text"),
        output_text=F("assignment__item__output__text"),
        system=F("assignment__item__output__system__name"),
    )
