"""Split documents in rows, as WMT has published them since 2025, into a segment per paragraph.

Source, references and outputs of a document have the same number of paragraphs, separated by blank
lines; otherwise the document is one segment. `refs` has the references by name. Outputs alone are
split by their own paragraphs, for a test set that is stored. Scores by metric and paragraph, in a
file for each system (`metric_scores` of WMT25), have the same keys.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from annotation.uploads.formats.base import Content, Import, tables_of
from annotation.uploads.problems import Report
from annotation.uploads.tables.nested import with_references
from annotation.uploads.tables.pairs import FIELDS, PAIR, languages_of
from annotation.uploads.tables.rows import Table
from metaeval.files.names import column_of
from metaeval.messages import plural, truncated

BLANK = re.compile(r"\r?\n[ \t]*\r?\n\s*")
SCORES, DOCUMENT = "metric_scores.", ("language_pair", "domain", "document_id")
Row = dict[str, Any]


def is_wmt(table: Table) -> bool:
    """Return True if ids name the languages, and no column numbers segments."""
    is_keyed = "doc_id" in table.columns and not column_of("segment", table.columns)
    return is_keyed and bool(table.rows) and all(languages_of(_id(row)) for _, row in table.rows)


def read(contents: Sequence[Content], to: Import) -> list[Table]:
    """Return the tables with a row for each paragraph."""
    wmt = [with_references(table) for table in tables_of(contents)]
    texts = {id(table): _texts(table) for table in wmt}
    counts: dict[str, set[int]] = {}
    for table in wmt:
        for _, row in table.rows:
            for column in texts[id(table)]:
                if isinstance(cell := row.get(column), str):
                    counts.setdefault(_id(row), set()).add(len(_parts(cell)))
    whole = {key for key, found in counts.items() if len(found) > 1}
    with_source = [table for table in wmt if column_of("source", table.columns)]
    sources = {_id(row) for table in with_source or wmt for _, row in table.rows}
    if whole & sources:
        keys = sorted(whole & sources)
        text = plural(
            "paragraphs.unequal",
            "{n} document was not split, because its texts have different numbers of paragraphs: "
            "{documents}.",
            "{n} documents were not split, because their texts have different numbers of "
            "paragraphs: {documents}.",
            n=len(keys),
            documents=truncated(keys),
        )
        to.report.warn(text)
    return [_split(table, texts[id(table)], whole, sources, to.report) for table in wmt]


def has_scores(table: Table) -> bool:
    """Return True for scores of the paragraphs of a document by metric."""
    return {*DOCUMENT} <= set(table.columns) and any(c.startswith(SCORES) for c in table.columns)


def read_scores(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield a row for each score of a paragraph; the file is called as its system."""
    for table in tables_of(contents):
        metrics = [column for column in table.columns if column.startswith(SCORES)]
        rows: list[tuple[int, Row]] = []
        for line, row in table.rows:
            key = "_#_".join(str(row.get(name)) for name in DOCUMENT)
            for column in metrics:
                given = row.get(column)
                scores = given if isinstance(given, list) else [given]
                common = {"system": PurePath(table.file).stem, "metric": column[len(SCORES) :]}
                rows += [
                    (line, {"segment": _part(key, n, len(scores)), **common, "score": score})
                    for n, score in enumerate(scores, 1)
                    if score is not None
                ]
        columns = ["segment", "system", "metric", "score"]
        yield replace(table, columns=columns, rows=rows, titles={c: c for c in columns})


def _part(key: str, place: int, number: int) -> str:
    """Return the key of a paragraph."""
    return key if number == 1 else f"{key}:{place}"


def _id(row: Row) -> str:
    return str(row.get("doc_id"))


def _texts(table: Table) -> list[str]:
    columns = [column_of(field, table.columns) for field in ("source", "output")]
    columns += [c for c in table.columns if c.startswith("reference_")]
    return [column for column in columns if column]


def _parts(text: str) -> list[str]:
    return [part for part in BLANK.split(text.strip()) if part]


def _split(
    table: Table, texts: Iterable[str], whole: set[str], sources: set[str], report: Report
) -> Table:
    rows: list[tuple[int, Row]] = []
    n_others = 0
    is_source = bool(column_of("source", table.columns))
    added = [] if is_source else ["system"]
    added += [] if any(column_of(field, table.columns) for field in FIELDS) else [PAIR]
    stem = PurePath(table.file).stem
    for line, row in table.rows:
        key = _id(row)
        if key not in sources:
            n_others += 1
            continue
        parts = {c: [row[c]] if key in whole else _parts(row[c]) for c in texts if row.get(c)}
        number = max(map(len, parts.values()), default=0)
        for place in range(number):
            cut = {column: each[place] for column, each in parts.items()}
            name = _part(key, place + 1, number)
            values = {"system": stem, PAIR: "-".join(languages_of(key))}
            values = {column: values[column] for column in added}
            rows.append((line, values | row | cut | {"segment": name}))
    report.warn_of(
        n_others,
        "paragraphs.no-source",
        "Skipped {n} row of a document without a source in these files.",
        "Skipped {n} rows of documents without a source in these files.",
        table.head,
    )
    columns = ["segment", *table.columns, *added]
    titles = {"segment": "segment"} | table.titles | {column: column for column in added}
    return replace(table, columns=list(dict.fromkeys(columns)), rows=rows, titles=titles)
