"""List the errors that a metric finds, by kind, its worst misses and most certain false alarms."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.filters import Filters
from annotation.filters.chosen import read_judgments
from annotation.models import Campaign, ErrorSpan, Output
from dashboards.panel.choice import general
from metaeval.arrays import FloatArray, IntArray
from metaeval.messages import Message, message
from metaeval.spans import SpanTable, agreed_spans
from metaeval.spans.coverage import covered
from metaeval.spans.span_table import SEVERITIES, SIDES
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


# Upper ends of lengths in characters.
LENGTHS = {5: "1 to 5 characters", 20: "6 to 20 characters", 60: "21 to 60 characters"}
LONGER = "more than 60 characters"
MOST_MISSED, MOST_ALARMS = 8, 4
# Further categories are one row.
MOST_CATEGORIES = 15
MISSED, ALARM = "missed", "false alarm"
KINDS = {
    MISSED: message("spans.missed", "missed error"),
    ALARM: message("spans.false-alarm", "false alarm"),
}
DIMENSIONS = {
    "severity": message("spans.severity", "severity"),
    "category": message("spans.category", "category"),
    "length": message("spans.length", "length"),
    "system": message("spans.system", "system"),
}
NO_CATEGORY, OTHERS = "none", "others"
SEVERITY_LABELS = {
    "minor": message("spans.minor", "minor"),
    "major": message("spans.major", "major"),
    "critical": message("spans.critical", "critical"),
}
# Labels of values that are not names.
LABELS: dict[str, dict[str, Message]] = {
    "severity": SEVERITY_LABELS,
    "category": {
        NO_CATEGORY: message("spans.no-category", "none"),
        OTHERS: message("spans.other-categories", "others"),
    },
    "length": {
        LENGTHS[5]: message("spans.up-to-5", "1 to 5 characters"),
        LENGTHS[20]: message("spans.up-to-20", "6 to 20 characters"),
        LENGTHS[60]: message("spans.up-to-60", "21 to 60 characters"),
        LONGER: message("spans.longer", "more than 60 characters"),
    },
}
Place = tuple[int, int, str]


@dataclass(frozen=True)
class Found:
    """Errors of one kind: the metric marked a character of a `share` of the `n` errors.

    `characters` is the marked share of their characters. `value` is a key or a name.
    """

    detector: str
    dimension: str
    value: str
    n: int
    share: float
    characters: float

    @property
    def label(self) -> Message | str:
        """The label of the value."""
        return LABELS.get(self.dimension, {}).get(self.value, self.value)


@dataclass(frozen=True)
class Missed:
    """An error of annotators that a metric did not mark, or a mark where no annotator saw an error.

    `start` and `end` are those of this span. `people` and `metric` are all spans of the output in
    the judgment and by the metric, as start, end and severity.
    """

    detector: str
    kind: str
    output: int
    system: str
    segment: str
    severity: str
    category: str
    start: int
    end: int
    text: str
    people: Sequence[Place]
    metric: Sequence[Place]

    @property
    def kind_label(self) -> Message:
        """The name of the kind."""
        return KINDS[self.kind]

    @property
    def severity_label(self) -> Message | str:
        """The name of the severity."""
        return SEVERITY_LABELS.get(self.severity, self.severity)


def found_rows(
    campaign: Campaign, gold: Gold, detectors: Sequence[Detector], sides: Sequence[str]
) -> list[Found]:
    """Return the shares found by severity, category, length and system."""
    names = _systems(campaign, gold)
    rows: list[Found] = []
    for each in detectors:
        items, table, _ = each.on(gold)
        own = gold.taken(items)
        usable = own.table.usable(sides)
        marks, by = own.table.where(usable), table.where(table.usable(sides))
        hit, long = covered(marks, by), marks.end - marks.start
        categories = [own.categories[row] or NO_CATEGORY for row in np.flatnonzero(usable)]
        kinds = {
            "severity": [SEVERITIES[code] for code in marks.severity],
            "category": _common(categories),
            "length": [_length(n) for n in long.tolist()],
            "system": [names[pk] for pk in own.output[marks.item].tolist()],
        }
        for dimension in DIMENSIONS:
            rows += _shares(each.key, dimension, kinds[dimension], hit, long)
    return rows


def _shares(
    detector: str, dimension: str, values: Sequence[str], hit: IntArray, long: IntArray
) -> Iterator[Found]:
    array = np.array(values)
    order = {"severity": [*SEVERITIES], "length": [*LENGTHS.values(), LONGER]}
    for value in order.get(dimension, sorted(set(values))):
        rows = array == value
        if rows.any():
            share = float((hit[rows] > 0).mean())
            characters = float(hit[rows].sum() / long[rows].sum())
            yield Found(detector, dimension, value, int(rows.sum()), share, characters)


def _common(categories: Sequence[str]) -> list[str]:
    common = {name for name, _ in Counter(categories).most_common(MOST_CATEGORIES)}
    return [name if name in common else OTHERS for name in categories]


def _length(n: int) -> str:
    return next((label for end, label in LENGTHS.items() if n <= end), LONGER)


def _systems(campaign: Campaign, gold: Gold) -> dict[int, str]:
    rows = Output.objects.filter(pk__in=np.unique(gold.output).tolist())
    return dict(rows.values_list("pk", "system__name"))


def missed_rows(campaign: Campaign, gold: Gold, detectors: Sequence[Detector]) -> list[Missed]:
    """Return the worst misses and most certain false alarms of each metric, in outputs."""
    chosen = [row for each in detectors for row in _missed(gold, each)]
    wanted = Output.objects.filter(pk__in={int(gold.output[item]) for _, _, item, *_ in chosen})
    outputs = {row.pk: row for row in wanted.select_related("system", "segment")}
    rows = []
    for detector, kind, item, place, severity, category in chosen:
        output = outputs[int(gold.output[item])]
        length = len(output.text)
        rows.append(
            Missed(
                detector.key, kind, output.pk, output.system.name, output.segment.key, severity,
                category, *place, output.text, _places(gold.table, item, length),
                [(row[1], min(row[2], length), row[3]) for row in detector.rows[output.pk]
                 if row[0] == SIDES[0] and row[2] > row[1]],
            )
        )  # fmt: skip
    return rows


Chosen = tuple[Detector, str, int, tuple[int, int], str, str]


def _missed(gold: Gold, detector: Detector) -> list[Chosen]:
    items, table, sure = detector.on(gold)
    own = gold.taken(items)
    marks, by = (each.where(each.usable(SIDES[:1])) for each in (own.table, table))
    categories = [own.categories[row] for row in np.flatnonzero(own.table.usable(SIDES[:1]))]
    left = np.flatnonzero(covered(marks, by) == 0)
    worst = left[np.lexsort((marks.start[left] - marks.end[left], -marks.severity[left]))]
    found: list[Chosen] = [
        (detector, MISSED, int(items[marks.item[row]]), _span(marks, row),
         SEVERITIES[marks.severity[row]], categories[row])
        for row in worst[:MOST_MISSED].tolist()
    ]  # fmt: skip
    certain = np.array([value or 0.0 for value in sure])[table.usable(SIDES[:1])]
    alarms = np.flatnonzero(_by_nobody(own, by))
    surest = alarms[np.lexsort((-by.severity[alarms], -certain[alarms]))]
    seen: set[int] = set()
    for row in surest.tolist():
        item = int(items[by.item[row]])
        output = int(gold.output[item])
        if output in seen or len(seen) == MOST_ALARMS:
            continue
        seen.add(output)
        severity = SEVERITIES[by.severity[row]]
        found.append((detector, ALARM, item, _span(by, row), severity, ""))
    return found


def _by_nobody(own: Gold, by: SpanTable) -> IntArray:
    """Return which of a metric's spans overlap no span of any annotator of the output."""
    outputs, place = np.unique(own.output, return_inverse=True)
    marks = own.table.where(own.table.usable(SIDES[:1]))

    def of_outputs(table: SpanTable) -> SpanTable:
        columns = (table.start, table.end, table.side, table.severity)
        return SpanTable(len(outputs), place[table.item], *columns)

    return np.asarray(covered(of_outputs(by), of_outputs(marks)) == 0)


def _span(table: SpanTable, row: int) -> tuple[int, int]:
    return int(table.start[row]), int(table.end[row])


def _places(table: SpanTable, item: int, length: int) -> list[Place]:
    rows = np.flatnonzero((table.item == item) & table.usable(SIDES[:1]))
    return [
        (int(table.start[r]), min(int(table.end[r]), length), SEVERITIES[table.severity[r]])
        for r in rows
    ]
