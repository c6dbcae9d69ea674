"""Scores that Appraise exports, without a header, as a table.

The itemID of Appraise's scores is the segment in plain tasks, and counts within tasks elsewhere.
"""

import csv
from collections.abc import Iterator, Sequence

from annotation.uploads.formats.base import Content, Import
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.rows import Table
from core.text import restore
from metaeval.files.cells import read_score
from metaeval.files.grids import GridError, quoted_lines
from metaeval.messages import message, plural

PLAIN = ("username", "targetID", "itemID", "itemType", "src", "tgt", "score", "start", "end")
DOCUMENT = (*PLAIN[:7], "documentID", "isCompleteDocument", *PLAIN[7:])
SPANS = (*DOCUMENT[:9], "mqm", *PLAIN[7:])
LAYOUTS = {len(columns): columns for columns in (PLAIN, DOCUMENT, SPANS)}
TYPES = ("TGT", "BAD", "REF", "CHK")
# What the columns are as a table of judgments.
FIELDS = {
    "username": "annotator", "targetID": "system", "itemID": "item", "itemType": "kind",
    "src": "source_language", "tgt": "target_language", "documentID": "document",
    "isCompleteDocument": "level", "mqm": "spans", "start": "started_at", "end": "submitted_at",
}  # fmt: skip
# Characters of a row that is read to see whether it is one of Appraise.
LONGEST = 50_000
Row = dict[str, str]


def is_scores(name: str, text: str) -> bool:
    """Return True for scores of Appraise, by the types of items and the numbers in the first row.

    >>> is_scores("s.csv", "u1,A,7,TGT,eng,deu,70,1000.5,1010.5")
    True
    """
    line = text.lstrip()[:LONGEST].partition("\n")[0]
    first = next(csv.reader([line]), []) if len(line) < LONGEST else []
    named = dict(zip(LAYOUTS.get(len(first), ()), first, strict=False))
    if not named or not text.strip():
        return False
    numbers = (named["score"], named["start"], named["end"])
    return tuple(named.values()) == tuple(named) or (
        named["itemType"] in TYPES and all(read_score(each) is not None for each in numbers)
    )


def score_rows(name: str, text: str, report: Report) -> Iterator[tuple[int, Row]]:
    """Yield line number and cells of every row that is as long as it should be."""
    width = 0
    try:
        for number, cells in quoted_lines(text):
            if not cells or (not width and cells[0].strip().lower() == "username"):
                continue
            width = width or len(cells)
            if len(cells) not in LAYOUTS:
                refusal = plural(
                    "appraise.cells",
                    "The row has {n} cell. Rows of Appraise have 9, 11 or 12.",
                    "The row has {n} cells. Rows of Appraise have 9, 11 or 12.",
                    n=len(cells),
                )
                report.error(refusal, Place(name, number))
            elif len(cells) != width:
                refusal = message(
                    "appraise.other-width",
                    "The row has {n} cells, but the first row has {width}.",
                    n=len(cells),
                    width=width,
                )
                report.error(refusal, Place(name, number))
            else:
                plain = [restore(cell.strip()) for cell in cells]
                yield number, dict(zip(LAYOUTS[width], plain, strict=True))
    except GridError as error:
        report.error(error.message, Place(name, error.row))


def read_scores(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield scores with names of columns; start times of 0 are unknown."""
    for content in contents:
        rows = list(score_rows(content.name, content.text, to.report))
        to.report.saw(content.name, rows=len(rows))
        columns = list(rows[0][1]) if rows else list(PLAIN)
        fields = {column: FIELDS.get(column, column) for column in columns}
        if "documentID" not in columns:
            fields["itemID"] = "segment"
        named = [(n, {fields[column]: cell for column, cell in row.items()}) for n, row in rows]
        titles = {field: column for column, field in fields.items()}
        yield Table(content.name, list(titles), list(named), titles)
