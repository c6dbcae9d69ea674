"""Read score files of programs as tables with one row per score.

Layouts: score files of mt-metrics-eval, printed scores of COMET, one score per line as from BLEURT
and pymarian, and JSON arrays of numbers of one system or of several by name.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.rows import Table
from metaeval.files.cells import read_score
from metaeval.files.decoding import split_lines
from metaeval.messages import message
from metrics.imported.choices import LINE, METRIC, SCORE, SYSTEM

SEG, SYS = ".seg.score", ".sys.score"
# `comet-score` prints a line a segment, and one for the system.
COMET = re.compile(r"(?P<system>[^\t]+)(?:\tSegment (?P<line>\d+))?\tscore: (?P<score>\S+)\s*")
Row = dict[str, Any]


def read_layout(name: str, text: str, report: Report) -> Table | None:
    """Return the table in a file of one of these layouts; None for any other file."""
    if name.endswith((SEG, SYS)):
        return _score_file(name, text, report)
    if name.endswith(".json"):
        return _arrays(name, text, report)
    lines = split_lines(text)
    first = lines[0] if lines else ""
    if COMET.fullmatch(first):
        return _printed(name, lines)
    if first.strip() and all(read_score(line) is not None for line in lines):
        return _table(name, [(number, {SCORE: line}) for number, line in enumerate(lines, 1)])
    return None


def _table(name: str, rows: Sequence[tuple[int, Row]]) -> Table:
    columns = [column for column in (SYSTEM, METRIC, LINE, SCORE) if column in rows[0][1]]
    return Table(name, columns, list(rows), {})


def _score_file(name: str, text: str, report: Report) -> Table | None:
    """Read lines of SYSTEM and SCORE; a metric's name is that of the file without its ending."""
    is_whole = name.endswith(SYS)
    metric = PurePath(name).name.removesuffix(SYS if is_whole else SEG)
    rows: list[tuple[int, Row]] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(split_lines(text), 1):
        cells = line.split()
        if len(cells) != 2:
            refusal = message(
                "scores.line-not-system-and-score",
                "A line must have a system and a score, but this one has {n} fields.",
                n=len(cells),
            )
            report.error(refusal, Place(name, number))
            continue
        seen[cells[0]] = place = seen.get(cells[0], -1) + 1
        row = {SYSTEM: cells[0], METRIC: metric, LINE: "" if is_whole else place, SCORE: cells[1]}
        rows.append((number, row))
    return _table(name, rows) if rows else Table(name)


def _printed(name: str, lines: Sequence[str]) -> Table:
    """Read COMET's printed scores; skip its other lines."""
    found = ((number, COMET.fullmatch(line)) for number, line in enumerate(lines, 1))
    rows = [
        (number, {SYSTEM: m["system"], LINE: m["line"] or "", SCORE: m["score"]})
        for number, m in found
        if m is not None
    ]
    return _table(name, rows)


def _arrays(name: str, text: str, report: Report) -> Table | None:
    """Read `[0.1, 0.2]`, `{"system": [0.1, 0.2]}`, or an object whose `scores` are such a list."""
    try:
        values = json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return None
    if isinstance(values, list):
        return _table(name, list(_of_list(values))) if _is_array(values) else None
    if not isinstance(values, _Pairs):
        return None
    if twice := values.twice:
        report.error(
            message("scores.key-twice", "The key “{key}” occurs twice.", key=twice), Place(name)
        )
        return Table(name)  # An empty table: None would cause further errors.
    lists = {key: each for key, each in values.items() if _is_array(each)}
    others = values.keys() - lists.keys()
    if lists and len(lists) == len(values):
        rows = [
            (number, {SYSTEM: key, METRIC: PurePath(name).stem} | row)
            for key, each in lists.items()
            for number, row in _of_list(each)
        ]
        return _table(name, rows)
    if len(lists) == 1 and not any(isinstance(values[key], list | dict) for key in others):
        return _table(name, list(_of_list(next(iter(lists.values())))))
    return None


class _Pairs(dict[str, Any]):
    """A JSON object; `twice` is a repeated key, of which readers would use the last."""

    twice = ""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        keys = [key for key, _ in pairs]
        if len(self) < len(keys):
            self.twice = next(key for key in keys if keys.count(key) > 1)


def _is_array(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and not any(isinstance(v, dict) for v in value)


def _of_list(values: Sequence[Any]) -> Iterator[tuple[int, Row]]:
    for number, value in enumerate(values):
        yield number + 1, {LINE: number, SCORE: value}
