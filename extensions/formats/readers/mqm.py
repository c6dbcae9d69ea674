"""Tables of MQM as Google publishes them: one error per row, marked by `<v>…</v>` in its text.

Source: github.com/google/wmt-mqm-human-evaluation, and the README of Marot for `metadata`: the
first and last token of each marked part (`source_spans`, `target_spans`), with the tokens once for
each segment, and the time of each error. Tags take precedence over tokens.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from annotation.uploads.formats.base import Content, Import, tables_of
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.columns import renamed
from annotation.uploads.tables.rows import Table
from metaeval.messages import MessageError, message, truncated

NEEDED = ("system", "rater", "source", "target", "category", "severity")
IDS = ("system", "doc", "docsegid", "doc_id", "seg_id", "globalsegid")
TAG = re.compile(r"</?v>")
MADE = ("side", "span_start", "span_end")
TIME = "submitted_at"
# Marot adds a blank to a text that is marked to its end, which other rows do not have. Where the
# blank alone is marked, the sign before it is.
BLANK_END = re.compile(r"(?:(?P<last>[^<>])<v>)?\s</v>$")
# What is read of `metadata`.
USED = frozenset(("timestamp", "segment", "source_spans", "target_spans", "marked_text"))
SIDES = ("source", "target")
# Names in tables with tagged copies of the texts (Amazon's biomedical MQM, 2024).
COPIED = {
    "mt": "system", "doc": "doc", "seg_id": "docsegid", "annotator_id": "rater",
    "error category": "category",
}  # fmt: skip
NO_ERROR, PLANTED, POST_EDITED = "noerror", "hotwtest", "post-edited"
Cells = dict[str, Any]


def has_tags(table: Table) -> bool:
    """Return True for a table of errors that tags or tokens mark."""
    names = _names(table)
    return all(name in names for name in NEEDED) and (
        "metadata" in names
        or any(TAG.search(str(cells.get(names[side]))) for _, cells in table.rows for side in SIDES)
    )


def _names(table: Table) -> dict[str, str]:
    return {column.lower(): column for column in table.columns}


def read(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield the tables with columns of offsets instead of tags and tokens."""
    for table in tables_of(contents):
        _untag(table, to.report)
        yield table


