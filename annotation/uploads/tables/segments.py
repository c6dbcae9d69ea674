"""Tables that list segments, each once or again with every output."""

from bisect import bisect
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count, repeat
from typing import Any

from annotation.uploads.drafts import Rows, SegmentColumns, SegmentDraft
from annotation.uploads.media.attachments import COLUMNS, read_attachments, use_file_as_source
from annotation.uploads.problems import Place, Report
from annotation.uploads.reading import Reading
from annotation.uploads.spellings import nfc
from annotation.uploads.tables.cells import name_of, names_of, texts_of
from annotation.uploads.tables.rows import Table, require_rows
from annotation.uploads.tables.spooled import Spooled
from metaeval.messages import Message, message


def is_segment_table(table: Table) -> bool:
    """Return True if the table lists segments, not only outputs."""
    return "source" in table.columns


def is_long(table: Table) -> bool:
    """Return True if every row has one output."""
    return "output" in table.columns


def read_segments(reading: Reading, table: Table) -> None:
    """Append the table's segments to the draft. Without a `segment` column rows are numbered.

    A table with outputs in rows names its segments again in every row.
    """
    report = reading.report
    require_rows(table, report)
    columns = {c: c[10:] or "A" for c in table.columns if c.split("_")[0] == "reference"}
    if list(columns.values()).count("A") > 1:
        text = message(
            "segments.reference-twice", "“reference” and “reference_A” are the same field."
        )
        report.error(text, table.head)
    reading.expect(len(table.rows) * (1 + len(columns)), Place(table.file))
    sources = texts_of(reading, table, "source")
    keys = row_keys(table, report)
    documents: Sequence[str | None] = [""] * len(sources)
    if "document" in table.columns:
        documents = names_of(table, "document", report)
    domains = [""] * len(sources)
    if "domain" in table.columns:
        domains = _domains(table, report)
    references = {name: _references(reading, table, column) for column, name in columns.items()}
    rows = _Segments(reading, table, repeats=is_long(table))
    has_attachments = any(column in COLUMNS for column in table.columns)
    spooled = (sources, *references.values())
    is_plain = not (rows.repeats or has_attachments) and all(
        isinstance(texts, Spooled) for texts in spooled
    )
    if is_plain and None not in keys and len(set(keys)) == len(keys):
        segments = SegmentColumns(keys, sources, documents, domains, references)  # type: ignore[arg-type]  # no cell is None
        reading.draft.segments = segments  # type: ignore[assignment]  # read alike
        rows.lines = table.lines
        rows.locate(columns)
        reading.draft.is_in_file_order = True
        return
    attached = table.rows if has_attachments else repeat((0, {}))
    texts = zip(*references.values(), strict=True) if references else repeat(())
    named = zip(keys, sources, documents, domains, texts, table.lines, attached, strict=False)
    for key, source, document, domain, own, line, (_, row) in named:
        if key is None or source is None:
            continue
        given = dict(zip(references, own, strict=True))
        if None in own:
            given = {name: text for name, text in given.items() if text is not None}
        segment = SegmentDraft(key, source, document or "", given, domain=domain)
        if has_attachments:
            segment.attachments = read_attachments(row, partial(_place, table, line), report)
            use_file_as_source(segment)
        rows.add(segment, line)
    rows.locate(columns)
    reading.draft.is_in_file_order = not is_long(table) or rows.is_in_order(keys)


def _domains(table: Table, report: Report) -> list[str]:
    """Return the domains; a segment need not have one."""
    return [
        name_of(row, "domain", _place(table, line, "domain"), report) or ""
        if row.get("domain") not in (None, "")
        else ""
        for line, row in table.rows
    ]


def _references(reading: Reading, table: Table, column: str) -> Sequence[str | None]:
    """Return the references of a column; empty cells are missing ones, unless all are empty."""
    texts = texts_of(reading, table, column, required=False)
    n_filled = sum(bool(text and text.strip()) for text in texts)
    if n_filled in (0, len(texts)):
        return texts
    return [text if text and text.strip() else None for text in texts]


