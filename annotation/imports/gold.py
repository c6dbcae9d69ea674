"""Gold and practice items from a table, for a campaign that is still a draft."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from annotation.campaigns import require_status
from annotation.models import Campaign, Item, Segment
from annotation.protocols.asked import Scale
from annotation.uploads.checks import FORBIDDEN, character
from annotation.uploads.files import InputFile
from annotation.uploads.problems import Place, Report
from annotation.uploads.spellings import Near
from annotation.uploads.tables.rows import read_table, require_rows

COLUMNS = ("kind", "segment", "source", "reference", "text", "low", "high", "feedback")
KINDS = {"gold": Item.Kind.GOLD, "tutorial": Item.Kind.TUTORIAL}
MOST_FEEDBACK = 2_000
WHOLE = re.compile(r"-?[0-9]{1,4}")
Row = Mapping[str, Any]


def read_gold(campaign: Campaign, file: InputFile, report: Report) -> list[Item]:
    """Return the items of a table, not stored; every problem is reported with row and column."""
    table = read_table(file, report)
    if table is None:
        return []
    head = table.head
    for column in ("kind", "text"):
        if column not in table.columns:
            report.error(f"the column “{column}” is missing", head)
    if not {"segment", "source"} & set(table.columns):
        report.error("there is neither a column “segment” nor “source”", head)
    if unknown := sorted(set(table.columns) - set(COLUMNS)):
        known = ", ".join(COLUMNS)
        report.error(f"unknown columns: {', '.join(unknown)} (there are {known})", head)
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
    """Rows to items of one campaign."""

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
        self.seen: dict[tuple[str, int, str], str] = {tuple(row): "stored" for row in there}

    def item(self, place: Place, row: Row) -> Item:
        """Return the item of a row; what is wrong with it is reported."""
        kind = self._kind(place, row)
        segment = self._segment(place, row)
        text = self._text(place, row, "text", required=True)
        low, high = self._range(place, row, kind)
        feedback = self._text(place, row, "feedback")
        if len(feedback) > MOST_FEEDBACK:
            self._wrong(place, "feedback", f"more than {MOST_FEEDBACK:,} characters")
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

    def _wrong(self, place: Place, column: str, message: str) -> None:
        self.report.error(message, place._replace(field=column))

    def _kind(self, place: Place, row: Row) -> Item.Kind:
        value = str(row.get("kind", "")).strip().lower()
        if value not in KINDS:
            self._wrong(place, "kind", f"“{value}” is neither gold nor tutorial")
        return KINDS.get(value, Item.Kind.GOLD)

    def _segment(self, place: Place, row: Row) -> Segment | None:
        """By its key, or by its source and, where that is not enough, its reference."""
        key = str(row.get("segment", "")).strip()
        if key:
            if key not in self.by_key:
                message = f"the test set has no segment “{key}”{self.near(key)}"
                self._wrong(place, "segment", message)
            return self.by_key.get(key)
        source = self._text(place, row, "source", required=True)
        found = self.by_source.get(source, [])
        if reference := self._text(place, row, "reference"):
            found = [s for s in found if reference in {r.text for r in s.references.all()}]
        if source and len(found) != 1:
            many = "several segments have" if found else "the test set has no segment with"
            self._wrong(place, "source", f"{many} this source{' and reference' * bool(reference)}")
        return found[0] if len(found) == 1 else None

    def _text(self, place: Place, row: Row, column: str, *, required: bool = False) -> str:
        value = row.get(column, "")
        if not isinstance(value, str):
            self._wrong(place, column, f"“{column}” is no text")
            return ""
        if required and not value.strip():
            self._wrong(place, column, f"“{column}” is empty")
        if found := FORBIDDEN.search(value):
            self._wrong(place, column, f"the text contains {character(found[0])}")
        return value

    def _range(self, place: Place, row: Row, kind: Item.Kind) -> tuple[int | None, int | None]:
        low, high = self._score(place, row, "low"), self._score(place, row, "high")
        if not self.campaign.judging.has_score:
            if low is not None or high is not None:
                self._wrong(place, "low", "this protocol takes no score, so there is no range")
        elif kind == Item.Kind.GOLD and (low is None or high is None):
            missing = "low" if low is None else "high"
            if not row.get(missing):
                self._wrong(place, missing, "a gold item needs the range of right scores")
        elif low is not None and high is not None and low > high:
            self._wrong(place, "low", f"{low} is more than {high}")
        return low, high

    def _score(self, place: Place, row: Row, column: str) -> int | None:
        value = row.get(column, "")
        text = str(value).strip()
        if not text:
            return None
        scale = next(iter(self.campaign.judging.scales), Scale())
        is_whole = not isinstance(value, bool) and WHOLE.fullmatch(text)
        if not is_whole or not scale.low <= int(text) <= scale.high:
            said = f"“{text[:20]}” is no whole number from {scale.low} to {scale.high}"
            self._wrong(place, column, said)
            return None
        return int(text)

    def _check_new(self, place: Place, kind: Item.Kind, segment: Segment, text: str) -> None:
        key = (kind.value, segment.pk, text)
        if key in self.seen:
            self._wrong(place, "text", f"this item is there already ({self.seen[key]})")
        self.seen.setdefault(key, f"row {place.row}")
