"""Read JSON as objects: one per line, a list of them, or the lists that an object holds."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from annotation.uploads.problems import Place, Report
from metaeval.files.decoding import lines_of
from metaeval.files.names import NAMES, is_called, is_known
from metaeval.messages import Message, MessageError, message, truncated
from metaeval.reasons import reason_of

# The column with the keys of an object of lists, such as COMET's systems; no file calls one so.
GROUP = "(group)"
# Keys that hold rows and do not describe them.
CONTAINERS = ("data", "rows", "items", "records", "results", "examples", "segments", "entries")
TEXTS = tuple(name for field in ("source", "output") for name in (field, *NAMES[field]))
KEYS = tuple(name for field in ("segment", "item") for name in (field, *NAMES[field]))
EMPTY_ROW = message("table.empty-row", "The row is empty.")
OBJECTS = message(
    "table.no-objects", "Expected one JSON object per line, such as {example}.",
    example='{"source": "…"}',
)  # fmt: skip
Row = dict[str, Any]


def are_spans(key: str) -> bool:
    """Return True for the key of error spans, which are read by what knows their layouts."""
    return is_called(key, ("spans", "entities", *NAMES["spans"]))


def stays_whole(key: str) -> bool:
    """Return True for the key of spans, or of what Potato keeps by instance."""
    return are_spans(key) or key.startswith("instance_id_to_")


def objects_in(name: str, text: str, report: Report) -> Iterator[tuple[int, Row]]:
    """Yield the objects of a JSON file with their lines, or numbers where a list holds them."""
    if not _is_in_lines(text):
        whole, problem, row = _value(text)
        if isinstance(whole, dict):
            whole = oriented(whole) or _list_within(name, whole, report)
        if isinstance(whole, list) and whole and all(isinstance(each, dict) for each in whole):
            yield from enumerate(whole, 1)
        else:
            report.error(problem or OBJECTS, Place(name, row))
        return
    broken: dict[Message, list[int]] = {}
    blank: list[int] = []
    comments: list[int] = []
    for number, line in enumerate(lines_of(text), 1):
        if not line.strip():
            blank.append(number)
            continue
        broken.setdefault(EMPTY_ROW, []).extend(blank)
        blank.clear()
        value, problem, _ = _value(line)
        if problem and line.lstrip().startswith(("#", "//")):
            comments.append(number)
        elif isinstance(value, dict):
            yield number, value
        else:
            broken.setdefault(problem or OBJECTS, []).append(number)
    report.note_of(
        len(comments),
        "json.comments",
        "{n} line is a comment and was skipped.",
        "{n} lines are comments and were skipped.",
        Place(name, comments[0] if comments else None),
    )
    for problem, numbers in broken.items():
        if numbers:
            report.error_in_rows(problem, name, numbers)


def _is_in_lines(text: str) -> bool:
    """Return True if the file has several lines, and one of the first is an object."""
    lines = [line for line in islice(lines_of(text), 20) if line.strip()]
    objects = [isinstance(_value(line)[0], dict) for line in lines]
    return any(objects) and len(lines) > 1


def oriented(whole: Row) -> list[Row]:
    """Return the rows of a table that is written by column or by key, as pandas does; else none.

    >>> oriented({"source": {"0": "a", "1": "b"}}) == oriented({"source": ["a", "b"]})
    True
    >>> oriented({"x7": {"source": "a"}, "x8": {"source": "b"}})[0]
    {'key': 'x7', 'source': 'a'}
    """
    columns, data = whole.get("columns"), whole.get("data")
    if isinstance(columns, list) and isinstance(data, list):
        are_rows = all(isinstance(row, list) and len(row) == len(columns) for row in data)
        are_names = all(isinstance(name, str) for name in columns)
        return [dict(zip(columns, row, strict=True)) for row in data if are_rows and are_names]
    if not whole or not all(isinstance(each, dict | list) and each for each in whole.values()):
        return []
    by_column = {
        column: each if isinstance(each, dict) else dict(enumerate(each))
        for column, each in whole.items()
    }
    first, *others = by_column.values()
    if any(map(is_known, whole)):
        are_cells = not any(isinstance(cell, dict) for cell in first.values())
        is_table = are_cells and all(each.keys() == first.keys() for each in others)
        return [{c: own[key] for c, own in by_column.items()} for key in first] if is_table else []
    if not others or not all(isinstance(each, dict) for each in whole.values()):
        return []
    if not all(any(map(is_known, each)) for each in whole.values()):
        return []
    return _by_key(whole)


def _by_key(whole: Mapping[str, Row]) -> list[Row]:
    """Return objects with their keys, unless these count them."""
    are_numbers = list(whole) == [str(number) for number in range(len(whole))]
    return [({} if are_numbers else {"key": key}) | row for key, row in whole.items()]


def _objects(value: Any) -> list[Row]:
    """Return the objects in a list, or texts in an object by key; else none."""
    if isinstance(value, dict) and all(isinstance(each, dict) for each in value.values()):
        value = _by_key(value)
        return value if len(value) > 1 and _are_texts(value) else []
    is_list = isinstance(value, list) and all(isinstance(each, dict) for each in value)
    return value if is_list else []


def _are_texts(rows: list[Row]) -> bool:
    return all(any(is_called(key, TEXTS) for key in row) for row in rows)


def _list_within(name: str, whole: Row, report: Report) -> list[Row]:
    """Return the list of objects that an object holds, or several with their keys; else itself.

    Names and languages beside the list are those of each of its rows.
    """
    lists = {key: rows for key, each in whole.items() if (rows := _objects(each))}
    known = {key: each for key, each in whole.items() if key not in lists and is_known(key)}
    is_described = len(lists) == 1 and all(map(_are_texts, lists.values()))
    if not lists or any(map(are_spans, lists)) or (known and not is_described):
        return [whole]
    objects = {k: each for k, each in known.items() if isinstance(each, dict)}
    known |= {f"{key}.{k}": v for key, each in objects.items() for k, v in each.items()}
    # Of the keys of rows, none is that of all.
    known = {k: v for k, v in known.items()
             if isinstance(v, str | int | float) and not is_called(k, KEYS)}  # fmt: skip
    others = [key for key in whole if key not in {*lists, *known, *objects}]
    named = truncated(list(lists))
    if others:
        text = message(
            "table.rows-of-some",
            "The rows were read from {lists}. Not read: {others}.",
            lists=named,
            others=truncated(others),
        )
        report.warn(text, Place(name))
    else:
        text = message("table.rows-of", "The rows were read from {lists}.", lists=named)
        report.note(text, Place(name))
    if len(lists) == 1 and (known or is_called(next(iter(lists)), CONTAINERS)):
        return [known | row for row in next(iter(lists.values()))]
    return [{GROUP: key, **one} for key, each in lists.items() for one in each]


def _value(text: str) -> tuple[Any, Message | None, int]:
    """Return a JSON value; or None, the error and its line."""
    try:
        return DECODER.decode(text), None, 1
    except json.JSONDecodeError as error:
        refused = message(
            "json.syntax",
            "This is not valid JSON from character {column} on. The JSON reader says: “{reason}”.",
            reason=error.msg,
            column=error.colno,
        )
        return None, refused, error.lineno
    except MessageError as error:
        return None, error.message, 1
    except (ValueError, RecursionError) as error:
        refused = message(
            "json.unreadable",
            "This JSON cannot be read. The JSON reader says: “{reason}”.",
            reason=reason_of(error),
        )
        return None, refused, 1


def field_twice(name: str) -> Message:
    """Return the message that refuses an object with one field twice."""
    return message("json.field-twice", "The field “{field}” occurs twice.", field=name)


def _unique(pairs: list[tuple[str, Any]]) -> Row:
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        raise MessageError(field_twice(next(key for key in keys if keys.count(key) > 1)))
    return row


DECODER = json.JSONDecoder(object_pairs_hook=_unique)
