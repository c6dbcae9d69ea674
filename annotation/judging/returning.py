"""The screens and practice items that an annotator may open again."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db.models import F, Q, Subquery

from annotation import pool
from annotation.judging.rules import kept_rules
from annotation.judging.screens import (
    PRACTICE,
    RATED_TEXT,
    Feedback,
    Text,
    context_of,
    current_judgment,
    first_reference,
    text,
)
from annotation.models import Annotator, Assignment, Item, Judgment


@dataclass(frozen=True)
class OwnScreen:
    """A screen of an annotator: the address of its first item, and its positions from 1.

    `is_done` states whether all its items are rated.
    """

    public_id: UUID
    first: int
    last: int
    is_done: bool


@dataclass(frozen=True)
class Example:
    """An answered practice item, and the feedback to the answer."""

    context: Text
    rated: Text
    feedback: Feedback


def own_screens(annotator: Annotator) -> list[OwnScreen]:
    """Return the screens that an annotator may open, in order (two queries at most).

    The list ends at the first open practice item. In a pool it ends at the last rated item, because
    the number of further items would reveal their kind.
    """
    rows = (
        Assignment.objects.filter(annotator=annotator)
        .filter(Q(released_at=None) | Q(completed_at__isnull=False))
        .order_by("position")
        .values("public_id", "position", "completed_at", "item__screen", "item__kind")
    )
    shown = _up_to(list(rows), has_pool=pool.has_pool(annotator.campaign))
    grouped = groupby(shown, key=lambda row: (row["item__screen"], _alone(row)))
    return [_screen(list(group)) for _, group in grouped]


def _up_to(rows: Sequence[Any], *, has_pool: bool) -> Sequence[Any]:
    done = [n for n, row in enumerate(rows) if row["completed_at"] is not None]
    if has_pool:
        return rows[: done[-1] + 1 if done else 0]
    practice = (
        n
        for n, row in enumerate(rows)
        if row["item__kind"] == Item.Kind.TUTORIAL and row["completed_at"] is None
    )
    return rows[: max(next(practice, len(rows)), done[-1] if done else 0) + 1]


def _alone(row: Any) -> int | None:
    return row["position"] if row["item__screen"] is None else None


def _screen(rows: Sequence[Any]) -> OwnScreen:
    return OwnScreen(
        public_id=rows[0]["public_id"],
        first=rows[0]["position"] + 1,
        last=rows[-1]["position"] + 1,
        is_done=all(row["completed_at"] is not None for row in rows),
    )


def examples(annotator: Annotator) -> list[Example]:
    """Return the practice items that an annotator answered, in order (one query)."""
    campaign = annotator.campaign
    protocol = campaign.judging
    rows: Any = (
        Assignment.objects.filter(annotator=annotator, item__kind=Item.Kind.TUTORIAL)
        .annotate(
            current=current_judgment(),
            given=F("current__score"),
            judgment=F("current__pk"),
            rated=RATED_TEXT,
            reference=Subquery(first_reference("item__segment")),
        )
        .filter(current__isnull=False)
        .order_by("position")
        .values("judgment", "given", "rated", "reference", "item__segment__source", *PRACTICE)
    )
    own = Judgment.objects.filter(is_current=True, assignment__annotator=annotator)
    kept = kept_rules(own.filter(assignment__item__kind=Item.Kind.TUTORIAL))
    return [
        Example(
            context=context_of(
                campaign, source=row["item__segment__source"], reference=row["reference"]
            ),
            rated=text(row["rated"], campaign.test_set.target_language),
            feedback=told,
        )
        for row in rows
        if (told := Feedback.on(row, protocol, is_kept=kept.get(row["judgment"], True)))
    ]
