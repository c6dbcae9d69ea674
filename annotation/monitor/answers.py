"""What annotators answered: counted by the database, no row for a judgment."""

from collections import defaultdict
from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet, Sum, Window
from django.db.models.functions import RowNumber

from annotation.models import Campaign, Judgment

ANNOTATOR = "assignment__annotator_id"
REMARK = Q(is_current=True) & (Q(is_flagged=True) | ~Q(comment=""))


def judgments_of(campaign: Campaign) -> QuerySet[Judgment]:
    """Every answer of a campaign, in no order."""
    return Judgment.objects.filter(assignment__annotator__campaign=campaign).order_by()


def read_answers(campaign: Campaign) -> dict[int, dict[str, Any]]:
    """Paid times, doubts, remarks and the last answer by annotator.

    `seconds` is the median of current answers.
    """
    counts: QuerySet[Judgment, Any] = judgments_of(campaign).values(who=F(ANNOTATOR)).annotate(
        paid_ms=Sum("paid_ms", default=0),
        n_doubtful=Count("pk", filter=~Q(time_doubt="")),
        n_remarks=Count("pk", filter=REMARK),
        last=Max("submitted_at"),
    )  # fmt: skip
    medians = _medians(campaign)
    return {row["who"]: row | {"seconds": medians.get(row["who"])} for row in counts}


def _medians(campaign: Campaign) -> dict[int, float]:
    """The median paid seconds of an answer by annotator: of n in order, the one or two whose place
    is from n / 2 to n / 2 + 1 are in the middle."""
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


def remarks(campaign: Campaign, *, annotator: str = "") -> QuerySet[Any, Any]:
    """Return what annotators (or the one of this label) flagged or commented on, latest first."""
    rows = judgments_of(campaign).filter(REMARK)
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
