"""Convert scores that programs write without tables to one row per score."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from annotation.uploads.formats.base import Content, Import
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.objects import oriented
from annotation.uploads.tables.rows import Table
from metaeval.files.cells import parse_number, read_score
from metaeval.files.decoding import split_lines
from metaeval.files.names import column_of
from metaeval.messages import message

# What names the rows of a table; lists without them are scores in the order of lines.
KEYS = ("segment", "item", "system")
SYSTEM, METRIC, SCORE = "system", "metric", "score"
# The number of a system's line in a file without keys, from 0: a text where the file states it, and
# empty for scores of whole systems.
LINE = " line"
SEG, SYS, DOC, IN_DOMAIN = ".seg.score", ".sys.score", ".doc.score", ".domain.score"
# Documents by name, or by their number in a file without names, from 0; domains by name.
DOCUMENT, DOCUMENT_LINE, DOMAIN = "document", " place", "domain"
# `comet-score` prints a line a segment, and one for the system.
COMET = re.compile(r"(?P<system>[^\t]+)(?:\tSegment (?P<line>\d+))?\tscore: (?P<score>\S+)\s*")
OBJECTS = re.compile(r"\s*\[\s*\{")
Row = dict[str, Any]


def is_score_file(name: str, text: str) -> bool:
    """Return True for mt-metrics-eval's scores."""
    return name.endswith((SEG, SYS, DOC, IN_DOMAIN))


def is_printed(name: str, text: str) -> bool:
    """Return True for what `comet-score` prints."""
    first = text.partition("\n")[0].removesuffix("\r")
    return "\tscore: " in first and bool(COMET.fullmatch(first))


def is_lines(name: str, text: str) -> bool:
    """Return True if every line is a score."""
    first = text.partition("\n")[0].strip()
    return bool(first) and all(read_score(line) is not None for line in split_lines(text))


def is_arrays(name: str, text: str) -> bool:
    """Return True for JSON with lists of scores, which are no columns of a table."""
    # A list of objects is a table: it need not be read to see that.
    is_table = not name.endswith(".json") or OBJECTS.match(text)
    values = None if is_table else _values(text)
    if _lists_in(values) is None:
        return False
    rows = oriented(values) if isinstance(values, dict) else []
    return not (rows and any(column_of(field, rows[0]) for field in KEYS))


def _table(name: str, rows: Sequence[tuple[int, Row]]) -> Table:
    known = (SYSTEM, METRIC, LINE, DOCUMENT_LINE, DOMAIN, SCORE)
    columns = [column for column in known if column in rows[0][1]]
    return Table(name, columns, list(rows), {})


def read_score_files(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield lines of SYSTEM and SCORE, and of DOMAIN, SYSTEM and SCORE.

    A metric's name is that of the file without its ending.
    """
    for content in contents:
        yield _score_file(content.name, content.text, to.report)


def _score_file(name: str, text: str, report: Report) -> Table:
    level = next(each for each in (SEG, SYS, DOC, IN_DOMAIN) if name.endswith(each))
    metric = PurePath(name).name.removesuffix(level)
    expected = 3 if level == IN_DOMAIN else 2
    rows: list[tuple[int, Row]] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(split_lines(text), 1):
        cells = line.split()
        if len(cells) != expected:
            refusal = (
                message(
                    "scores.line-not-domain-system-and-score",
                    "A line must have a domain, a system and a score, but this one has {n} fields.",
                    n=len(cells),
                )
                if level == IN_DOMAIN
                else message(
                    "scores.line-not-system-and-score",
                    "A line must have a system and a score, but this one has {n} fields.",
                    n=len(cells),
                )
            )
            report.error(refusal, Place(name, number))
            continue
        *domain, system, score = cells
        seen[system] = place = seen.get(system, -1) + 1
        row: Row = {SYSTEM: system, METRIC: metric, SCORE: score}
        row[LINE] = place if level == SEG else ""
        if level == DOC:
            row[DOCUMENT_LINE] = place
        if domain:
            row[DOMAIN] = domain[0]
        rows.append((number, row))
    return _table(name, rows) if rows else Table(name)


def read_printed(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield what COMET prints; other lines are of its progress."""
    for content in contents:
        lines = enumerate(split_lines(content.text), 1)
        found = ((number, COMET.fullmatch(line)) for number, line in lines)
        rows = [
            (number, {SYSTEM: m["system"], LINE: m["line"] or "", SCORE: m["score"]})
            for number, m in found
            if m is not None
        ]
        yield _table(content.name, rows)


def read_lines(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield the scores of lines."""
    for content in contents:
        lines = enumerate(split_lines(content.text), 1)
        yield _table(content.name, [(number, {SCORE: line}) for number, line in lines])


def read_arrays(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield `[0.1, 0.2]`, `{"system": [0.1, 0.2]}`, or the list in an object with other values."""
    for content in contents:
        values = _values(content.text)
        if twice := getattr(values, "twice", ""):
            text = message("scores.key-twice", "The key “{key}” occurs twice.", key=twice)
            to.report.error(text, Place(content.name))
            continue
        rows = [
            (number, ({SYSTEM: key, METRIC: PurePath(content.name).stem} if key else {}) | row)
            for key, each in (_lists_in(values) or {}).items()
            for number, row in _of_list(each)
        ]
        yield _table(content.name, rows)


def _values(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return None


def _lists_in(values: Any) -> dict[str, list[Any]] | None:
    """Return lists of scores by system, an empty one for the only list; None for anything else."""
    if isinstance(values, list):
        return {"": values} if _is_array(values) else None
    if not isinstance(values, _Pairs):
        return None
    lists = {key: each for key, each in values.items() if _is_array(each)}
    others = values.keys() - lists.keys()
    if lists and (values.twice or not others):
        return lists
    if len(lists) == 1 and not any(isinstance(values[key], list | dict) for key in others):
        return {"": next(iter(lists.values()))}
    return None


class _Pairs(dict[str, Any]):
    """An object of JSON; `twice` is a key that it has twice: readers would take the last."""

    twice = ""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        if len(self) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            self.twice = next(key for key, n in counts.items() if n > 1)


def _is_array(value: Any) -> bool:
    """Return True for a list of scores: rows of a table are lists with words."""
    are_rows = isinstance(value, list) and any(
        isinstance(each, dict)
        or (isinstance(each, list) and any(parse_number(cell) is None for cell in each))
        for each in value
    )
    return isinstance(value, list) and bool(value) and not are_rows


def _of_list(values: Sequence[Any]) -> Iterator[tuple[int, Row]]:
    for number, value in enumerate(values):
        yield number + 1, {LINE: number, SCORE: value}
