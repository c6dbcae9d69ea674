"""Read tables of imported spans: one span per row, lists as of WMT25, or JSON in a cell.

Offsets count code points. A row without a severity, or with ``no-error``, is an output without
errors.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.models import TestSet
from annotation.uploads.files import InputFile
from annotation.uploads.formats.base import SPANS, Import
from annotation.uploads.formats.registry import read_files
from annotation.uploads.normalising import Normalised, normalise
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.columns import (
    name_fields,
    numbering,
    propose,
    read_chosen,
    refuse_unknown,
    renamed,
    say_unused,
)
from annotation.uploads.tables.pairs import Pair, keep_pair
from annotation.uploads.tables.rows import Table
from annotation.uploads.tables.spans import NOT_SPANS, span_objects, with_marked
from core.text import whole
from metaeval.files import names
from metaeval.files.cells import is_missing, read_score
from metaeval.files.names import fields_of
from metaeval.messages import Message, message, truncated
from metrics.error_spans import LONGEST_SEVERITY, MISSING, SIDES, SOURCE, TARGET
from metrics.imported.by_source import with_segments
from metrics.imported.collecting import Collector

FIELDS = fields_of(names.SPANS)
CLEAN = frozenset({"", "no-error", "noerror", "no error", "none", "-1"})
WORDS = {"": TARGET, "tgt": TARGET, "output": TARGET, "src": SOURCE, "omission": MISSING} | {
    side: side for side in SIDES
}
# The offsets of a span that has words instead.
NOWHERE = -1
Cell = tuple[int, int]


@dataclass(frozen=True)
class Read:
    """A span as it was read; the end is as given.

    Without offsets it has its words alone, and without a severity these may be a whole output.
    """

    side: str
    start: int
    end: int
    severity: str
    category: str
    confidence: float | None
    place: Place
    words: str = ""

    @property
    def has_words_alone(self) -> bool:
        """Whether words take the place of offsets."""
        return self.start < 0


@dataclass
class Collected:
    """The content of files by system and segment, as primary keys: spans, and scores if any.

    `titles` are the columns of all tables as the files write them, `fields` their meanings,
    `samples` their first cells. `pairs` counts rows by the languages that they name.
    """

    spans: dict[Cell, list[Read]] = field(default_factory=dict)
    scores: dict[Cell, float] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    samples: dict[str, str] = field(default_factory=dict)
    pairs: Counter[Pair] = field(default_factory=Counter)


def collect(
    files: Sequence[InputFile], test_set: TestSet, columns: Mapping[str, str], collector: Collector
) -> Collected:
    """Read the rows of a test set in all files; errors go to the collector's report.

    Offsets refer to the texts of their rows if there are any; they move with our line endings.
    `columns` are the fields that a person chose for columns.
    """
    found = Collected()
    pair = test_set.source_language, test_set.target_language
    collector.report.chosen = {"": columns}
    tables = read_files(files, Import(SPANS, collector.report, pair))
    for table in tables:
        found.titles |= table.titles
        found.samples = table.samples | found.samples
    chosen = read_chosen(tables, FIELDS, collector.report)
    for table, own in zip(tables, chosen, strict=True):
        _table(table, test_set, own, collector, found)
    return found


def _table(
    table: Table, test_set: TestSet, own: Mapping[str, str], collector: Collector, found: Collected
) -> None:
    proposed = with_marked(table, propose(table.columns, FIELDS, own, table.constants), own)
    fields = {c: f for c, f in proposed.items() if f or c in own}
    if column := numbering(table, fields, collector.names.segments):
        fields[column] = "segment"
    found.fields |= {column: field for column, field in fields.items() if field}
    has = frozenset(fields.values()) - {""}
    system = "" if "system" in has else collector.system_in(table.file)
    places = ("span_start", "span_end") if "marked_text" not in has else ()
    marks = () if "spans" in has else (*places, "severity")
    known = has | {"system"} if system else has
    known |= {"segment"} if "source" in has else frozenset()
    if lacking := [name for name in ("system", "segment", *marks) if name not in known]:
        if not has:
            refuse_unknown(table, collector.report)
            return
        refusal = message(
            "spans.column-missing",
            "The column {column} is missing. The columns are {columns}.",
            column=lacking[0],
            columns=truncated(table.columns, 30),
        )
        collector.report.error(refusal, table.head)
        return
    say_unused(table, {c for c, field in fields.items() if field}, collector.report)
    name_fields(table, fields, collector.report)
    pair = test_set.source_language, test_set.target_language
    kept, pairs = keep_pair(renamed(table, fields), pair, collector.report, of_test_set=True)
    found.pairs += pairs
    if "segment" not in has:
        stored = list(test_set.segments.order_by("position").values_list("key", "source"))
        kept = with_segments(kept, "source", stored, collector.report)
    for line, row in kept.rows:
        values = {"system": system} | {name: row.get(name) for name in (*has, "segment")}
        _row(values, Place(table.file, line), collector, found)


def _row(values: dict[str, Any], place: Place, collector: Collector, found: Collected) -> None:
    ratio = _text(values, "length_ratio")
    system = collector.system(collector.at_length(_text(values, "system"), ratio, place), place)
    segment = collector.segment(_text(values, "segment"), place)
    if system is None or segment is None or not collector.has_output(system, segment, place):
        return
    own = found.spans.setdefault((system, segment), [])
    texts = {TARGET: values.get("output"), SOURCE: values.get("source")}
    moved = {side: normalise(text) for side, text in texts.items() if isinstance(text, str)}
    own.extend(_moved(span, moved) for span in _spans(values, place, collector.report))
    if "score" in values and not is_missing(values["score"]):
        score = read_score(values["score"])
        if score is None or found.scores.get((system, segment), score) != score:
            refusal = message(
                "spans.score-unusable",
                "“{score}” is not a number, or differs from the score of an earlier row.",
                score=str(values["score"]),
            )
            collector.report.error(refusal, place._replace(field="score"))
        else:
            found.scores[system, segment] = score


def _moved(span: Read, texts: Mapping[str, Normalised]) -> Read:
    """Return a span with its offsets in the text as it is stored."""
    if span.has_words_alone or (text := texts.get(span.side)) is None:
        return span
    return replace(span, start=text.place(span.start), end=text.place(span.end))


def _spans(values: dict[str, Any], place: Place, report: Report) -> Iterator[Read]:
    if values.get("spans") not in (None, ""):
        yield from _json(values["spans"], place, report)
    starts, ends, severities = (
        _text(values, name).split() for name in ("span_start", "span_end", "severity")
    )
    words = _text(values, "marked_text")
    is_marked = " ".join(starts).lower() not in CLEAN or words
    if " ".join(severities).lower() in CLEAN and (severities or not is_marked):
        return
    others = {name: values.get(name) for name in ("category", "side", "confidence")}
    if words and not starts and not ends:
        given = {"severity": " ".join(severities), "text": words}
        yield from filter(None, [_span(given | others, place, report)])
        return
    if not len(starts) == len(ends) == len(severities):
        refusal = message(
            "spans.lists-differ",
            "The row has {starts} starts, {ends} ends and {severities} severities. Their numbers "
            "must be equal.",
            starts=len(starts),
            ends=len(ends),
            severities=len(severities),
        )
        report.error(refusal, place._replace(field="span_start"))
        return
    for start, end, severity in zip(starts, ends, severities, strict=True):
        given = {"start": start, "end": end, "severity": severity}
        given["text"] = words if len(starts) == 1 else ""
        yield from filter(None, [_span(given | others, place, report)])


def _json(cell: Any, place: Place, report: Report) -> Iterator[Read]:
    listed = span_objects(cell)
    if listed is None:
        report.error(NOT_SPANS, place._replace(field="spans"))
    for each in listed or ():
        path = each.get("path")
        at = place._replace(field=path) if isinstance(path, str) else place
        yield from filter(None, [_span(each, at, report)])


def _span(given: dict[str, Any], place: Place, report: Report) -> Read | None:
    """Return one span, or None with the reason reported."""
    side = _text(given, "side").lower()
    severity = _text(given, "severity").lower()
    sure = read_score(given.get("confidence"))
    ends = [_text(given, name) for name in ("start", "end")]
    words = _text(given, "text")
    if "missing" in ends:
        side, ends = MISSING, ["0", "0"]
    start, end = (NOWHERE, NOWHERE) if words and ends == ["", ""] else map(whole, ends)
    wrong = None
    if side not in WORDS:
        wrong = message(
            "spans.unknown-side",
            "The side “{side}” is unknown. Use {sides}.",
            side=side[:40],
            sides=list(SIDES),
        )
    elif start is None or end is None:
        wrong = message(
            "spans.offsets-not-numbers",
            "Start and end must be whole numbers, not “{start}” and “{end}”.",
            start=ends[0][:20],
            end=ends[1][:20],
        )
    elif len(severity) > LONGEST_SEVERITY or not (severity or start == NOWHERE):
        wrong = wrong_severity(severity)
    elif sure is None or not (sure != sure or 0 <= sure <= 1):
        wrong = message(
            "spans.confidence-outside",
            "The confidence “{confidence}” is not between 0 and 1.",
            confidence=str(given.get("confidence")),
        )
    if wrong or start is None or end is None:
        if wrong:
            report.error(wrong, place)
        return None
    confidence = None if sure is None or sure != sure else sure
    category = _text(given, "category")[:80]
    return Read(WORDS[side], start, end, severity, category, confidence, place, words)


def wrong_severity(severity: str) -> Message:
    """Return the message that refuses a severity."""
    return message(
        "spans.severity-length",
        "The severity “{severity}” is empty or longer than 20 characters.",
        severity=severity[:40],
    )


def _text(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    return "" if value is None or isinstance(value, (dict, list)) else str(value).strip()
