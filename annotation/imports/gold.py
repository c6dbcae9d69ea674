"""Gold and practice items from a table, for a campaign that is still a draft."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import transaction

from annotation.campaigns import require_status
from annotation.imports.judgments import Understood
from annotation.imports.judgments.fields import Sheet
from annotation.imports.judgments.read import seen_in
from annotation.imports.judgments.rows import Row, rows_of
from annotation.models import Campaign, Item, Segment
from annotation.protocols.base import Scale
from annotation.uploads.files import InputFile
from annotation.uploads.problems import Report
from annotation.uploads.spellings import Near
from annotation.uploads.tables.columns import name_fields, propose, read_chosen, renamed
from annotation.uploads.tables.rows import read_table, require_rows
from metaeval.files.names import JUDGMENTS, TEST_SET, Field, fields_of
from metaeval.messages import Message, message, plural, truncated

COLUMNS = ("kind", "segment", "source", "reference", "text", "low", "high", "feedback")
_KNOWN = {field.name: field for field in (*fields_of(TEST_SET), *fields_of(JUDGMENTS))} | {
    "text": Field("text", message("gold.text", "the text to rate")),
    "feedback": Field("feedback", message("gold.feedback", "the feedback after a practice item")),
}
FIELDS = [_KNOWN[name] for name in COLUMNS]
KINDS = {"gold": Item.Kind.GOLD, "tutorial": Item.Kind.TUTORIAL}
MOST_FEEDBACK = 2_000
NO_RANGE = message("gold.no-range", "This protocol has no score, so there is no range of scores.")
RANGE_MISSING = message("gold.range-missing", "A gold item needs the range of right scores.")
AMBIGUOUS = message(
    "gold.ambiguous-source",
    "Several segments have this source. Add the reference or the key of the segment.",
)
UNKNOWN = message(
    "gold.unknown-source", "The test set has no segment with this source and reference."
)


@dataclass(frozen=True)
class GoldItems(Understood):
    """The items of a table, not stored, and how it was understood."""

    items: list[Item] = field(default_factory=list)


def read_gold(
    campaign: Campaign, file: InputFile, report: Report, columns: Mapping[str, str] | None = None
) -> GoldItems:
    """Return the items of a table; every problem is reported with row and column.

    `columns` are the fields that a person chose for columns.
    """
    report.chosen = {"": columns or {}}
    table = read_table(file, report)
    if table is None:
        return GoldItems()
    (chosen,) = read_chosen([table], FIELDS, report)
    fields = propose(table.columns, FIELDS, chosen)
    seen = GoldItems(**seen_in([table]), fields=fields, wanted=FIELDS)
    name_fields(table, fields, report)
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
        return seen
    require_rows(table, report)
    reader = _Reader(campaign, report)
    sheet = Sheet(table, {column: column for column in table.columns})
    return replace(seen, items=[reader.item(row) for row in rows_of(sheet)])


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

    def item(self, row: Row) -> Item:
        """Return the item of a row; what is wrong with it is reported."""
        kind = row.name("kind").lower()
        if kind not in KINDS:
            refusal = message(
                "gold.unknown-kind", "“{kind}” is neither gold nor tutorial.", kind=kind
            )
            self.report.error(refusal, row.at("kind"))
        item = Item(
            campaign=self.campaign,
            kind=KINDS.get(kind, Item.Kind.GOLD),
            segment=self._segment(row),
            text=self._required(row, "text"),
            feedback=row.clean("feedback", self.report),
        )
        item.low, item.high = self._range(row, item.kind)
        if len(item.feedback) > MOST_FEEDBACK:
            refusal = message(
                "gold.feedback-too-long",
                "The feedback has more than {most} characters.",
                most=MOST_FEEDBACK,
            )
            self.report.error(refusal, row.at("feedback"))
        if item.segment_id is not None:
            key = (item.kind, item.segment_id, item.text)
            first = self.seen.setdefault(key, row.place.row)
            if first is None:
                stored = message("gold.item-stored", "This item is already stored.")
                self.report.error(stored, row.at("text"))
            elif first != row.place.row:
                twice = message(
                    "gold.item-twice", "This item is already in row {row:d}.", row=first
                )
                self.report.error(twice, row.at("text"))
        return item

    def _required(self, row: Row, column: str) -> str:
        before = self.report.n_errors
        text = row.clean(column, self.report)
        if not text.strip() and self.report.n_errors == before:
            refusal = message("gold.empty", "“{column}” is empty.", column=column)
            self.report.error(refusal, row.at(column))
        return text

    def _segment(self, row: Row) -> Segment | None:
        """Return the segment with this key, or with this source and, if needed, reference."""
        if key := row.name("segment"):
            if key not in self.by_key:
                self.report.error(self.near.no_segment(key), row.at("segment"))
            return self.by_key.get(key)
        source = self._required(row, "source")
        found = self.by_source.get(source, [])
        if reference := row.clean("reference", self.report):
            found = [s for s in found if reference in {r.text for r in s.references.all()}]
        if source and len(found) != 1:
            self.report.error(AMBIGUOUS if found else UNKNOWN, row.at("source"))
        return found[0] if len(found) == 1 else None

    def _range(self, row: Row, kind: str) -> tuple[int | None, int | None]:
        low, high = self._score(row, "low"), self._score(row, "high")
        if not self.campaign.judging.has_score:
            if low is not None or high is not None:
                self.report.error(NO_RANGE, row.at("low"))
        elif kind == Item.Kind.GOLD and (low is None or high is None):
            missing = "low" if low is None else "high"
            if row.has_nothing(missing):
                self.report.error(RANGE_MISSING, row.at(missing))
        elif low is not None and high is not None and low > high:
            refusal = message(
                "gold.range-reversed",
                "The lowest right score ({low}) is higher than the highest ({high}).",
                low=low,
                high=high,
            )
            self.report.error(refusal, row.at("low"))
        return low, high

    def _score(self, row: Row, column: str) -> int | None:
        number = row.whole(column, self.report)
        scale = next(iter(self.campaign.judging.scales), Scale())
        if number is None or scale.low <= number <= scale.high:
            return number
        refusal = message(
            "gold.score-outside",
            "“{text}” is not a whole number from {low} to {high}.",
            text=str(number)[:20],
            low=scale.low,
            high=scale.high,
        )
        self.report.error(refusal, row.at(column))
        return None
