"""How each annotator does on traps, gold items and repeats."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.models import Campaign, Item
from annotation.models.judgment import VALUE
from annotation.monitor.answers import judgments_of
from annotation.quality.verdict import LOW_SCORE


@dataclass(frozen=True)
class Share:
    """So many of so many; nothing of nothing has no share."""

    n: int = 0
    of: int = 0

    @property
    def share(self) -> float | None:
        """Between 0 and 1, or None."""
        return self.n / self.of if self.of else None


@dataclass(frozen=True)
class Repeats:
    """Items rated twice by one person: pairs, and the mean absolute difference."""

    n: int = 0
    difference: float | None = None


def read_controls(campaign: Campaign) -> dict[int, dict[str, Any]]:
    """Control items by annotator. A trap is passed up to `LOW_SCORE`, as on the quality page."""
    kinds = [Item.Kind.TRAP, Item.Kind.GOLD, Item.Kind.REPEAT]
    rows = list(
        judgments_of(campaign)
        .filter(is_current=True, assignment__item__kind__in=kinds)
        .values_list(
            "assignment__annotator_id",
            "assignment__item__kind",
            "assignment__item__partner_id",
            "assignment__item__low",
            "assignment__item__high",
            "score",
            VALUE,
        )
    )
    first = _partners(campaign) if any(kind == Item.Kind.REPEAT for _, kind, *_ in rows) else {}
    passed: dict[tuple[int, str], list[bool]] = defaultdict(list)
    gaps: dict[int, list[float]] = defaultdict(list)
    for who, kind, partner, low, high, score, value in rows:
        if kind == Item.Kind.REPEAT:
            if (who, partner) in first:
                gaps[who].append(abs(value - first[who, partner]))
        elif score is not None:
            low, high = (0, LOW_SCORE) if kind == Item.Kind.TRAP else (low or 0, high)
            passed[who, kind].append(low <= score <= (100 if high is None else high))
    return {
        who: {
            "traps": _share(passed[who, Item.Kind.TRAP]),
            "gold": _share(passed[who, Item.Kind.GOLD]),
            "repeats": Repeats(len(gaps[who]), float(np.mean(gaps[who])) if gaps[who] else None),
        }
        for who in {who for who, *_ in rows}
    }


def _share(passed: Sequence[bool]) -> Share:
    return Share(sum(passed), len(passed))


def _partners(campaign: Campaign) -> dict[tuple[int, int], float]:
    """What each annotator gave to the items that are repeated."""
    repeated = campaign.items.filter(kind=Item.Kind.REPEAT).values("partner_id")
    rows = judgments_of(campaign).filter(is_current=True, assignment__item__in=repeated)
    values = rows.values_list("assignment__annotator_id", "assignment__item_id", VALUE)
    return {(who, item): value for who, item, value in values}
