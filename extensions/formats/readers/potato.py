"""Potato's outputs: a row for each annotator and instance.

Version 1 writes `annotated_instances.jsonl` (`id`, `displayed_text`, `label_annotations`,
`span_annotations`, `behavioral_data`) in a folder for each annotator, and tables with columns
`SCHEME:::LABEL`. Version 2 exports `instance_id`, `user_id`, `labels` and `spans`, or columns
`SCHEME.LABEL` and `SCHEME._spans`, and keeps the answers of each annotator in `user_state.json`. A
label that was ticked is the answer; the value of a scale or a text is. Source: the code of Potato
1.2 and 2.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from annotation.uploads.formats.base import Content, Import, tables_of
from annotation.uploads.offsets import placed
from annotation.uploads.tables.rows import Row, Table
from extensions.formats.readers.marks import (
    UNPLACED,
    count_unread,
    graded,
    has_place,
    made,
    say_skipped,
    texts,
)
from metaeval.files.names import column_of

LABELS, MARKS = ("label_annotations.", "labels."), ("span_annotations", "spans")
TIME = re.compile(r"(?:(\d{1,9})d )?(?:(\d{1,9})h )?(?:(\d{1,9})m )?(\d{1,9})s")
READ = ("schema", "name", "title", "label", "annotation", "text", "span", "start", "end", "id",
        "annotation_id", "color", "value")  # fmt: skip
# Names of files that name no annotator.
OF_ALL = ("annotated_instances", "annotations")
NO_SCHEMES = ("behavioral_data.", "span_annotations.", "links.")
PAGE = ".html"
# What the state of an annotator has by instance.
STATE, MARKED = "instance_id_to_label_to_value", "instance_id_to_span_to_value"
TIMES, ORDER = "instance_id_to_behavioral_data", "instance_id_ordering"


def is_export(table: Table) -> bool:
    """Return True for answers by instance and scheme."""
    if "displayed_text" in table.columns or STATE in table.columns:
        return True
    is_keyed = {"instance_id", "user_id"} <= set(table.columns)
    marks = (row.get("spans") for _, row in table.rows)
    return is_keyed and (
        any("." in column for column in table.columns) or any(isinstance(m, dict) for m in marks)
    )


def read(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield a table with a column for each scheme."""
    for table in tables_of(contents):
        yield _read(_of_states(table, to) if STATE in table.columns else table, to)


def _of_states(table: Table, to: Import) -> Table:
    """Return a row for each instance of each annotator."""
    rows: list[tuple[int, Row]] = []
    counts: Counter[str] = Counter()
    for line, state in table.rows:
        count_unread(state, (STATE, MARKED, TIMES, "user_id", ORDER), counts)
        answers, marks, times = (_by_instance(state, name) for name in (STATE, MARKED, TIMES))
        # Times of instances without an answer.
        count_unread(times, (*answers, *marks), counts)
        for listed in (answers, marks):
            count_unread(listed, [name for name in listed if _pairs(listed[name])], counts)
        for instance in dict.fromkeys([*answers, *marks]):
            row: Row = {"instance_id": instance, "user_id": state.get("user_id")}
            for label, value in _pairs(answers.get(instance)):
                count_unread(label, ("schema", "name"), counts)
                row[f"labels.{label.get('schema')}.{label.get('name')}"] = value
            if MARKED in state:
                row["spans"] = [mark for mark, _ in _pairs(marks.get(instance))]
            took = times.get(instance)
            if isinstance(took, dict):
                count_unread(took, ("total_time_ms", "instance_id"), counts)
                row |= {"active_ms": spent} if (spent := took.get("total_time_ms")) else {}
            rows.append((line, row))
    say_skipped(counts, table, to.report)
    columns = list(dict.fromkeys(column for _, row in rows for column in row))
    return replace(table, columns=columns, rows=rows, titles={c: c for c in columns})


def _by_instance(state: Row, name: str) -> Row:
    found = state.get(name)
    return found if isinstance(found, dict) else {}


def _pairs(listed: Any) -> list[tuple[Row, Any]]:
    """Return labels or marks with their values: pairs of an object and a value."""
    pairs = listed if isinstance(listed, list) else []
    return [
        (each[0], each[1])
        for each in pairs
        if isinstance(each, list) and len(each) == 2 and isinstance(each[0], dict)
    ]


