"""Convert errors in numbered columns, and tags of words, to error spans.

`Error1_Type` and `Error1_Severity` are an error, and so are `severity_1` and `category_1`. Tags are
`OK` or `BAD` for each word of a text, as of WMT's quality estimation: words that follow each other
and are BAD are one error. There may be tags of the gaps between words, too, of which none is
stored.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice
from typing import Any

from annotation.uploads.formats.base import JUDGMENTS, Content, Import, tables_of
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.rows import Table
from annotation.uploads.tables.spans import OTHERS
from metaeval.files.cells import is_missing
from metaeval.files.names import NAMES, column_of, is_called, plain
from metaeval.messages import message

SPANS = "spans"
# `Error_1_type`, `severity 2`.
INNER = re.compile(r"(?:error|err|issue|mistake|span)[\W_]*(?P<n>\d{1,2})[\W_]*(?P<key>\D+)", re.I)
LAST = re.compile(r"(?P<key>\D+?)[\W_]*(?P<n>\d{1,2})")
KEYS = OTHERS | {plain(name): "category" for name in ("type", *NAMES["category"])}
KEYS |= {plain(name): "severity" for name in NAMES["severity"]}
PLACED = ("start", "end", "text")
# What is written where there is no error.
NO_ERROR = ("", "none", "no error", "default", "ok", "nil")
BAD = "BAD"
TAGS = re.compile(r"(?:OK|BAD)(?:\s+(?:OK|BAD))*")
LOOKED_AT = 50


def _numbered(table: Table) -> dict[str, tuple[str, str]]:
    """Return the number and the key of the columns of errors; none without severities."""
    found = {}
    for column in table.columns:
        title = table.titles.get(column, column).strip()
        match = INNER.fullmatch(title) or LAST.fullmatch(title)
        if match and (key := KEYS.get(plain(match["key"]), "")):
            found[column] = (match["n"], key)
    return found if any(key == "severity" for _, key in found.values()) else {}


def has_numbered(table: Table) -> bool:
    """Return True for a table with the severity of an error in a numbered column."""
    return bool(_numbered(table))


def read_numbered(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield tables with a list of errors for each row."""
    for table in tables_of(contents):
        named, n_unplaced, rows = _numbered(table), 0, []
        for line, row in table.rows:
            errors: dict[str, dict[str, Any]] = defaultdict(dict)
            for column, (number, key) in named.items():
                if not _is_none(cell := row.get(column)):
                    errors[number][key] = cell
            for each in errors.values():
                if to.door is JUDGMENTS and not each.keys() & {*PLACED}:
                    each["side"] = "none"
                    n_unplaced += 1
            others = {c: cell for c, cell in row.items() if c not in named}
            rows.append((line, others | {SPANS: [*errors.values()]}))
        to.report.warn_of(
            n_unplaced,
            "format.errors-without-place",
            "{n} error has no place in the text: it marks the whole output.",
            "{n} errors have no place in the text: they mark the whole output.",
            table.head,
        )
        yield _with_spans(table, rows, named)


def _is_none(cell: Any) -> bool:
    return is_missing(cell) or (isinstance(cell, str) and is_called(cell, NO_ERROR))


def _with_spans(
    table: Table, rows: list[tuple[int, dict[str, Any]]], used: Mapping[str, Any]
) -> Table:
    columns = [SPANS, *(column for column in table.columns if column not in used)]
    titles = {column: table.titles.get(column, column) for column in columns}
    return replace(table, columns=columns, rows=rows, titles=titles)


def _tags(cell: Any) -> list[str] | None:
    """Return the tags in a cell; None where it has anything else."""
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            cell = json.loads(cell.replace("'", '"'))
        except (ValueError, RecursionError):
            return None
    words = cell if isinstance(cell, list) else str(cell).split()
    are_tags = all(isinstance(word, str) for word in words) and TAGS.fullmatch(" ".join(words))
    return words if are_tags else None


def _tagged(table: Table) -> dict[str, str]:
    """Return the columns of tags, with the fields of the texts that these are of."""
    found = {}
    for column in table.columns:
        cells = [c for c in islice(table.column(column), LOOKED_AT) if c not in (None, "", [])]
        tags = [_tags(cell) for cell in cells]
        if cells and None not in tags and any(len(each or ()) > 1 for each in tags):
            is_source = re.search("src|source", column, re.I)
            found[column] = "source" if is_source else "output"
    return found


def has_tags(table: Table) -> bool:
    """Return True for a table with a tag for each word."""
    return bool(_tagged(table))


def read_tags(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield tables with the BAD words of each row as errors, whose severity is not stated."""
    report = to.report
    for table in tables_of(contents):
        found, rows, gaps = _tagged(table), [], Counter[str]()
        texts = {column: column_of(field, table.columns) for column, field in found.items()}
        if column := next((column for column, text in texts.items() if not text), ""):
            _ask_for_texts(Place(table.file, None, column), report)
            continue
        for line, row in table.rows:
            spans: list[dict[str, Any]] = []
            for column, field in found.items():
                place = Place(table.file, line, column)
                text, tags = str(row.get(texts[column]) or ""), _tags(row.get(column) or [])
                spans += _bad(text, tags or [], place, gaps, report) if row.get(column) else []
                spans = [{"side": field if field == "source" else "target", **s} for s in spans]
            if to.door is not JUDGMENTS:
                spans = [{**span, "severity": BAD.lower()} for span in spans]
            rows.append((line, {c: v for c, v in row.items() if c not in found} | {SPANS: spans}))
        report.warn_of(
            gaps[BAD],
            "format.bad-gaps",
            "Skipped {n} tag BAD of a gap between words: words are missing there.",
            "Skipped {n} tags BAD of gaps between words: words are missing there.",
            table.head,
        )
        yield _with_spans(table, rows, found)


def _bad(
    text: str, tags: Sequence[str], place: Place, gaps: Counter[str], report: Report
) -> list[dict[str, Any]]:
    """Return the runs of BAD words; tags may be of words, of words and the end, or of gaps, too."""
    words = [(match.start(), match.end()) for match in re.finditer(r"\S+", text)]
    n = len(words)
    steps = {n: slice(0, n), n + 1: slice(0, n), 2 * n + 1: slice(1, None, 2)}
    if len(tags) not in steps:
        refusal = message(
            "format.tags-unequal",
            "There are {tags} tags for {words} words. Tags are those of words, or of words and of "
            "the gaps around them.",
            tags=len(tags),
            words=n,
        )
        report.error(refusal, place)
        return []
    own = tags[steps[len(tags)]]
    gaps.update(tags)
    gaps.subtract(own)
    runs = groupby(zip(own, words, strict=True), key=lambda pair: pair[0])
    bad = [[at for _, at in run] for tag, run in runs if tag == BAD]
    return [{"start": run[0][0], "end": run[-1][1]} for run in bad]


def are_tags(name: str, text: str) -> bool:
    """Return True for a text that has tags alone."""
    lines = [line.strip() for line in islice(text.split("\n"), LOOKED_AT) if line.strip()]
    return len(lines) > 1 and all(map(TAGS.fullmatch, lines)) and any(" " in each for each in lines)


def refuse_tags(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Ask for the texts of tags that are alone in a file."""
    for content in contents:
        _ask_for_texts(Place(content.name), to.report)
    yield from ()


def _ask_for_texts(place: Place, report: Report) -> None:
    text = message(
        "format.tags-alone",
        "These are tags of words without the words. Import a table that has the texts (columns "
        "“source” and “output”) beside the tags (“source_tags”, “tags”), one output per row.",
    )
    report.error(text, place)
