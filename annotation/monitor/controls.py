"""Add up the results of annotators on control items: traps, gold items and repeats."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import fsum, inf, nan
from typing import Any

import numpy as np
from django.db.models import OuterRef, Q, QuerySet, Subquery
from numpy.typing import NDArray

from annotation.added import STEP
from annotation.judging.rules import kept_rules
from annotation.models import Campaign, Item, Judgment
from annotation.models.judgment import VALUE
from annotation.protocols.base import Scale
from annotation.quality.columns import scale_of
from annotation.quality.verdict import low_score
from core.text import batched

Rows = NDArray[Any]
ANNOTATOR, ITEM = "assignment__annotator_id", "assignment__item"
KINDS = (Item.Kind.TRAP, Item.Kind.GOLD, Item.Kind.REPEAT)
# `value` is a score, or the difference of a repeat; it is not a number if it does not count. `low`
# is infinite if rules are broken. `other` is what else decides: the repeated item, or the screen.
CONTROL = np.dtype(
    [("who", "i8"), ("assignment", "i8"), ("other", "i8")]
    + [(name, "f8") for name in ("value", "low", "high")]
)
Controls = Mapping[str, Rows]
NO_CONTROLS: Controls = dict.fromkeys(KINDS, np.empty(0, CONTROL))


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


def replaced(old: Rows, new: Rows) -> Rows:
    """Return rows of assignments, with new ones instead of the old ones of the same."""
    is_kept = ~np.isin(old["assignment"], new["assignment"])
    return np.concatenate([old[is_kept], new])


def by_annotator(rows: Rows) -> dict[int, Rows]:
    """Return the rows of each annotator, `who`."""
    rows = rows[np.argsort(rows["who"], kind="stable")]
    who, first = np.unique(rows["who"], return_index=True)
    return dict(zip(who.tolist(), np.split(rows, first)[1:], strict=True))


def add_controls(found: Controls, judgments: QuerySet[Judgment]) -> Controls:
    """Add the control items among more judgments, and read those again that these decide."""
    parts = [judgments.filter(**{f"{ITEM}__kind__in": KINDS})]
    changed = list(_changed(found, judgments))
    parts += [Judgment.objects.filter(assignment__in=some) for some in batched(changed, STEP)]
    for part in parts:
        new: dict[str, list[tuple[Any, ...]]] = {kind: [] for kind in KINDS}
        for kind, row in _read(part.filter(is_current=True).order_by()):
            new[kind].append(row)
        found = {
            kind: replaced(found[kind], np.array(rows, CONTROL)) if rows else found[kind]
            for kind, rows in new.items()
        }
    return found


def _changed(found: Controls, judgments: QuerySet[Judgment]) -> Iterator[int]:
    """Yield the assignments of known control items that are compared with what is judged."""
    for kind, name in ((Item.Kind.REPEAT, ""), (Item.Kind.GOLD, "__screen")):
        known = found[kind][found[kind]["other"] >= 0]
        if len(known):
            judged = judgments.filter(**{f"{ITEM}{name}__isnull": False})
            others = list(judged.values_list(f"{ITEM}{name}", flat=True))
            yield from known["assignment"][np.isin(known["other"], others)].tolist()


def _read(rows: QuerySet[Judgment]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the kind of control items, and their rows of `CONTROL`."""
    firsts = Judgment.objects.filter(
        is_current=True,
        assignment__annotator=OuterRef(ANNOTATOR),
        assignment__item=OuterRef(f"{ITEM}__partner"),
    )
    names = (f"{ITEM}__{name}" for name in ("partner", "screen", "low", "high"))
    columns = rows.annotate(
        again=VALUE, first=Subquery(firsts.order_by().values(first=VALUE)[:1])
    ).values_list("pk", f"{ITEM}__kind", ANNOTATOR, "assignment", "score", *names, "again", "first")
    found, kept = list(columns), {}
    if any(kind == Item.Kind.GOLD for _, kind, *_ in found):
        is_gold = Q(**{f"{ITEM}__kind": Item.Kind.GOLD, "score__isnull": False})
        kept = kept_rules(rows.filter(is_gold))
    for pk, kind, who, assignment, score, partner, screen, *bounds, again, first in found:
        other, value = partner, score
        low, high = (nan if each is None else each for each in bounds)
        if kind == Item.Kind.REPEAT:
            value = None if first is None else abs(again - first)
        elif kind == Item.Kind.GOLD:
            other = screen if pk in kept else None
            if pk not in kept and bounds == [None, None]:
                value = None
            elif not kept.get(pk, True):
                low = inf
        row = (who, assignment, -1 if other is None else other, nan if value is None else value)
        yield kind, (*row, low, high)


def results_of(campaign: Campaign, controls: Controls) -> dict[int, dict[str, Any]]:
    """Return results by annotator, assessed by the rules of `quality.verdict`."""
    scale = scale_of(campaign) or Scale()
    low_enough = low_score(scale)
    counted = {kind: rows[~np.isnan(rows["value"])] for kind, rows in controls.items()}
    found: dict[int, dict[str, Any]] = {}
    for who, rows in by_annotator(counted[Item.Kind.TRAP]).items():
        n = np.count_nonzero(rows["value"] <= low_enough)
        found.setdefault(who, {})["traps"] = Share(int(n), len(rows))
    for who, rows in by_annotator(counted[Item.Kind.GOLD]).items():
        low, high = (
            np.where(np.isnan(rows[name]), getattr(scale, name), rows[name])
            for name in ("low", "high")
        )
        n = np.count_nonzero((low <= rows["value"]) & (rows["value"] <= high))
        found.setdefault(who, {})["gold"] = Share(int(n), len(rows))
    for who, rows in by_annotator(counted[Item.Kind.REPEAT]).items():
        found.setdefault(who, {})["repeats"] = Repeats(len(rows), fsum(rows["value"]) / len(rows))
    return found