def _read(table: Table, to: Import) -> Table:
    counts: Counter[str] = Counter()
    schemes = {c: _scheme(c, table) for c in table.columns}
    named = {} if column_of("annotator", table.columns) else _annotator(table.file)
    rows: list[tuple[int, Row]] = []
    n_pages = 0
    for line, cells in table.rows:
        if str(cells.get("instance_id", cells.get("id"))).endswith(PAGE):
            n_pages += 1
            continue
        row, answers, marks = dict(named), dict[str, list[str]](), list[Any]()
        for column, cell in cells.items():
            scheme, label = schemes[column]
            if column in MARKS or label == "_spans":
                marks += _listed(cell, column)
            elif column == "behavioral_data.time_string":
                row |= _seconds(cell)
            elif column == "displayed_text":
                row["output"] = cell
            elif not scheme:
                row[column] = cell
            elif cell not in (None, "", False, "false", "False"):
                answers.setdefault(scheme, []).append(_answer(cell, label, scheme))
        row |= {scheme: ", ".join(found) for scheme, found in answers.items()}
        for path, mark in marks:
            _add(mark, path, row, counts)
        rows.append((line, row))
    if any("spans" in row for _, row in rows):
        for _, row in rows:
            row.setdefault("spans", [])
    to.report.warn_of(
        n_pages,
        "format.pages",
        "Skipped {n} answer to a page of the survey.",
        "Skipped {n} answers to pages of the survey.",
        table.head,
    )
    say_skipped(counts, table, to.report)
    return made(table, rows, (scheme for scheme, _ in schemes.values() if scheme), to)


def _scheme(column: str, table: Table) -> tuple[str, str]:
    """Return scheme and label of a column with answers, as the file writes them."""
    title = table.titles.get(column, column)
    for start in LABELS:
        if title.startswith(start):
            scheme, _, label = title[len(start) :].partition(".")
            return scheme, label
    scheme, mark, label = title.partition(":::")
    if not mark and not title.startswith(NO_SCHEMES):
        scheme, mark, label = title.partition(".")
    return (scheme, label) if mark else ("", "")


def _annotator(file: str) -> Row:
    """Return the annotator that the folder or the name of a file names, if any."""
    path = PurePath(file)
    name = path.parent.name or (path.stem if path.stem not in OF_ALL else "")
    return {"annotator": name} if name else {}


def _answer(cell: Any, label: str, scheme: str) -> str:
    """Return the label of what was ticked, and any other value as it is."""
    is_ticked = cell is True or str(cell) in ("true", "True", label, f"{scheme}:::{label}")
    return label if is_ticked else str(cell)


def _seconds(cell: Any) -> Row:
    """Read `Time spent: 0d 0h 1m 2s`."""
    found = TIME.search(cell) if isinstance(cell, str) else None
    if found is None:
        return {}
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return {"seconds": ((days * 24 + hours) * 60 + minutes) * 60 + seconds}


def _listed(cell: Any, path: str) -> list[tuple[str, Any]]:
    """Return the marks in a list, in the lists of schemes, or in JSON, with their paths."""
    if isinstance(cell, str):
        try:
            cell = json.loads(cell or "[]")
        except (ValueError, RecursionError):
            cell = [cell]
    if isinstance(cell, dict):
        return [each for name, own in cell.items() for each in _listed(own, f"{path}.{name}")]
    return [(f"{path}[{n}]", each) for n, each in enumerate(cell if isinstance(cell, list) else [])]


def _add(mark: Any, path: str, row: Row, counts: Counter[str]) -> None:
    values = mark if isinstance(mark, dict) else {}
    count_unread(values, READ, counts)
    words = values.get("text", values.get("span"))
    sides = {"target": row.get("output"), "source": row.get(column_of("source", row))}
    place = placed(sides, values.get("start"), values.get("end"), words)
    if not has_place(place):
        counts[UNPLACED] += 1
        return
    own = (values.get(key) for key in ("label", "name", "annotation"))
    labels = texts(next((name for name in own if name), None))
    row.setdefault("spans", []).append(place | graded(labels) | {"path": path})
