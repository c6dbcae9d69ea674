"""Read the error spans in a cell: a list of objects or of words, whichever names keys have."""

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

from annotation.uploads.tables.rows import QUOTED_JSON, Table
from metaeval.files.names import is_called, plain
from metaeval.messages import message

# The keys of a span and other names for them. `start_i` and `end_i` are not among them: they count
# otherwise (Appraise, Pearmut).
KEYS = {
    "start": ("span_start", "start_index", "start_offset", "start_char", "begin"),
    "end": ("span_end", "end_index", "end_offset", "end_char"),
    "severity": ("error_severity", "span_severity"),
    "category": ("error_category", "span_type", "span_category"),
    "side": ("error_side",),
    "text": ("words", "span", "span_text", "error_span", "marked_text", "error_text", "term"),
}
OTHERS = {plain(name): key for key, names in KEYS.items() for name in (key, *names)}
# `accuracy/mistranslation - "words"`, as GEMBA asks language models to write.
DESCRIBED = re.compile(r'(?P<category>[\w/ -]+?) - "(?P<text>.+)"', re.DOTALL)
# Keys of objects that hold the list.
HOLDERS = ("payload", "error_spans", "errors", "spans")
# Keys of an object that hold the spans of a severity each.
SEVERITIES = frozenset(("neutral", "trivial", "minor", "major", "critical"))
# Fields that say what an error marks.
PLACES = {"marked_text", "span_start", "span_end", "spans"}
NOT_SPANS = message(
    "spans.not-a-list", "Error spans must be a JSON list of objects or of the marked words."
)


# What people call the marked words, where it is no category of errors.
ERROR = ("error", "Fehler", "erreur", "errore", "fout", "chyba", "błąd", "ошибка", "错误", "誤り")


def with_marked(
    table: Table, found: Mapping[str, str], chosen: Mapping[str, str]
) -> dict[str, str]:
    """Return the fields of columns, with `error` as the words that an error marks.

    It is so where nothing else says what is marked; where the table has the texts, some must have
    the words.
    """
    has = set(found.values())
    column = next((c for c in table.columns if is_called(table.titles.get(c, c), ERROR)), "")
    if "severity" not in has or not column or column in chosen or has & PLACES:
        return dict(found)
    texts = [c for c, field in found.items() if field in ("output", "source")]
    if texts and not any(
        isinstance(words := row.get(column), str) and words.strip()
        and any(words.strip() in str(row.get(c)) for c in texts)
        for _, row in table.rows
    ):  # fmt: skip
        return dict(found)
    others = {c: field for c, field in found.items() if c != column}
    return others | {column: "marked_text"}


def span_objects(cell: Any) -> list[dict[str, Any]] | None:
    """Return the spans in a cell under the keys of `KEYS`; None where it holds anything else.

    >>> span_objects('[{"startIndex": 2, "endIndex": 4, "term": "to"}]')
    [{'start': 2, 'end': 4, 'text': 'to'}]
    >>> span_objects({"minor": ["to"], "major": []})
    [{'text': 'to', 'severity': 'minor'}]
    >>> span_objects(['fluency/grammar - "to"'])
    [{'category': 'fluency/grammar', 'text': 'to'}]
    """
    try:
        values = _parsed(_unquoted(cell)) if isinstance(cell, str) and cell.strip() else cell
        values = _parsed(values) if isinstance(values, str) and values.strip() else values or []
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if isinstance(values, dict):
        values = next((values[name] for name in HOLDERS if name in values), values or [])
    if isinstance(values, dict) and values and SEVERITIES.issuperset(map(str.lower, values)):
        lists = {severity: span_objects(own) for severity, own in values.items()}
        if None in lists.values():
            return None
        return [each | {"severity": s} for s, own in lists.items() for each in own or ()]
    objects = [_object(each) for each in values] if isinstance(values, list) else [None]
    return None if None in objects else [_named(each) for each in objects if each is not None]


def _object(value: Any) -> dict[str, Any] | None:
    """Return a span that is an object, its words, or its start, end and severity; else None."""
    if isinstance(value, list | tuple) and list(map(type, value)) == [int, int, str]:
        return dict(zip(("start", "end", "severity"), value, strict=True))
    if isinstance(value, str):
        match = DESCRIBED.fullmatch(value.strip())
        return match.groupdict() if match else {"text": value}
    return value if isinstance(value, dict) else None


def _parsed(cell: str) -> Any:
    """Return what JSON holds, or the list that Python writes, as pandas does in a CSV."""
    try:
        return json.loads(cell)
    except ValueError:
        if not cell.lstrip().startswith(("[", "{")):
            raise
        return ast.literal_eval(cell.strip())


def _named(span: Mapping[str, Any]) -> dict[str, Any]:
    side = {"side": "source"} if span.get("is_source_error") else {}
    names = {key: key if key in KEYS else OTHERS.get(plain(key), key) for key in span}
    own = {name: span[key] for key, name in names.items() if key == name or name not in span}
    return own | side


def _unquoted(cell: str) -> str:
    """Take off the quotation marks that a program put around JSON in a TSV."""
    if cell.startswith(QUOTED_JSON) and cell.endswith('"'):
        return cell[1:-1].replace('""', '"')
    return cell
