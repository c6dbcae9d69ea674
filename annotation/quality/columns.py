"""The current judgments of a campaign as numpy columns: one query, no object per row."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from annotation.models import Campaign, Item, Judgment
from annotation.models.judgment import VALUE
from annotation.once import is_one_computation, once

NOTHING = -1
REPLACED = (Item.Kind.BAD_REF, Item.Kind.TRAP, Item.Kind.REF)
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

COLUMNS = (
    "assignment__annotator_id",
    "assignment__item_id",
    "assignment__item__kind",
    "assignment__item__output_id",
    "assignment__item__segment_id",
    "assignment__item__partner_id",
    "assignment__item__screen",
    "assignment__item__low",
    "assignment__item__high",
    VALUE,
    "started_at",
    "submitted_at",
    "sent_together",
    "paid_ms",
    "active_ms",
    "time_doubt",
)


@dataclass(frozen=True)
class JudgmentColumns:
    """One entry per current judgment, in each annotator's own order.

    `output` and `partner` are primary keys, or NOTHING; `segment` is always one. `seconds` is the
    server's time, shared among the answers of one screen, `paid` the same with the campaign's cap,
    and `active` what the browser reported, all nan where not known; `doubted` marks reports that
    cannot be. `low` and `high` bound the right score of gold items. `kind` holds the values of
    `Item.Kind`. `beside_control` marks repeats that stood on one screen with a replaced text, whose
    ratings may have moved away from it. `submitted` is in Unix seconds, nan where not known.
    """

    annotator: Integers
    item: Integers
    kind: NDArray[np.str_]
    output: Integers
    segment: Integers
    partner: Integers
    beside_control: Mask
    low: Floats
    high: Floats
    score: Floats
    seconds: Floats
    paid: Floats
    active: Floats
    doubted: Mask
    submitted: Floats

    def __len__(self) -> int:
        return len(self.score)

    @property
    def is_target(self) -> Mask:
        """Judgments of outputs: their first rating, and repeats that nothing stood beside."""
        repeats = self.is_kind(Item.Kind.REPEAT) & ~self.beside_control
        targets: Mask = self.is_kind(Item.Kind.TARGET) | repeats
        return targets

    @property
    def is_document(self) -> Mask:
        """Judgments of whole documents, but not of their copies on control screens."""
        documents: Mask = self.is_kind(Item.Kind.DOCUMENT) & (self.partner == NOTHING)
        return documents

    def is_kind(self, *kinds: Item.Kind) -> Mask:
        """Judgments of items of these kinds."""
        return np.isin(self.kind, [kind.value for kind in kinds])

    def select(self, chosen: Mask) -> "JudgmentColumns":
        """Some of the judgments."""
        return JudgmentColumns(
            **{each.name: getattr(self, each.name)[chosen] for each in fields(self)}
        )


def read_columns(campaign: Campaign, *, with_excluded: bool = False) -> JudgmentColumns:
    """Read all current judgments of a campaign, except practice and excluded annotators'.

    Within one computation the database is asked once for both; nothing can be written to a column.
    """
    if with_excluded or not is_one_computation():
        return _read(campaign, with_excluded)
    everybody = _read(campaign, True)
    excluded = campaign.annotators.exclude(excluded_at=None).values_list("pk", flat=True)
    return everybody.select(~np.isin(everybody.annotator, list(excluded)))


@once
def _read(campaign: Campaign, with_excluded: bool) -> JudgmentColumns:
    current = Judgment.objects.filter(is_current=True, assignment__annotator__campaign=campaign)
    if not with_excluded:
        current = current.filter(assignment__annotator__excluded_at=None)
    rows = list(
        current.exclude(assignment__item__kind=Item.Kind.TUTORIAL)
        .order_by("assignment__annotator_id", "assignment__position")
        .values_list(*COLUMNS)
    )
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(COLUMNS)
    annotator, item, kind, output, segment, partner, screen, low, high, score, *times = columns
    started, submitted, together, paid, active, doubt = times
    found = JudgmentColumns(
        annotator=np.array(annotator, dtype=np.int64),
        item=np.array(item, dtype=np.int64),
        kind=np.array(kind, dtype="U10"),
        output=_keys(output),
        segment=_keys(segment),
        partner=_keys(partner),
        beside_control=_beside_control(campaign, kind, screen),
        low=np.array(low, dtype=np.float64),
        high=np.array(high, dtype=np.float64),
        score=np.array(score, dtype=np.float64),
        seconds=np.array(
            [
                (end - begin).total_seconds() / shared if begin and end else np.nan
                for begin, end, shared in zip(started, submitted, together, strict=True)
            ],
            dtype=np.float64,
        ),
        paid=np.array(paid, dtype=np.float64) / 1000,
        active=np.array(active, dtype=np.float64) / 1000,
        doubted=np.array([bool(each) for each in doubt], dtype=bool),
        submitted=np.array(
            [np.nan if end is None else end.timestamp() for end in submitted], dtype=np.float64
        ),
    )
    for each in fields(found):
        getattr(found, each.name).flags.writeable = False
    return found


def _beside_control(
    campaign: Campaign, kinds: Sequence[str], screens: Sequence[int | None]
) -> Mask:
    """Which repeats share a screen with a replaced text; a screen of one costs no query."""
    repeats = [
        screen if kind == Item.Kind.REPEAT and screen is not None else NOTHING
        for kind, screen in zip(kinds, screens, strict=True)
    ]
    if all(screen == NOTHING for screen in repeats):
        return np.zeros(len(repeats), dtype=bool)
    replaced = campaign.items.filter(kind__in=REPLACED, screen__isnull=False)
    return np.isin(repeats, _keys(list(replaced.values_list("screen", flat=True).distinct())))


def _keys(values: Sequence[int | None]) -> Integers:
    return np.array([NOTHING if value is None else value for value in values], dtype=np.int64)
