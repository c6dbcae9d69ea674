"""The results of each annotator on traps, gold items and repeats."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from annotation.judging.rules import kept_rules
from annotation.models import Campaign, Item, Judgment
from annotation.models.judgment import VALUE
from annotation.monitor.answers import ANNOTATOR, judgments_of
from annotation.protocols.base import Scale
from annotation.quality.columns import scale_of
from annotation.quality.verdict import low_score

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
