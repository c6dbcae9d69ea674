"""Read spans as arrays: those of annotators in a campaign's outputs, and those of each metric."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.filters import Filters
from annotation.filters.chosen import read_judgments
from annotation.models import Campaign, ErrorSpan
from dashboards.panel.choice import general
from metaeval.arrays import FloatArray, IntArray
from metaeval.messages import Message
from metaeval.spans import SpanTable, agreed_spans
from metrics import catalogue
from metrics.models import MetricSignature
from metrics.scores import latest_signatures
from metrics.spans.stored import Row, find_with_spans, read_rows

ITEM, ANNOTATOR = "judgment__assignment__item", "judgment__assignment__annotator"


@dataclass(frozen=True)
class Gold:
    """n judgments of outputs, or n outputs on which several annotators agree, with their spans.

    `output`, `annotator` (−1 where several agree) and `segment` are primary keys, `unit` is the
    document of each (its first segment), `score` is 0 to 100, or nan where the protocol has none.
    `categories` has one entry per row of `table`.
    """

    output: IntArray
    annotator: IntArray
    segment: IntArray
    unit: IntArray
    score: FloatArray
    table: SpanTable
    categories: Sequence[str]

    def __len__(self) -> int:
        return len(self.output)

    @property
    def clusters(self) -> IntArray:
        """The document of each judged segment, one entry per segment."""
        _, first = np.unique(self.segment, return_index=True)
        return self.unit[first]

    def taken(self, items: IntArray) -> "Gold":
        """Return the given items with their spans."""
        place = np.full(len(self), -1)
        place[items] = np.arange(len(items))
        is_chosen = place[self.table.item] >= 0
        table = self.table.where(is_chosen)
        table = SpanTable(
            len(items), place[table.item], table.start, table.end, table.side, table.severity
        )
        categories = [self.categories[row] for row in np.flatnonzero(is_chosen)]
        ids = (self.output, self.annotator, self.segment, self.unit)
        output, annotator, segment, unit = (column[items] for column in ids)
        return Gold(output, annotator, segment, unit, self.score[items], table, categories)


@dataclass(frozen=True)
class Detector:
    """A metric that marks spans, with its stored spans by output."""

    key: str
    label: str
    signature: str
    is_imported: bool
    rows: Mapping[int, Sequence[Row]]

    def on(self, gold: Gold) -> tuple[IntArray, SpanTable, list[float | None]]:
        """Return the items that the metric has spans for, its spans, and their confidences."""
        items = np.array([n for n, pk in enumerate(gold.output.tolist()) if pk in self.rows], int)
        spans = [
            (number, *row)
            for number, pk in enumerate(gold.output[items].tolist())
            for row in self.rows[pk]
        ]
        item, side, start, end, severity, _, sure = zip(*spans, strict=True) if spans else [()] * 7
        table = SpanTable.of(len(items), item, start, end, severity, side)
        return items, table, list(sure)


def read_gold(campaign: Campaign, filters: Filters) -> tuple[Gold, tuple[Message, ...]]:
    """Return all judgments of outputs under the filters with their spans, and warnings."""
    columns, notes = read_judgments(campaign, general(filters).of(campaign))
    columns = columns.select(columns.is_target & (columns.output >= 0))
    place = {
        pair: n
        for n, pair in enumerate(
            zip(columns.annotator.tolist(), columns.item.tolist(), strict=True)
        )
    }
    scheme = campaign.judging.spans
    rows = ErrorSpan.objects.filter(
        judgment__is_current=True, judgment__assignment__annotator__campaign=campaign
    ).order_by()
    found = [
        (place[annotator, item], start, end, scheme.level(severity), side, category)
        for annotator, item, start, end, severity, side, category in rows.values_list(
            f"{ANNOTATOR}_id", f"{ITEM}_id", "start", "end", "severity", "side", "category"
        )
        if scheme and (annotator, item) in place
    ]
    item, start, end, severity, side, category = zip(*found, strict=True) if found else [()] * 6
    table = SpanTable.of(len(columns), item, start, end, severity, side)
    score = columns.score if campaign.judging.has_score else np.full(len(columns), np.nan)
    gold = Gold(
        columns.output,
        columns.annotator,
        columns.segment,
        columns.cluster,
        score,
        table,
        list(category),
    )
    return gold, notes


def agreed_gold(gold: Gold, k: int) -> Gold:
    """Return the outputs that k annotators or more judged, with the spans that k of them marked."""
    _, place, counts = np.unique(gold.output, return_inverse=True, return_counts=True)
    parts = []
    for n in sorted(set(counts.tolist())):
        if n < k:
            continue
        rows = np.flatnonzero(counts[place] == n)
        rows = rows[np.argsort(place[rows], kind="stable")].reshape(-1, n)
        people = [gold.table.taken(rows[:, column]) for column in range(n)]
        parts.append((rows, agreed_spans(people, k)))
    if not parts:
        return gold.taken(np.zeros(0, dtype=np.int64))
    first = np.concatenate([rows[:, 0] for rows, _ in parts])
    score = np.concatenate([gold.score[rows].mean(axis=1) for rows, _ in parts])
    return Gold(
        gold.output[first], np.full(len(first), -1), gold.segment[first], gold.unit[first], score,
        _stacked([table for _, table in parts]), [""] * sum(len(table) for _, table in parts),
    )  # fmt: skip


def _stacked(tables: Sequence[SpanTable]) -> SpanTable:
    shifts = np.cumsum([0, *(table.n_items for table in tables)])
    item = np.concatenate([t.item + s for t, s in zip(tables, shifts, strict=False)])
    names = ("start", "end", "side", "severity")
    columns = (np.concatenate([getattr(t, name) for t in tables]) for name in names)
    return SpanTable(int(shifts[-1]), item, *columns)


def read_detectors(campaign: Campaign) -> list[Detector]:
    """Return the metrics of the test set that have spans, in the registry's order."""
    signatures = latest_signatures(campaign.test_set)
    marking = find_with_spans(list(signatures.values()))
    systems = list(campaign.systems.all())
    return [
        _detector(signature, read_rows(signature, systems))
        for signature in signatures.values()
        if signature.pk in marking
    ]


def _detector(signature: MetricSignature, rows: Mapping[int, Sequence[Row]]) -> Detector:
    info = catalogue.get(signature.metric)
    return Detector(info.name, info.label, signature.signature, info.is_imported, rows)
