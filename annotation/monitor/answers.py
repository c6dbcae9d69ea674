"""What annotators answered, as columns of small integers: no object for a judgment."""

from typing import Any

import numpy as np
from django.db.models import Case, F, IntegerField, Q, QuerySet, Value, When
from numpy.typing import NDArray

from annotation.models import Campaign, Judgment

REMARK = Q(is_current=True) & (Q(is_flagged=True) | ~Q(comment=""))
# What is known of a judgment in one integer: a column of its own costs time for every row.
CURRENT, DOUBTFUL, REMARKED = 1, 2, 4
FLAGS = sum(
    (
        Case(When(condition, then=bit), default=0, output_field=IntegerField())
        for bit, condition in (
            (CURRENT, Q(is_current=True)),
            (DOUBTFUL, ~Q(time_doubt="")),
            (REMARKED, REMARK),
        )
    ),
    start=Value(0),
)


def judgments_of(campaign: Campaign) -> QuerySet[Judgment]:
    """Every answer of a campaign, in no order."""
    return Judgment.objects.filter(assignment__annotator__campaign=campaign).order_by()


def read_answers(campaign: Campaign) -> dict[int, dict[str, Any]]:
    """Paid times, doubts and remarks by annotator: three small integers a judgment are read."""
    rows = judgments_of(campaign).values_list("assignment__annotator_id", "paid_ms", FLAGS)
    known = [(who, -1 if paid is None else paid, flags) for who, paid, flags in rows]
    table = np.array(known, dtype=np.int64).reshape(-1, 3)
    table = table[np.argsort(table[:, 0], kind="stable")]
    people, starts = np.unique(table[:, 0], return_index=True)
    parts = np.split(table[:, 1:], starts[1:])
    return {int(who): _answers_of(part) for who, part in zip(people, parts, strict=False)}


def _answers_of(part: NDArray[np.int64]) -> dict[str, Any]:
    paid, flags = part.T
    timed = paid >= 0
    current = paid[timed & (flags & CURRENT > 0)]
    return {
        "seconds": float(np.median(current)) / 1000 if len(current) else None,
        "paid_ms": int(paid[timed].sum()),
        "n_doubtful": int((flags & DOUBTFUL > 0).sum()),
        "n_remarks": int((flags & REMARKED > 0).sum()),
    }


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
