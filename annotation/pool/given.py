"""Count the assignments of an annotator in a pool, continuing from a cached count.

Assignments are only added, at the next position, and their items never change. So a count up to a
position stays valid, and a claim reads only newer assignments.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from annotation.models import Annotator, Assignment, Item
from core.database.prepared import Statement, placeholder_key

CONTROLS = (Item.Kind.TRAP, Item.Kind.BAD_REF, Item.Kind.REPEAT, Item.Kind.REF, Item.Kind.GOLD)
TUTORIAL = Item.Kind.TUTORIAL.value
# How many annotators' counts are cached.
CACHED = 4_096
ANNOTATOR, POSITION = map(placeholder_key, (1, 2))

_cache: OrderedDict[int, "Given"] = OrderedDict()


@dataclass(frozen=True)
class Given:
    """Counts over all assignments up to the last one, answered or not.

    `n_since` counts the screens after the last control item, whose position is `last_control`.
    Practice items are not counted as screens. `last_screen` is the number of the last screen, None
    for a screen without a number.
    """

    last_key: int = 0
    last_position: int = -1
    n_screens: int = 0
    n_controls: int = 0
    n_since: int = 0
    last_control: int = -1
    last_screen: int | None = None

    def and_then(self, rows: Sequence[tuple[Any, ...]]) -> Self:
        """Return the counts with the following assignments added."""
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
    """Return the annotator's counts (one query, for assignments since the last call)."""
    known = _cache.pop(annotator.pk, Given())
    rows = _rows(annotator, known)
    if known.last_key and (not rows or rows[0][0] != known.last_key):
        # The counted rows have changed, so count all of them again.
        known = Given()
        rows = _rows(annotator, known)
    _cache[annotator.pk] = known = known.and_then(rows[1 if known.last_key else 0 :])
    while len(_cache) > CACHED:
        _cache.popitem(last=False)
    return known


def warm(annotator: Annotator) -> None:
    """Fill the cache before the transaction begins, so that others wait for a shorter time."""
    if annotator.pk not in _cache:
        given_to(annotator)


def _rows(annotator: Annotator, known: Given) -> list[Any]:
    return _since.values({ANNOTATOR: annotator.pk, POSITION: max(0, known.last_position)})
