"""The next screens: one after an answer, and those that a browser fetches ahead."""

from dataclasses import replace
from functools import cache
from itertools import takewhile
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from annotation import pool
from annotation.judging import instructions
from annotation.judging.progress import counts, progress
from annotation.judging.screens import ShownScreen, make_screen, screen_rows
from annotation.models import Annotator, Assignment, Item
from core.database.prepared import Prepared, placeholder_key

ANNOTATOR, PLACE = placeholder_key(1), placeholder_key(2)
# How many items a browser gets ahead, and how many screens that may have a hundred texts each.
AHEAD = 20
SCREENS_AHEAD = 5


def next_screen(*, annotator: Annotator, after: int = -1) -> ShownScreen | None:
    """Return the screen of the first unrated item after a position, or else of the first one.

    The order is that of screens fetched ahead. `annotator` must have its campaign and test set
    loaded.
    """
    statement = _next(instructions.active())
    for place in dict.fromkeys((after, -1)):
        rows: list[Any] = statement.rows({ANNOTATOR: annotator.pk, PLACE: place})
        if rows:
            break
    row = next(iter(rows), None)
    if row is not None:
        row.annotator = annotator
    return make_screen(row)


def _head(annotator: Annotator, item: UUID) -> UUID:
    """Return the first item of an item's screen."""
    own = Assignment.objects.filter(annotator=annotator)
    screens = own.filter(public_id=item, item__screen__isnull=False).values("item__screen")
    head = own.filter(item__screen__in=screens).order_by("position")
    return head.values_list("public_id", flat=True).first() or item


@cache
def _next(language: str) -> Prepared[Any]:
    """Return the query for a language, which is a constant in it."""
    rest = _open().filter(position__gt=PLACE)
    return Prepared(lambda: rest.annotate(**counts("annotator"))[:1])


@cache
def _ahead(language: str, has_several: bool) -> Prepared[Any]:
    """Return the query of open items, or of first items if screens are submitted as a whole."""
    if not has_several:
        return Prepared(lambda: _open()[:AHEAD])
    same = Assignment.objects.filter(
        annotator=OuterRef("annotator"), item__screen=OuterRef("item__screen")
    )
    later = Exists(same.filter(position__lt=OuterRef("position")))
    return Prepared(lambda: _open().filter(~later)[:SCREENS_AHEAD])


def _open() -> QuerySet[Any]:
    rows = screen_rows().filter(annotator=ANNOTATOR, completed_at=None, released_at=None)
    return rows.order_by("position")


def _follows_practice(row: Any) -> bool:
    return bool(row.previous_kind == Item.Kind.TUTORIAL)


def screens_ahead(*, annotator: Annotator, after: UUID | None = None) -> list[ShownScreen]:
    """Return the next open screens of an annotator in order; in a pool, claim them.

    If the item `after` is still open, they are the ones after it. Items after practice wait until
    the annotator has read the feedback on the practice.
    """
    pool.give_ahead(annotator=annotator, most=AHEAD)
    has_several = annotator.campaign.judging.layout.has_several
    rows = _ahead(instructions.active(), has_several).rows({ANNOTATOR: annotator.pk})
    if has_several and after is not None:
        after = _head(annotator, after)
    # The screen of `after` is shown already.
    rows = list(takewhile(lambda row: row.public_id == after or not _follows_practice(row), rows))
    known = next((n for n, row in enumerate(rows) if row.public_id == after), None)
    heads: dict[int, Any] = {}
    for row in rows[known:]:
        row.annotator = annotator
        heads.setdefault(-row.pk if row.screen is None else row.screen, row)
    # The screen of `after` comes first.
    shown = list(heads.values())[known is not None :]
    how_far = progress(annotator, is_ahead=True)
    return [replace(one, count=lambda: how_far) for row in shown if (one := make_screen(row))]
