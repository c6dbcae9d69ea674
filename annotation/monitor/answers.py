"""Count and average the judgments of annotators, and their results on control items, in queries."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Max, OuterRef, Q, QuerySet, Subquery, Sum, Value, Window
from django.db.models.functions import Coalesce, RowNumber

from annotation.added import AddedUp
from annotation.judging.rules import kept_rules
from annotation.models import Campaign, Item, Judgment
from annotation.models.judgment import VALUE
from annotation.protocols.base import Scale
from annotation.quality.columns import scale_of
from annotation.quality.verdict import low_score
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


def _flagged(found: tuple[int, ...], rows: QuerySet[Judgment]) -> tuple[int, ...]:
    return (*found, *rows.filter(FLAGGED).values_list("pk", flat=True)[: MOST + 1 - len(found)])


# Flags and comments that are looked up by number; with more, the campaign is searched for all.
MOST = 5_000
_remarks = AddedUp[tuple[int, ...]]((), _flagged)


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


KIND = "assignment__item__kind"
_TRAP = Q(**{KIND: Item.Kind.TRAP})
_RIGHT = ("low", "high", "rules")
_GOLD = Q(**{KIND: Item.Kind.GOLD}) & ~Q(**{f"assignment__item__{n}__isnull": True for n in _RIGHT})


@dataclass(frozen=True)
class Share:
    """A count and its total."""

    n: int = 0
    of: int = 0

    @property
    def share(self) -> float | None:
        """The share between 0 and 1; None if the total is 0."""
        return self.n / self.of if self.of else None


@dataclass(frozen=True)
class Repeats:
    """Items rated twice by one annotator: pairs, and their mean absolute difference."""

    n: int = 0
    difference: float | None = None


def _passed(scale: Scale, broken: Sequence[int]) -> dict[str, Any]:
    """Return the counts to query; `broken` are judgments that break the rules of their items."""
    in_range = ~Q(pk__in=broken) & Q(
        score__gte=Coalesce(F("assignment__item__low"), Value(scale.low)),
        score__lte=Coalesce(F("assignment__item__high"), Value(scale.high)),
    )
    return {
        "traps_n": Count("pk", filter=_TRAP & Q(score__lte=low_score(scale))),
        "traps_of": Count("pk", filter=_TRAP),
        "gold_n": Count("pk", filter=_GOLD & in_range),
        "gold_of": Count("pk", filter=_GOLD),
    }


def read_controls(campaign: Campaign) -> dict[int, dict[str, Any]]:
    """Return control items by annotator, assessed by the rules of `quality.verdict`."""
    rows = judgments_of(campaign).filter(
        is_current=True,
        assignment__item__kind__in=(Item.Kind.TRAP, Item.Kind.GOLD),
        score__isnull=False,
    )
    kept = kept_rules(rows.filter(_GOLD))
    broken = [pk for pk, is_kept in kept.items() if not is_kept]
    counts: QuerySet[Judgment, Any] = rows.values(who=F(ANNOTATOR)).annotate(
        **_passed(scale_of(campaign) or Scale(), broken)
    )
    found: dict[int, dict[str, Any]] = {
        row["who"]: {
            "traps": Share(row["traps_n"], row["traps_of"]),
            "gold": Share(row["gold_n"], row["gold_of"]),
        }
        for row in counts
    }
    for who, repeats in _repeats(campaign).items():
        found.setdefault(who, {})["repeats"] = repeats
    return found


def _repeats(campaign: Campaign) -> dict[int, Repeats]:
    """Compare repeated ratings with the same annotator's first ratings."""
    firsts = Judgment.objects.filter(
        is_current=True,
        assignment__annotator=OuterRef(ANNOTATOR),
        assignment__item=OuterRef("assignment__item__partner"),
    )
    rows = judgments_of(campaign).filter(is_current=True, **{KIND: Item.Kind.REPEAT})
    pairs = rows.annotate(first=Subquery(firsts.values(value=VALUE)[:1]))
    gaps: dict[int, list[float]] = defaultdict(list)
    for who, again, first in pairs.values_list(ANNOTATOR, VALUE, "first"):
        if first is not None:
            gaps[who].append(abs(again - first))
    return {who: Repeats(len(each), sum(each) / len(each)) for who, each in gaps.items()}
