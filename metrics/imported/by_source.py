"""Texts beside scores: sources say segments, and outputs are compared with the stored ones."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

from annotation.models import Output, TestSet
from annotation.uploads.normalising import normalise
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.rows import Table
from metaeval.files.names import column_of
from metaeval.messages import message, plural

SEGMENT = "segment"


def in_order_of_sources(
    table: Table, parts: Collection[str], test_set: TestSet, report: Report
) -> Table:
    """Return a table of lists of all segments with their keys, by its sources if it has any.

    The lists differ in the cells of the columns `parts`. Segments with one source are those of its
    rows in order. A table in the order of the test set may have sources that are written in other
    ways, which are a warning; without any known source it stays as it is.
    """
    column = column_of("source", table.columns)
    if not column:
        return table
    stored = list(test_set.segments.order_by("position").values_list("key", "source"))
    known = _by_source(stored)
    texts = _texts(table, column)
    place = Counter[Hashable]()
    is_in_order, others = True, []
    for (line, row), text in zip(table.rows, texts, strict=True):
        own = tuple(str(row.get(part)) for part in parts)
        at, place[own] = place[own], place[own] + 1
        is_in_order &= text not in known or (at < len(stored) and stored[at][1] == text)
        others += [] if text in known else [line]
    if len(others) == len(texts) or (is_in_order and others):
        report.warn_of(
            len(others),
            "scores.sources-unclear",
            "The source of {n} row is not that of a segment, so rows were matched in order.",
            "The sources of {n} rows are not those of segments, so rows were matched in order.",
            Place(table.file, others[0], table.titles.get(column, column)),
        )
        return table
    found = with_segments(table, column, stored, report, parts)
    columns = [name for name in found.columns if name != column]
    return found.with_columns({name: name for name in columns})


def warn_of_other_outputs(
    cells: Iterable[tuple[int, int, str, Place]], test_set: TestSet, report: Report
) -> None:
    """Warn of outputs (system, segment, text, place) that differ from the stored ones."""
    rows = Output.objects.filter(system__test_set=test_set).order_by()
    stored = {
        (system, segment): hash(text)
        for system, segment, text in rows.values_list("system", "segment", "text").iterator()
    }
    others = [
        place
        for system, segment, text, place in cells
        if (known := stored.get((system, segment))) is not None
        and known != hash(normalise(text).text)
    ]
    report.warn_of(
        len(others),
        "scores.of-other-outputs",
        "{n} output differs from the stored one, so its score may be that of another text.",
        "{n} outputs differ from the stored ones, so their scores may be those of other texts.",
        others[0] if others else Place(),
    )


def with_segments(
    table: Table,
    column: str,
    stored: Sequence[tuple[str, str]],
    report: Report,
    parts: Collection[str] | None = None,
) -> Table:
    """Return a table with a column `segment`, the key of the segment with each row's source.

    `stored` has key and source of all segments. Without `parts` a source must be that of one
    segment. Other rows are errors.
    """
    known, texts = _by_source(stored), _texts(table, column)
    lists: list[Hashable] = [
        (text, *(str(row.get(part)) for part in parts or ()))
        for (_, row), text in zip(table.rows, texts, strict=True)
    ]
    n_rows, seen, rows = Counter(lists), Counter[Hashable](), []
    for (line, row), text, own in zip(table.rows, texts, lists, strict=True):
        keys = known.get(text, [])
        if len(keys) == 1 or (parts is not None and keys and len(keys) == n_rows[own]):
            rows.append((line, {**row, SEGMENT: keys[seen[own] if len(keys) > 1 else 0]}))
            seen[own] += 1
            continue
        refusal = plural(
            "spans.source-unclear",
            "{n} segment of the test set has this source. Add a column “segment”.",
            "{n} segments of the test set have this source. Add a column “segment”.",
            n=len(keys),
        )
        report.error(refusal, Place(table.file, line, table.titles.get(column, column)))
    note = message(
        "spans.by-source", "No column names the segments. Rows were matched by their sources."
    )
    report.note(note, table.head)
    return replace(table, columns=[*table.columns, SEGMENT], rows=rows)


def _texts(table: Table, column: str) -> list[str]:
    return [normalise(str(cell)).text for cell in table.column(column)]


def _by_source(stored: Sequence[tuple[str, str]]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, source in stored:
        found.setdefault(source, []).append(key)
    return found
