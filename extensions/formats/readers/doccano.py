"""doccano's exports: JSON lines with `text`, and the labels of the text or of parts of it.

Labels are `[start, end, label]` in `label` or `labels`, objects with `start_offset` and
`end_offset` in `entities` or (before version 1) `annotations`, or names of classes. Without a
shared project, there is a file for each annotator, `NAME.jsonl`. Source: doccano 1.8's export and
doccano-transformer.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from annotation.uploads.formats.base import Content, Import, tables_of
from annotation.uploads.offsets import placed
from annotation.uploads.tables.rows import Row, Table
from extensions.formats.readers.marks import (
    UNPLACED,
    count_unread,
    graded,
    made,
    say_skipped,
    texts,
)
from metaeval.files.names import column_of
from metaeval.messages import message

LISTS = ("label", "labels", "entities", "annotations", "cats")
READ = ("id", "user", "label", "text", "start_offset", "end_offset")
# Files of all annotators, and of none.
SHARED = ("all", "unknown", "data", "export")


def is_export(table: Table) -> bool:
    """Return True for texts with lists of labels."""
    rows = [row for _, row in table.rows[:20]]
    lists = [row[name] for row in rows for name in LISTS if isinstance(row.get(name), list)]
    is_empty = not any(lists) and not {"label", "labels", "entities"} & set(table.columns)
    labels = [each for own in lists for each in own]
    return "text" in table.columns and bool(lists) and not is_empty and all(map(_is_label, labels))


def listed(value: Any) -> list[Any]:
    """Return a list as it is, and anything else as none."""
    return value if isinstance(value, list) else []


def _is_label(each: Any) -> bool:
    if isinstance(each, dict):
        return "start_offset" in each or ("user" in each and bool({"label", "text"} & each.keys()))
    return isinstance(each, str) or (isinstance(each, list) and len(each) == 3)


def read(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield a table with a row for each text, or for each annotator of it."""
    for table in tables_of(contents):
        yield _read(table, to)


def _read(table: Table, to: Import) -> Table:
    counts: Counter[str] = Counter()
    is_output = not column_of("output", table.columns)
    stem = PurePath(table.file).stem
    named = {} if stem in SHARED or column_of("annotator", table.columns) else {"annotator": stem}
    rows: list[tuple[int, Row]] = []
    has_users = has_spans = has_classes = False
    for line, cells in table.rows:
        row = {name: cell for name, cell in cells.items() if name not in (*LISTS, "relations")}
        if comments := texts(cells.get("comments")):
            row["comments"] = "\n".join(comments)
        elif "comments" in row and not row["comments"]:
            del row["comments"]
        if is_output:
            row["output"] = row.pop("text", None)
        counts["relations"] += len(listed(cells.get("relations")))
        by_user: dict[Any, Row] = {}
        for name in LISTS:
            for n, each in enumerate(listed(cells.get(name))):
                user = each.get("user") if isinstance(each, dict) else None
                own = by_user.setdefault(user, {"spans": [], "label": []})
                _add(each, own, row, f"{name}[{n}]", counts)
        for user, own in (by_user or {None: {"spans": [], "label": []}}).items():
            has_users |= user is not None
            has_spans |= bool(own["spans"])
            has_classes |= bool(own["label"])
            who = named if user is None else {"annotator": user}
            labels = {"label": ", ".join(own["label"])} if own["label"] else {}
            rows.append((line, row | who | labels | {"spans": own["spans"]}))
    for _, row in rows if has_classes and not has_spans else ():
        del row["spans"]
    if named and not has_users:
        text = message(
            "format.annotator-of-file",
            "No column names the annotator, who was named after the file: “{annotator}”.",
            annotator=stem,
        )
        to.report.note(text, table.head)
    say_skipped(+counts, table, to.report)
    return made(table, rows, ["label"], to)


def _add(each: Any, own: Row, row: Row, path: str, counts: Counter[str]) -> None:
    """Add a label of the text, or of a part of it."""
    start = end = None
    if isinstance(each, list) and len(each) == 3:
        start, end, label = each
    elif isinstance(each, dict):
        count_unread(each, READ, counts)
        start, end, label = (each.get(key) for key in ("start_offset", "end_offset", "label"))
        label = each.get("text") if label is None else label
    else:
        label = each
    names = texts(label) or [str(label)]
    if start is None and end is None:
        own["label"] += names
    elif type(start) is not int or type(end) is not int:
        counts[UNPLACED] += 1
    else:
        mark = placed({"target": row.get("output")}, start, end, None)
        own["spans"].append(mark | graded(names) | {"path": path})
