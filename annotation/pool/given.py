"""What an annotator of a pool was given so far, counted on from where this process left off.

Rows of assignments are only added, at the next position, and their items never change. So what was
counted up to a position holds; a claim reads what came since, however much there was before.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from annotation.models import Annotator, Assignment, Item
from core.database.prepared import Statement, placeholder_key

CONTROLS = (Item.Kind.TRAP, Item.Kind.BAD_REF, Item.Kind.REPEAT, Item.Kind.REF, Item.Kind.GOLD)
TUTORIAL = Item.Kind.TUTORIAL.value
# Annotators whose counts are kept in memory.
KEPT = 4_096
ANNOTATOR, POSITION = map(placeholder_key, (1, 2))

_kept: OrderedDict[int, "Given"] = OrderedDict()


@dataclass(frozen=True)
class Given:
    """Counts over all assignments up to the last one, whatever became of them.

    `n_since` counts the screens after the last control, whose place is `last_control`. Tutorial
    items are no screens here. `last_screen` is the number of the last one, if it has any.
    """

    last_key: int = 0
    last_position: int = -1
    n_screens: int = 0
    n_controls: int = 0
    n_since: int = 0
    last_control: int = -1
    last_screen: int | None = None

    def and_then(self, rows: Sequence[tuple[Any, ...]]) -> Self:
        """Count the assignments that come next."""
        if not rows:
            return self
        n_screens, n_controls = self.n_screens, self.n_controls
        n_since, last_control = self.n_since, self.last_control
        before = self.last_screen
        for _, position, screen, kind, partner in rows:
            is_new = screen is None or screen != before
            before = screen
            is_screen = is_new and kind != TUTORIAL
            n_screens += is_screen
            n_since += is_screen
            if partner is not None or kind in CONTROLS:
                n_controls += is_new
                n_since, last_control = 0, position
        key, position, *_ = rows[-1]
        return type(self)(key, position, n_screens, n_controls, n_since, last_control, before)


_since = Statement(
    lambda: (
        Assignment.objects.filter(annotator=ANNOTATOR, position__gte=POSITION)
        .order_by("position")
        .values_list("pk", "position", "item__screen", "item__kind", "item__partner")
    )
)


def given_to(annotator: Annotator) -> Given:
    """Count what the annotator was given (one query, of what came since the last time)."""
    known = _kept.pop(annotator.pk, Given())
    rows = _rows(annotator, known)
    if known.last_key and (not rows or rows[0][0] != known.last_key):
        # Not the rows that were counted: begin anew.
        known = Given()
        rows = _rows(annotator, known)
    _kept[annotator.pk] = known = known.and_then(rows[1 if known.last_key else 0 :])
    while len(_kept) > KEPT:
        _kept.popitem(last=False)
    return known


def warm(annotator: Annotator) -> None:
    """Count before others have to wait for it, if nothing is counted yet."""
    if annotator.pk not in _kept:
        given_to(annotator)


def _rows(annotator: Annotator, known: Given) -> list[Any]:
    return _since.values({ANNOTATOR: annotator.pk, POSITION: max(0, known.last_position)})