def _place(table: Table, line: int, column: str) -> Place:
    return Place(table.file, line, column)


def _other_source(**known: Any) -> Message:
    return message(
        "segments.source", "Segment “{segment}” has another source in row {row:d}.", **known
    )


def _other_document(**known: Any) -> Message:
    return message(
        "segments.document", "Segment “{segment}” has another document in row {row:d}.", **known
    )


def _other_domain(**known: Any) -> Message:
    return message(
        "segments.domain", "Segment “{segment}” has another domain in row {row:d}.", **known
    )


def _other_reference(**known: Any) -> Message:
    return message(
        "segments.reference", "Segment “{segment}” has another reference in row {row:d}.", **known
    )


def _other_attachments(**known: Any) -> Message:
    return message(
        "segments.attachments",
        "Segment “{segment}” has another file or other notes in row {row:d}.",
        **known,
    )


# Attribute of a segment -> column, and the message where rows of one segment differ in it.
DIFFERENCES: dict[str, tuple[str, Callable[..., Message]]] = {
    "source": ("source", _other_source),
    "document": ("document", _other_document),
    "domain": ("domain", _other_domain),
    "references": ("reference", _other_reference),
    "attachments": ("media", _other_attachments),
}


class _Segments:
    """The segments of a table, each once."""

    def __init__(self, reading: Reading, table: Table, *, repeats: bool) -> None:
        self.reading, self.table, self.repeats = reading, table, repeats
        self.lines: Any = []
        self.known: dict[str, int] = {}

    def add(self, segment: SegmentDraft, line: int) -> None:
        """Append a segment; where rows repeat them, compare it with the one of its key."""
        segments = self.reading.draft.segments
        if self.repeats:
            number = self.known.setdefault(nfc(segment.key), len(segments))
            if number < len(segments):
                self._compare(segments[number], segment, line)
                return
        self.lines.append(line)
        segments.append(segment)

    def is_in_order(self, keys: Sequence[str | None]) -> bool:
        """Return True if every system has its segments in the order of their first rows."""
        last: dict[str, int] = {}
        for key, name in zip(keys, self.table.column("system"), strict=True):
            position, system = self.known.get(nfc(key or ""), -1), str(name)
            if position < last.get(system, -1):
                return False
            last[system] = position
        return True

    def _compare(self, first: SegmentDraft, again: SegmentDraft, line: int) -> None:
        row = self.lines[self.known[nfc(first.key)]]
        for kind, (column, refusal) in DIFFERENCES.items():
            if getattr(first, kind) != getattr(again, kind):
                place = Place(self.table.file, line, column)
                self.reading.report.error(refusal(segment=first.key, row=row), place)

    def locate(self, references: dict[str, str]) -> None:
        """Record where the texts were read."""
        draft, file = self.reading.draft, self.table.file
        kinds = {"key": "segment"} | {kind: kind for kind in ("source", "document", "domain")}
        kinds |= {column: column for column in COLUMNS if column in self.table.columns}
        for kind, column in kinds.items():
            draft.read_from((kind,), Rows.of(file, column, count(), self.lines))
        for column, name in references.items():
            draft.read_from(("reference", name), Rows.of(file, column, count(), self.lines))


def row_keys(table: Table, report: Report) -> list[str | None]:
    """Return the segment's key of every row.

    Without a `segment` column rows are numbered; where rows name several systems, so are the
    different sources of each document.
    """
    if "segment" in table.columns:
        return names_of(table, "segment", report)
    if not (is_long(table) and "system" in table.columns):
        # Skipped rows keep their numbers: other files are matched with these.
        return [str(n + bisect(table.skipped, line)) for n, line in enumerate(table.lines, 1)]
    numbers: dict[tuple[Any, Any], int] = {}
    rows = zip(table.column("document"), table.column("source"), strict=True)
    return [str(numbers.setdefault((str(d), str(s)), len(numbers) + 1)) for d, s in rows]
