"""Batch results of Mechanical Turk: a row for each assignment.

Columns `Input.NAME` are the texts and ids of the requester, `Answer.NAME` what the worker answered.
One rating is the score; several are scales of their own. Times such as `Wed Jun 09 21:24:01 PDT
2021` have their zone. Source: “Results files” of Mechanical Turk's guide for requesters.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from annotation.uploads.formats.base import Content, Import, tables_of
from annotation.uploads.tables.rows import Table
from extensions.formats.readers.marks import made
from metaeval.files.cells import parse_number

INPUT, ANSWER, OWN_SCALE = "input.", "answer.", "scale_"
# The site shows times of its own place.
TIME = re.compile(r"\w{3} (\w{3} \d\d \d\d:\d\d:\d\d) (P[DS]T) (\d{4})", re.ASCII)
ZONES = {"PDT": "-0700", "PST": "-0800"}
TIMES = {"accepttime": "started_at", "submittime": "submitted_at"}


def is_export(table: Table) -> bool:
    """Return True for columns of inputs and of answers."""
    heads = [column.lower() for column in table.columns]
    return all(any(each.startswith(head) for each in heads) for head in (INPUT, ANSWER))


def read(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield tables under the names that the requester gave."""
    for table in tables_of(contents):
        answers = [c for c in table.columns if c.lower().startswith(ANSWER)]
        ratings = [c for c in answers if _is_rating(table, c)]
        several = ratings if len(ratings) > 1 else []
        names = {c: (OWN_SCALE if c in several else "") + _name(c) for c in table.columns}
        rows = [(line, {names[c]: _cell(c, row[c]) for c in row}) for line, row in table.rows]
        # A scale is known by the name of its column; other columns are named as in the file.
        others = {names[c]: title for c, title in table.titles.items() if c not in several}
        table.titles.update(others)
        yield made(table, rows, [] if several else [names[c] for c in ratings], to)


def _name(column: str) -> str:
    low = column.lower()
    for head in (INPUT, ANSWER):
        if low.startswith(head):
            return column[len(head) :]
    return TIMES.get(low, column)


def _is_rating(table: Table, column: str) -> bool:
    cells = [row[column] for _, row in table.rows if row.get(column) not in (None, "")]
    return bool(cells) and all(parse_number(cell) is not None for cell in cells)


def _cell(column: str, value: object) -> object:
    found = TIME.fullmatch(value) if column.lower() in TIMES and isinstance(value, str) else None
    if found is None:
        return value
    day, zone, year = found.groups()
    moment = f"{day} {year} {ZONES[zone]}"
    return datetime.strptime(moment, "%b %d %H:%M:%S %Y %z").isoformat()