def read_copies(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield tables whose errors are marked in copies of the texts."""
    for table in tables_of(contents):
        for _, row in table.rows:
            for side in SIDES:
                if copy := row.pop(f"tagged_{side}", ""):
                    row[side] = copy.replace("<tag>", "<v>").replace("</tag>", "</v>")
            if not row.get("severity") and not row.get("error category"):
                row["severity"] = NO_ERROR
        columns = [column for column in table.columns if not column.startswith("tagged_")]
        copied = renamed(replace(table, columns=columns), COPIED)
        yield from read([Content(table.file, table=copied)], to)


def _untag(table: Table, report: Report) -> None:
    names = _names(table)
    counts: Counter[str] = Counter()
    metadata = _Metadata(names)
    rows = []
    for number, cells in table.rows:
        row = _row(table.file, number, cells, names, metadata, counts, report)
        rows += [(number, row)] if row is not None else []
    table.rows = _without_post_edited(rows, names, counts)
    table.columns = [*(c for c in table.columns if c != metadata.column), *MADE]
    metadata.add_times(table)
    _warn(counts, Place(table.file), report)
    if metadata.unused:
        text = message(
            "mqm.metadata",
            "Of “metadata”, tokens and times are used. Not used: {keys}.",
            keys=truncated(list(metadata.unused), 20),
        )
        report.warn(text, table.head)


def _warn(counts: Counter[str], place: Place, report: Report) -> None:
    report.warn_of(
        counts[PLANTED],
        "mqm.planted",
        "Skipped {n} row that says whether a planted error was found.",
        "Skipped {n} rows that say whether a planted error was found.",
        place,
    )
    report.warn_of(
        counts["rater"],
        "mqm.no-annotator",
        "Skipped {n} row without an annotator: it is not a judgment.",
        "Skipped {n} rows without an annotator: they are not judgments.",
        place,
    )
    report.warn_of(
        counts["parts"],
        "mqm.parts",
        "{n} error has several parts. It was marked from the first to the last.",
        "{n} errors have several parts. They were marked from the first to the last.",
        place,
    )
    report.warn_of(
        counts["unclosed"],
        "mqm.unclosed",
        "{n} mark is not closed. It was closed at the end of the text.",
        "{n} marks are not closed. They were closed at the end of the text.",
        place,
    )
    report.warn_of(
        counts[POST_EDITED],
        "mqm.post-edited",
        "Skipped {n} row of a post-edited output, which is not the one that most annotators saw.",
        "Skipped {n} rows of post-edited outputs, which are not those that most annotators saw.",
        place,
    )
    report.warn_of(
        counts["unplaced"],
        "mqm.unplaced",
        "{n} error has no mark in either text. It was marked over the whole output.",
        "{n} errors have no mark in either text. They were marked over the whole output.",
        place,
    )


class TagError(MessageError, ValueError):
    """The tags or tokens of a text are wrong."""


def _without_post_edited(
    rows: list[tuple[int, Cells]], names: Mapping[str, str], counts: Counter[str]
) -> list[tuple[int, Cells]]:
    """Skip rows of another output than most annotators of the segment and system saw."""
    columns = [names[name] for name in IDS if name in names]
    seen: dict[tuple[Any, ...], dict[str, set[Any]]] = {}
    for _, cells in rows:
        key = tuple(str(cells.get(column)) for column in columns)
        annotators = seen.setdefault(key, {}).setdefault(str(cells.get(names["target"])), set())
        annotators.add(str(cells.get(names["rater"])))
    usual = {
        key: max(targets, key=lambda text: len(targets[text])) for key, targets in seen.items()
    }
    kept = [
        (number, cells)
        for number, cells in rows
        if usual[tuple(str(cells.get(column)) for column in columns)]
        == str(cells.get(names["target"]))
    ]
    counts[POST_EDITED] += len(rows) - len(kept)
    return kept


class _Metadata:
    """What `metadata` has: the tokens of each segment, in one of its rows, and times of errors.

    `unused` are its other keys.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self.columns = [names[name] for name in IDS if name in names]
        self.column, self.rater = names.get("metadata", ""), names["rater"]
        self.tokens: dict[tuple[Any, ...], Mapping[str, Any]] = {}
        self.latest: dict[tuple[Any, ...], float] = {}
        self.unused: dict[str, None] = {}

    def take(self, cells: Cells) -> Mapping[str, Any]:
        """Remove the metadata of a row and return them."""
        try:
            values = json.loads(cells.pop(self.column, "") or "{}")
        except (ValueError, RecursionError, TypeError):
            values = None
        if not isinstance(values, dict):
            self.unused.setdefault(self.column)
            return {}
        self.unused |= dict.fromkeys(key for key in values if key not in USED)
        if isinstance(values.get("segment"), dict):
            self.tokens[self._key(cells)] = values["segment"]
        time = values.get("timestamp")
        if isinstance(time, int | float):
            key = (*self._key(cells), str(cells.get(self.rater)))
            self.latest[key] = max(time, self.latest.get(key, time))
        return values

    def _key(self, cells: Cells) -> tuple[Any, ...]:
        return tuple(str(cells.get(column)) for column in self.columns)

    def add_times(self, table: Table) -> None:
        """Give every row the time of the last error of its judgment, where times are known."""
        if self.latest and TIME not in table.columns:
            table.columns.append(TIME)
            for _, cells in table.rows:
                key = (*self._key(cells), str(cells.get(self.rater)))
                cells |= {TIME: self.latest[key]} if key in self.latest else {}

    def marks(
        self, cells: Cells, values: Mapping[str, Any], side: str, text: str
    ) -> list[tuple[int, int]]:
        """Return [start, end) of what the metadata of a row mark in a text.

        Raises TagError if there is no such token, or the tokens are not those of the text.
        """
        marked = values.get(f"{side}_spans") or []
        if not marked:
            return []
        tokens = self.tokens.get(self._key(cells), {}).get(f"{side}_tokens")
        if not isinstance(tokens, list) or "".join(map(str, tokens)) != text:
            raise TagError(
                message(
                    "mqm.tokens",
                    "The tokens in {tokens} are not those of the text.",
                    tokens=f"{side}_tokens",
                )
            )
        ends = [0, *accumulate(len(str(token)) for token in tokens)]
        return [_between(ends, each) for each in (marked if isinstance(marked, list) else [marked])]


def _between(ends: Sequence[int], pair: Any) -> tuple[int, int]:
    is_pair = isinstance(pair, list) and [type(each) for each in pair] == [int, int]
    if not is_pair or not 0 <= pair[0] <= pair[1] < len(ends) - 1:
        raise TagError(
            message(
                "mqm.token-numbers",
                "“{pair}” are not two numbers of tokens in order, from 0 to {last}.",
                pair=str(pair)[:40],
                last=len(ends) - 2,
            )
        )
    return ends[pair[0]], ends[pair[1] + 1]


def read_tags(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text without its tags, and [start, end) of each marked part.

    One that is not closed marks all that follows. Raises TagError for a tag that is not opened,
    or inside another.

    >>> read_tags("The dog <v>walked</v> outside.")
    ('The dog walked outside.', [(8, 14)])
    """
    plain, parts, opened = "", list[tuple[int, int]](), -1
    last = 0
    for found in TAG.finditer(text):
        plain += text[last : found.start()]
        last = found.end()
        if (found[0] == "<v>") == (opened >= 0):
            raise TagError(
                message(
                    "mqm.lone-tag",
                    "{tag} at character {position} has no counterpart. Check whether it is part of "
                    "the text.",
                    tag=found[0],
                    position=found.start() + 1,
                )
            )
        if found[0] == "<v>":
            opened = len(plain)
        else:
            parts.append((opened, len(plain)))
            opened = -1
    plain += text[last:]
    return plain, parts if opened < 0 else [*parts, (opened, len(plain))]


def _row(
    file: str,
    number: int,
    cells: Cells,
    names: Mapping[str, str],
    metadata: _Metadata,
    counts: Counter[str],
    report: Report,
) -> Cells | None:
    """Return a row with plain texts and offsets, or None for a row that is not a judgment."""
    found: list[tuple[str, int, int]] = []
    values = metadata.take(cells)
    for side in SIDES:
        given = BLANK_END.sub(_without_blank, str(cells.get(names[side]) or ""))
        counts["unclosed"] += given.count("<v>") > given.count("</v>")
        try:
            cells[names[side]], parts = read_tags(given)
            parts = parts or metadata.marks(cells, values, side, cells[names[side]])
        except TagError as error:
            report.error(error.message, Place(file, number, names[side]))
            continue
        found += [(side, start, end) for start, end in parts]
    words = {_word(cells.get(names[name])) for name in ("severity", "category")}
    if reason := next((what for what in _reasons(cells, names, words)), ""):
        counts[reason] += 1
        return None
    if len({side for side, *_ in found}) > 1:
        place = Place(file, number, names["source"])
        text = message("mqm.both-texts", "Both texts are marked. Expected one error per row.")
        report.error(text, place)
    if NO_ERROR in words:
        return cells | {names["severity"]: "no-error"}
    counts["parts"] += len(found) > 1
    counts["unplaced"] += not found
    side = found[0][0] if found else "none"
    return cells | dict(zip(MADE, (side, *_around(found)), strict=True))


def _without_blank(found: re.Match[str]) -> str:
    return f"<v>{found['last']}</v>" if found["last"] else "</v>"


def _reasons(cells: Cells, names: Mapping[str, str], words: set[str]) -> Iterator[str]:
    if not str(cells.get(names["rater"]) or "").strip():
        yield "rater"
    if PLANTED in words:
        yield PLANTED


def _word(value: Any) -> str:
    return "".join(sign for sign in str(value or "").lower() if sign.isalnum())


def _around(found: Sequence[tuple[str, int, int]]) -> tuple[Any, Any]:
    if not found:
        return "", ""
    return min(start for _, start, _ in found), max(end for _, _, end in found)
