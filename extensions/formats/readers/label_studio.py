"""Label Studio's exports: JSON, and JSON-MIN or CSV with a row for each annotation.

In JSON, a task has `data` and `annotations`. An annotation has a `result` for each region and each
answer: `from_name` is the question, `to_name` the text that it is about, and results of one region
share an `id`. JSON-MIN and CSV list them by question, and equal offsets are one region. If several
outputs of a task are judged, each is a row. Source: “Label Studio JSON format of annotated tasks”
in Label Studio's guide; label-studio-converter.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.uploads.formats.base import Content, Import, tables_of
from annotation.uploads.offsets import placed
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.rows import Row, Table
from extensions.formats.readers.marks import (
    CANCELLED,
    SCORES,
    UNPLACED,
    Value,
    count_unread,
    graded,
    has_place,
    is_source,
    made,
    say_skipped,
    texts,
)
from metaeval.files.names import NAMES, column_of, is_called
from metaeval.messages import message

DATA = "data."
LISTS = ("annotations", "completions")
MIN = frozenset(("annotation_id", "annotator", "lead_time"))
# What is read of a result and of its value, or says nothing.
RESULT = ("from_name", "to_name", "id", "type", "value", "origin")
PLACE = ("start", "end", "text", "globalOffsets", "startOffset", "endOffset")
# What an annotation says beside its results, by our fields, and what of JSON-MIN is no answer.
ABOUT = {
    "completed_by": "annotator", "annotator": "annotator", "created_username": "annotator",
    "created_at": "submitted_at", "lead_time": "seconds", "ground_truth": "ground_truth",
}  # fmt: skip
OTHERS = ("annotation_id", "updated_at", "agreement", "history")
NO_OUTPUTS = [name for field in ("source", "reference") for name in (field, *NAMES[field])]
KINDS = ("choices", "rating", "number", "taxonomy", "textarea", "datetime", "pairwise")


def is_export(table: Table) -> bool:
    """Return True for an export of annotated tasks."""
    has_data = any(column.startswith(DATA) for column in table.columns)
    return set(table.columns) >= MIN or (has_data and bool(set(LISTS) & set(table.columns)))


def read(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield a table with a row for each annotation, or for each output that it judges."""
    for table in tables_of(contents):
        yield _read(table, to)


@dataclass
class _Annotation:
    """An annotation: line and data of its task, who made it when, and its results."""

    line: int
    task: Row
    about: Row
    results: list["_Result"] = field(default_factory=list)


@dataclass
class _Result:
    """One result: its question, the text that it is about, and its region."""

    name: str
    about: str
    region: str
    kind: str
    answer: Any
    value: Value
    path: str

    @property
    def is_mark(self) -> bool:
        """Whether it marks a region."""
        return self.kind.endswith("labels")

    @property
    def is_text(self) -> bool:
        """Whether it is free text."""
        return self.kind == "textarea"


def _read(table: Table, to: Import) -> Table:
    counts: Counter[str] = Counter()
    is_min = not set(LISTS) & set(table.columns)
    read_rows = _of_min if is_min else _of_tasks
    found = list(read_rows(table, counts, to.report))
    data = dict.fromkeys(key for each in found for key in each.task)
    judged = dict.fromkeys(r.about for each in found for r in each.results)
    outputs = [key for key in judged if key in data and not is_called(key, NO_OUTPUTS)]
    if len(outputs) < 2:
        known = column_of("output", data) or next(iter(outputs), "text")
        outputs = [known] if known in data else []
    if is_several := len(outputs) > 1:
        _call_alike(found)
    rows: list[tuple[int, Row]] = []
    on_errors: list[str] = []
    for each in found:
        shared = [r for r in each.results if not is_several or r.about not in outputs]
        if is_several:
            counts.update(r.name for r in shared if r.is_mark)
            shared = [r for r in shared if not r.is_mark]
        for output in outputs or [""]:
            own = [r for r in each.results if r.about == output] if is_several else []
            row = {name: cell for name, cell in each.task.items() if name not in outputs}
            row |= {"system": output} if is_several else {}
            row |= {"output": each.task[output]} if output in each.task else {}
            if own or not is_several:
                answers = _answers([*shared, *own], row, counts, on_errors)
                rows.append((each.line, row | each.about | answers))
    if any("spans" in row for _, row in rows):
        for _, row in rows:
            row.setdefault("spans", [])
    to.report.note_of(
        len(on_errors),
        "format.comments",
        "Added {n} comment on an error to the comment of its judgment.",
        "Added {n} comments on errors to the comments of their judgments.",
        table.head,
    )
    say_skipped(counts, table, to.report)
    ratings = (r.name for each in found for r in each.results if not r.is_text)
    return made(table, rows, ratings, to)


def _call_alike(found: Iterable[_Annotation]) -> None:
    """Call the ratings of several outputs `rating`, if each output has one question of its own."""
    ratings = [r for each in found for r in each.results if r.kind in ("rating", "number")]
    names: dict[str, set[str]] = {}
    for each in ratings:
        names.setdefault(each.about, set()).add(each.name)
    if all(len(own) == 1 for own in names.values()):
        for each in ratings:
            each.name = "rating"


