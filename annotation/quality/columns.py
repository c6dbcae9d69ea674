"""The current judgments of a campaign as numpy columns: one query, no object per row."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.models import Campaign, Item, Judgment

NOTHING = -1
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

COLUMNS = (
    "assignment__annotator_id",
    "assignment__item_id",
    "assignment__item__kind",
    "assignment__item__output_id",
    "assignment__item__partner_id",
    "score",
    "started_at",
    "submitted_at",
)


@dataclass(frozen=True)
class JudgmentColumns:
    """One entry per current judgment, in each annotator's own order.

    `output` and `partner` are primary keys, or NOTHING. `seconds` is nan where times are not
    known. `kind` holds the values of `Item.Kind`.
    """

    annotator: Integers
    item: Integers
    kind: NDArray[np.str_]
    output: Integers
    partner: Integers
    score: Floats
    seconds: Floats

    def __len__(self) -> int:
        return len(self.score)

    @property
    def is_target(self) -> Mask:
        """Judgments of outputs: their first rating and repeats of it."""
        return self.is_kind(Item.Kind.TARGET, Item.Kind.REPEAT)

    def is_kind(self, *kinds: Item.Kind) -> Mask:
        """Judgments of items of these kinds."""
        return np.isin(self.kind, [kind.value for kind in kinds])


def read_columns(campaign: Campaign) -> JudgmentColumns:
    """Read all current judgments of a campaign."""
    rows = list(
        Judgment.objects.filter(is_current=True, assignment__annotator__campaign=campaign)
        .order_by("assignment__annotator_id", "assignment__position")
        .values_list(*COLUMNS)
    )
    annotator, item, kind, output, partner, score, started, submitted = (
        zip(*rows, strict=True) if rows else ((),) * len(COLUMNS)
    )
    return JudgmentColumns(
        annotator=np.array(annotator, dtype=np.int64),
        item=np.array(item, dtype=np.int64),
        kind=np.array(kind, dtype="U10"),
        output=_keys(output),
        partner=_keys(partner),
        score=np.array(score, dtype=np.float64),
        seconds=np.array(
            [
                (end - begin).total_seconds() if begin and end else np.nan
                for begin, end in zip(started, submitted, strict=True)
            ],
            dtype=np.float64,
        ),
    )


def _keys(values: tuple[int | None, ...]) -> Integers:
    return np.array([NOTHING if value is None else value for value in values], dtype=np.int64)
