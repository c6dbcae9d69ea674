"""Gold and practice items from a table, for a campaign that is still a draft."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from annotation.campaigns import require_status
from annotation.models import Campaign, Item, Segment
from annotation.protocols.base import Scale
from annotation.uploads.checks import FORBIDDEN, character
from annotation.uploads.files import InputFile
from annotation.uploads.problems import Place, Report
from annotation.uploads.spellings import Near
from annotation.uploads.tables.columns import propose, renamed
from annotation.uploads.tables.rows import read_table, require_rows
from metaeval.files.names import JUDGMENTS, TEST_SET, fields_of
from metaeval.messages import Message, message, plural, truncated

COLUMNS = ("kind", "segment", "source", "reference", "text", "low", "high", "feedback")
FIELDS = [f for f in (*fields_of(TEST_SET), *fields_of(JUDGMENTS)) if f.name in COLUMNS]
KINDS = {"gold": Item.Kind.GOLD, "tutorial": Item.Kind.TUTORIAL}
MOST_FEEDBACK = 2_000
WHOLE = re.compile(r"-?[0-9]{1,4}")
Row = Mapping[str, Any]
NO_RANGE = message("gold.no-range", "This protocol has no score, so there is no range of scores.")
RANGE_MISSING = message("gold.range-missing", "A gold item needs the range of right scores.")
AMBIGUOUS = message(
    "gold.ambiguous-source",
    "Several segments have this source. Add the reference or the key of the segment.",
)
UNKNOWN = message(
    "gold.unknown-source", "The test set has no segment with this source and reference."
)


def read_gold(campaign: Campaign, file: InputFile, report: Report) -> list[Item]:
    """Return the items of a table, not stored; every problem is reported with row and column."""
    table = read_table(file, report)
    if table is None:
        return []
    fields = propose(table.columns, FIELDS)
    report.name_columns(file.name, {field: table.titles[c] for c, field in fields.items()})
    table, head = renamed(table, fields), table.head
    for column in ("kind", "text"):
        if column not in table.columns:
            report.error(
                message("gold.column-missing", "The column “{column}” is missing.", column=column),
                head,
            )
    if not {"segment", "source"} & set(table.columns):
        report.error(
            message("gold.no-segment-column", "A column “segment” or “source” is needed."), head
        )
    if unknown := sorted(set(table.columns) - set(COLUMNS)):
        refusal = message(
            "gold.unknown-columns",
            "Unknown columns: {columns}. Use {known}.",
            columns=truncated(unknown),
            known=list(COLUMNS),
        )
        report.error(refusal, head)
    if report.errors:
        return []
    require_rows(table, report)
    reader = _Reader(campaign, report)
    return [reader.item(Place(file.name, line), row) for line, row in table.rows]


@transaction.atomic
def add_gold(*, campaign: Campaign, items: Sequence[Item]) -> int:
    """Store items that were read without errors. Raises ValidationError unless it is a draft."""
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_status(campaign, Campaign.Status.DRAFT)
    return len(Item.objects.bulk_create(items, batch_size=2_000))


def added(number: int) -> Message:
    """Return how many items were added."""
    return plural("gold.added", "Added {n} item.", "Added {n} items.", n=number)


@transaction.atomic
def delete_gold(*, campaign: Campaign, pks: Sequence[int] | None = None) -> int:
    """Delete uploaded items again, all of them or some. Raises ValidationError unless a draft."""
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_status(campaign, Campaign.Status.DRAFT)
    rows = uploaded(campaign)
    return int((rows if pks is None else rows.filter(pk__in=pks)).delete()[0])


def uploaded(campaign: Campaign) -> Any:
    """Return the gold and practice items that were added by hand, practice first."""
    rows = campaign.items.filter(kind__in=KINDS.values(), batch="")
    return rows.order_by("-kind", "pk").select_related("segment")


def require_draft(campaign: Campaign) -> None:
    """Raise ValidationError unless items can be added."""
    require_status(campaign, Campaign.Status.DRAFT)


class _Reader:
    """Converts rows to items of one campaign."""

    def __init__(self, campaign: Campaign, report: Report) -> None:
        self.campaign = campaign
        self.report = report
        self.by_key: dict[str, Segment] = {}
        self.near = Near(self.by_key)
        self.by_source: dict[str, list[Segment]] = defaultdict(list)
        for segment in campaign.test_set.segments.prefetch_related("references"):
            self.by_key[segment.key] = segment
            self.by_source[segment.source].append(segment)
        there = uploaded(campaign).values_list("kind", "segment", "text")
        # The row of each item; None for stored ones.
        self.seen: dict[tuple[str, int, str], int | None] = {tuple(row): None for row in there}

    def item(self, place: Place, row: Row) -> Item:
        """Return the item of a row; what is wrong with it is reported."""
        kind = self._kind(place, row)
        segment = self._segment(place, row)
        text = self._text(place, row, "text", required=True)
        low, high = self._range(place, row, kind)
        feedback = self._text(place, row, "feedback")
        if len(feedback) > MOST_FEEDBACK:
            refusal = message(
                "gold.feedback-too-long",
                "The feedback has more than {most} characters.",
                most=MOST_FEEDBACK,
            )
            self._refuse(place, "feedback", refusal)
        if segment is not None:
            self._check_new(place, kind, segment, text)
        return Item(
            campaign=self.campaign,
            kind=kind,
            segment=segment,
            text=text,
            low=low,
            high=high,
            feedback=feedback,
        )

    def _refuse(self, place: Place, column: str, refusal: Message) -> None:
        self.report.error(refusal, place._replace(field=column))

    def _kind(self, place: Place, row: Row) -> Item.Kind:
        value = str(row.get("kind", "")).strip().lower()
        if value not in KINDS:
            refusal = message(
                "gold.unknown-kind", "“{kind}” is neither gold nor tutorial.", kind=value
            )
            self._refuse(place, "kind", refusal)
        return KINDS.get(value, Item.Kind.GOLD)

    def _segment(self, place: Place, row: Row) -> Segment | None:
        """Return the segment with this key, or with this source and, if needed, reference."""
        key = str(row.get("segment", "")).strip()
        if key:
            if key not in self.by_key:
                self._refuse(place, "segment", self.near.no_segment(key))
            return self.by_key.get(key)
        source = self._text(place, row, "source", required=True)
        found = self.by_source.get(source, [])
        if reference := self._text(place, row, "reference"):
            found = [s for s in found if reference in {r.text for r in s.references.all()}]
        if source and len(found) != 1:
            self._refuse(place, "source", AMBIGUOUS if found else UNKNOWN)
        return found[0] if len(found) == 1 else None

    def _text(self, place: Place, row: Row, column: str, *, required: bool = False) -> str:
        value = row.get(column, "")
        if not isinstance(value, str):
            self._refuse(
                place,
                column,
                message("gold.not-text", "“{column}” is not text.", column=column),
            )
            return ""
        if required and not value.strip():
            self._refuse(
                place, column, message("gold.empty", "“{column}” is empty.", column=column)
            )
        if found := FORBIDDEN.search(value):
            refusal = message(
                "gold.character-in-text",
                "The text contains the character {character}, which is not allowed.",
                character=character(found[0]),
            )
            self._refuse(place, column, refusal)
        return value

    def _range(self, place: Place, row: Row, kind: Item.Kind) -> tuple[int | None, int | None]:
        low, high = self._score(place, row, "low"), self._score(place, row, "high")
        if not self.campaign.judging.has_score:
            if low is not None or high is not None:
                self._refuse(place, "low", NO_RANGE)
        elif kind == Item.Kind.GOLD and (low is None or high is None):
            missing = "low" if low is None else "high"
            if not row.get(missing):
                self._refuse(place, missing, RANGE_MISSING)
        elif low is not None and high is not None and low > high:
            self._refuse(
                place,
                "low",
                message(
                    "gold.range-reversed",
                    "The lowest right score ({low}) is higher than the highest ({high}).",
                    low=low,
                    high=high,
                ),
            )
        return low, high

    def _score(self, place: Place, row: Row, column: str) -> int | None:
        value = row.get(column, "")
        text = str(value).strip()
        if not text:
            return None
        scale = next(iter(self.campaign.judging.scales), Scale())
        is_whole = not isinstance(value, bool) and WHOLE.fullmatch(text)
        if not is_whole or not scale.low <= int(text) <= scale.high:
            refusal = message(
                "gold.score-outside",
                "“{text}” is not a whole number from {low} to {high}.",
                text=text[:20],
                low=scale.low,
                high=scale.high,
            )
            self._refuse(place, column, refusal)
            return None
        return int(text)

    def _check_new(self, place: Place, kind: Item.Kind, segment: Segment, text: str) -> None:
        key = (kind.value, segment.pk, text)
        if key in self.seen:
            row = self.seen[key]
            refusal = (
                message("gold.item-stored", "This item is already stored.")
                if row is None
                else message("gold.item-twice", "This item is already in row {row:d}.", row=row)
            )
            self._refuse(place, "text", refusal)
        self.seen.setdefault(key, place.row)
