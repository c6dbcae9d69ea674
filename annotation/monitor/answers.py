"""Counts of the judgments of annotators, computed by the database."""

from collections import defaultdict
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet, Sum, Window
from django.db.models.functions import RowNumber

from annotation.models import Campaign, Judgment
from core.caching import ttl_cache

ANNOTATOR = "assignment__annotator_id"
FLAGGED = Q(is_current=True) & (Q(is_flagged=True) | ~Q(comment=""))


def judgments_of(campaign: Campaign) -> QuerySet[Judgment]:
    """Return all judgments of a campaign, unordered."""
    return Judgment.objects.filter(assignment__annotator__campaign=campaign).order_by()


def read_answers(campaign: Campaign, since: datetime) -> dict[int, dict[str, Any]]:
    """Return paid time, counts of impossible times and comments, and last answer by annotator.

    `seconds` is the median of current judgments, `n_lately` their number after `since`.
    """
    counts: QuerySet[Judgment, Any] = judgments_of(campaign).values(who=F(ANNOTATOR)).annotate(
        paid_ms=Sum("paid_ms", default=0),
        n_doubtful=Count("pk", filter=~Q(time_doubt="")),
        n_remarks=Count("pk", filter=FLAGGED),
        n_lately=Count("pk", filter=Q(is_current=True, submitted_at__gte=since)),
        last=Max("submitted_at"),
    )  # fmt: skip
    medians = _medians(campaign)
    return {row["who"]: row | {"seconds": medians.get(row["who"])} for row in counts}


def _medians(campaign: Campaign) -> dict[int, float]:
    """Return the median paid seconds of a judgment by annotator.

    Of n judgments in order, the median is of those whose rank is from n / 2 to n / 2 + 1.
    """
    whose = [F(ANNOTATOR)]
    placed = judgments_of(campaign).filter(is_current=True, paid_ms__isnull=False).annotate(
        place=Window(RowNumber(), partition_by=whose, order_by=["paid_ms", "pk"]),
        n=Window(Count("pk"), partition_by=whose),
    )  # fmt: skip
    middle = placed.filter(place__gte=F("n") / 2.0, place__lte=F("n") / 2.0 + 1)
    times = defaultdict(list)
    for who, paid_ms in middle.values_list(ANNOTATOR, "paid_ms"):
        times[who].append(paid_ms)
    return {who: sum(both) / len(both) / 1000 for who, both in times.items()}


def has_remarks(campaign: Campaign) -> bool:
    """Return whether annotators have flagged or commented anything, as of a moment ago."""
    key = ("remarks", campaign.pk)
    return ttl_cache(key, lambda: judgments_of(campaign).filter(FLAGGED).exists())


def flagged_judgments(campaign: Campaign, *, annotator: str = "") -> QuerySet[Any, Any]:
    """Return the judgments with a flag or comment, newest first; only those of a given label."""
    rows = judgments_of(campaign).filter(FLAGGED)
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
