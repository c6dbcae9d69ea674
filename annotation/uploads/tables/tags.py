"""Tables of MQM as Google publishes them: an error a row, marked by `<v>…</v>` in its text.

Source: github.com/google/wmt-mqm-human-evaluation, and the README of Marot for `metadata`: the
first and last token of each marked part (`source_spans`, `target_spans`), with the tokens once for
each segment. Tags win over tokens.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.rows import Table

NEEDED = ("system", "rater", "source", "target", "category", "severity")
IDS = ("system", "doc", "docsegid", "doc_id", "seg_id", "globalsegid")
MADE = ("side", "span_start", "span_end")
TAG = re.compile(r"</?v>")
SIDES = ("source", "target")
NO_ERROR, PLANTED, POST_EDITED = "noerror", "hotwtest", "post-edited"
LEFT_OUT = {
    PLANTED: "rows tell whether an error that was planted was found, and are left out",
    "rater": "rows without a rater hold no judgment, and are left out",
    "parts": "errors of several parts are marked from the first to the last",
    "unclosed": "marks are not closed, and end with their text",
    POST_EDITED: "rows are of post-edited outputs, other than most annotators saw, and left out",
    "unplaced": "errors have no mark in either text: they are marked over all of the output",
}
Cells = dict[str, Any]


def untag(table: Table, report: Report) -> None:
    """Put plain texts and columns of places into a table with tags; others stay as they are."""
    names = {column.lower(): column for column in table.columns}
    if not all(name in names for name in NEEDED):
        return
    if not any(TAG.search(str(cells.get(names[s]))) for _, cells in table.rows for s in SIDES) and (
        "metadata" not in names
    ):
        return
    counts: Counter[str] = Counter()
    tokens = _Tokens(names)
    rows = []
    for number, cells in table.rows:
        kept = _row(table.file, number, cells, names, tokens, counts, report)
        rows += [(number, kept)] if kept is not None else []
    table.rows = _without_post_edited(rows, names, counts)
    table.columns = [*table.columns, *MADE]
    for what, sentence in LEFT_OUT.items():
        if counts[what]:
            report.warn(f"{counts[what]:,} {sentence}", Place(table.file))


def _without_post_edited(
    rows: list[tuple[int, Cells]], names: Mapping[str, str], counts: Counter[str]
) -> list[tuple[int, Cells]]:
    """Leave out rows of another output than most annotators of the segment and system saw."""
    columns = [names[name] for name in IDS if name in names]
    seen: dict[tuple[Any, ...], dict[str, set[Any]]] = {}
    for _, cells in rows:
        key = tuple(cells.get(column) for column in columns)
        who = seen.setdefault(key, {}).setdefault(cells[names["target"]], set())
        who.add(cells.get(names["rater"]))
    usual = {
        key: max(targets, key=lambda text: len(targets[text])) for key, targets in seen.items()
    }
    kept = [
        (number, cells)
        for number, cells in rows
        if usual[tuple(cells.get(column) for column in columns)] == cells[names["target"]]
    ]
    counts[POST_EDITED] += len(rows) - len(kept)
    return kept


class _Tokens:
    """The tokens of each segment and system, which stand in one of its rows alone."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.columns = [names[name] for name in IDS if name in names]
        self.metadata = names.get("metadata", "")
        self.seen: dict[tuple[Any, ...], Mapping[str, Any]] = {}

    def marks(self, cells: Cells, side: str, text: str) -> list[tuple[int, int]]:
        """Return [start, end) of what `metadata` marks in a text.

        Raises ValueError where there is no such token, or the tokens are not those of the text.
        """
        try:
            values = json.loads(cells.get(self.metadata) or "{}")
        except (ValueError, RecursionError):
            return []
        key = tuple(cells.get(column) for column in self.columns)
        if not isinstance(values, dict):
            return []
        if isinstance(values.get("segment"), dict):
            self.seen[key] = values["segment"]
        marked = values.get(f"{side}_spans") or []
        if not marked:
            return []
        tokens = self.seen.get(key, {}).get(f"{side}_tokens")
        if not isinstance(tokens, list) or "".join(map(str, tokens)) != text:
            raise ValueError(f"{side}_tokens are not the {side}")
        ends = [0, *accumulate(len(str(token)) for token in tokens)]
        return [_between(ends, each) for each in marked]


def _between(ends: Sequence[int], pair: Any) -> tuple[int, int]:
    is_pair = isinstance(pair, list) and [type(each) for each in pair] == [int, int]
    if not is_pair or not 0 <= pair[0] <= pair[1] < len(ends) - 1:
        raise ValueError(f"{str(pair)[:40]} are no two of {len(ends) - 1} tokens in order")
    return ends[pair[0]], ends[pair[1] + 1]


def read_tags(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text without its tags, and [start, end) of each marked part.

    One that is not closed marks all that follows. Raises ValueError for a tag that is not opened,
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
            raise ValueError(f"{found[0]} stands alone at {found.start() + 1}: is it of the text?")
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
    tokens: _Tokens,
    counts: Counter[str],
    report: Report,
) -> Cells | None:
    """Return a row with plain texts and its place, None for one that holds no judgment."""
    found: list[tuple[str, int, int]] = []
    for side in SIDES:
        given = str(cells.get(names[side]) or "")
        counts["unclosed"] += given.count("<v>") > given.count("</v>")
        try:
            cells[names[side]], parts = read_tags(given)
            parts = parts or tokens.marks(cells, side, cells[names[side]])
        except ValueError as error:
            report.error(str(error), Place(file, number, names[side]))
            continue
        found += [(side, start, end) for start, end in parts]
    words = {_word(cells.get(names[name])) for name in ("severity", "category")}
    if left_out := next((what for what in _reasons(cells, names, words)), ""):
        counts[left_out] += 1
        return None
    if len({side for side, *_ in found}) > 1:
        place = Place(file, number, names["source"])
        report.error("both texts are marked: an error a row is expected", place)
    if NO_ERROR in words:
        return cells | {names["severity"]: "no-error"}
    counts["parts"] += len(found) > 1
    counts["unplaced"] += not found
    side = found[0][0] if found else "none"
    return cells | dict(zip(MADE, (side, *_around(found)), strict=True))


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