def _of_tasks(table: Table, counts: Counter[str], report: Report) -> Iterator[_Annotation]:
    key = next(each for each in LISTS if each in table.columns)
    for line, cells in table.rows:
        data = {name[len(DATA) :]: c for name, c in cells.items() if name.startswith(DATA)}
        # A score among the data was not given by an annotator.
        task = {f"{DATA}{n}" if is_called(n, SCORES) else n: cell for n, cell in data.items()}
        task.setdefault("id", cells.get("id"))
        others = {name: cell for name, cell in cells.items() if not name.startswith(DATA)}
        count_unread(others, ("id", key), counts)
        for number, each in enumerate(
            _objects(cells.get(key), Place(table.file, line, key), report)
        ):
            if each.get("was_cancelled") is True:
                counts[CANCELLED] += 1
                continue
            count_unread(each, (*ABOUT, "id", "result"), counts)
            path = f"{key}[{number}].result"
            found = _Annotation(line, task, _about(each))
            results = _objects(each.get("result"), Place(table.file, line, path), report)
            for n, result in enumerate(results):
                _add(found, result, f"{path}[{n}]", counts)
            yield found


def _of_min(table: Table, counts: Counter[str], report: Report) -> Iterator[_Annotation]:
    for line, cells in table.rows:
        count_unread({name: cells[name] for name in OTHERS if name in cells}, (), counts)
        found = _Annotation(line, {}, _about(cells))
        for column, cell in cells.items():
            if column in ABOUT or column in OTHERS:
                continue
            listed = _loaded(cell)
            kinds = [_kind(each) for each in listed]
            if not listed or not all(kinds):
                found.task[column] = cell
                continue
            for n, (each, kind) in enumerate(zip(listed, kinds, strict=True)):
                region = f"{each.get('start')}-{each.get('end')}"
                given = {"from_name": column, "type": kind, "id": region, "value": each}
                _add(found, given, f"{column}[{n}]", counts)
        yield found


def _objects(value: Any, place: Place, report: Report) -> list[Value]:
    """Return a list of objects; anything else in it is reported."""
    listed = value if isinstance(value, list) else [value] if value else []
    if not all(isinstance(each, dict) for each in listed):
        report.error(message("format.no-objects", "Expected a list of objects."), place)
    return [each for each in listed if isinstance(each, dict)]


def _about(given: Mapping[str, Any]) -> Row:
    found = {ABOUT[name]: given[name] for name in ABOUT if given.get(name)}
    if isinstance(person := found.get("annotator"), dict):
        names = (person.get(key) for key in ("email", "username", "id"))
        found["annotator"] = next((name for name in names if name), None)
    return found


def _add(found: _Annotation, given: Value, path: str, counts: Counter[str]) -> None:
    """Add a result to its annotation, or count it: relations, and regions of pictures."""
    kind, value = str(given.get("type"))[:40], given.get("value")
    answer = (
        value.get({"textarea": "text", "pairwise": "selected"}.get(kind, kind))
        if isinstance(value, dict)
        else None
    )
    if not isinstance(value, dict) or answer is None or {"x", "points", "rle"} & value.keys():
        counts[kind] += 1
        return
    count_unread(given, RESULT, counts)
    count_unread(value, (*PLACE, kind, "selected"), counts)
    name, about = (str(given.get(key) or "") for key in ("from_name", "to_name"))
    # An answer to a question that has the name of a text does not replace the text.
    name = f"answer.{name}" if name in (*found.task, "output", "system", "spans") else name
    region = str(given.get("id") or path)
    found.results.append(_Result(name, about, region, kind, answer, value, path))


def _loaded(cell: Any) -> list[Value]:
    """Return the results in a cell of JSON-MIN, or of CSV, where they are JSON."""
    if isinstance(cell, str) and cell.startswith(("[{", "{")):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            return []
    listed = cell if isinstance(cell, list) else [cell]
    return listed if listed and all(isinstance(each, dict) for each in listed) else []


def _kind(value: Value) -> str:
    """Return the type of a result of JSON-MIN: the key of its answer."""
    is_text = isinstance(value.get("text"), list)
    own = (key for key in value if key in KINDS or key.endswith("labels"))
    return next(own, "textarea" if is_text else "")


def _answers(
    results: Sequence[_Result], task: Row, counts: Counter[str], on_errors: list[str]
) -> Row:
    """Return the answers about one output; comments on single errors join that of the judgment."""
    row: Row = {}
    marked = {each.region: each for each in results if each.is_mark}
    labels: dict[str, list[str]] = {}
    comments: list[str] = []
    for each in results:
        found = texts(each.answer)
        if each.region in marked and each.is_text:
            comments += found
        elif each.region in marked:
            labels.setdefault(each.region, []).extend(found)
            counts.update([] if found or each.is_mark else [each.name])
        else:
            separator = "\n" if each.is_text else ", "
            row[each.name] = separator.join(found) if found else each.answer
    for region, names in labels.items():
        mark = _mark(marked[region], task)
        if not has_place(mark):
            counts[UNPLACED] += 1
        else:
            row.setdefault("spans", []).append(mark | graded(names) | {"path": marked[region].path})
    if comments:
        name = column_of("comment", row) or "comment"
        row[name] = "\n".join([*texts(row.get(name)), *comments])
        on_errors += comments
    return row


def _mark(result: _Result, task: Row) -> Value:
    """Return where a region is, in the text that it names or in the one that has its words."""
    at = result.value.get("globalOffsets")
    at = at if isinstance(at, dict) else result.value
    sides = {"target": task.get("output"), "source": task.get(column_of("source", task))}
    if is_source(result.about) or result.about in task:
        side = "source" if is_source(result.about) else "target"
        sides = {side: task.get(result.about, sides[side])}
    return placed(sides, at.get("start"), at.get("end"), result.value.get("text"))
