"""Answers of surveys (LimeSurvey, Qualtrics, Google Forms): a row per person, a column per item.

A column names what it rates by the key of the segment and the system: `seg12_sysA`, `Q12[sysA]`, or
a row of a grid, `Rate segment 12 [sysA]`. A third part is a field: `seg12_sysA_comment`. Qualtrics
has two rows below the header: labels, and JSON with `ImportId`; where choices have numbers, the end
of their label is the system.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotation.uploads.formats.base import Content, Import, tables_of
from annotation.uploads.tables.rows import Cells, Row, Table
from metaeval.files.cells import is_missing, read_score
from metaeval.files.names import NAMES, column_of, is_called, is_field
from metaeval.messages import message, truncated

IMPORT_ID = '{"ImportId"'
LIMESURVEY = (("submitdate", "date submitted"), ("startlanguage", "start language"))
# A table with one of these has a row per item.
OF_ITEMS = ("segment", "document_place", "source", "output", "system", "score", "spans", "severity")
# What separates the parts of a name, the clearest first.
SIGNS = ("__", "|", "::", ":", "/", "_", " - ", " ", "-", ".")
IN_BRACKETS = re.compile(
    r"(?P<segment>[^\[\]]*[^\[\]\s])\s*\[(?P<system>[^\[\]]+)\](?:\[(?P<field>[^\[\]]+)\])?(?:\..*)?",
    re.DOTALL,
)
LONGEST = 300
# Measurements of pages by Qualtrics.
TIMINGS = ("First Click", "Last Click", "Page Submit", "Click Count")
FIELDS = {"score": ("score", "rating", *NAMES["score"]), "comment": ("comment", *NAMES["comment"]),
          "adequacy": ("adequacy",), "fluency": ("fluency",)}  # fmt: skip
# Columns of the person and the times, the most specific first.
ABOUT = {
    "annotator": ("annotator", *NAMES["annotator"], "prolific pid", "response id", "antwort id",
                  "id de la réponse", "id de respuesta", "回答id", "id", "token", "email",
                  "email address", "recipient email", "e-mail-adresse"),
    "submitted_at": ("submitted_at", "end date", "submitdate", "date submitted", "recorded date",
                     "datum abgeschickt", "timestamp", *NAMES["submitted_at"]),
}  # fmt: skip
# What is of the whole survey, and of no answer.
OF_SESSION = ("start date", "date started", "datum gestartet", "interviewtime", "total time",
              "started_at", *NAMES["started_at"], "seconds", *NAMES["seconds"])  # fmt: skip
# Where a survey keeps no times, LimeSurvey writes this one.
NO_TIME = "1980-01-01 00:00:00"
NUMBERED = message(
    "survey.persons-numbered",
    "No column has another name in every row, so the annotators are called 1, 2, … in order.",
)
SCORE = "score"
# Parts of a name in which a system is sought, from either end.
DEEPEST = 5
# Column -> segment, system and field.
Items = Mapping[str, tuple[str, str, str]]


def is_survey(table: Table) -> bool:
    """Return True for the signs of a tool, or for names of segments and systems over numbers.

    Names of the keys of JSON are joined by points; no survey is written so.
    """
    if not isinstance(table.rows, Cells):
        return False
    if _labels(table) is not None or all(_column(table, names) for names in LIMESURVEY):
        return True
    has_items = any(column_of(field, table.columns) for field in OF_ITEMS)
    if has_items or _column(table, ("item", "item_id")):
        return False
    is_form = bool(table.columns) and is_called(table.columns[0], ABOUT["submitted_at"])
    numbers = [column for column in table.columns[1:] if _has_numbers(table, column)]
    return bool(_items(table, {})) or (is_form and len(numbers) > 1)


def read(contents: Sequence[Content], to: Import) -> Iterator[Table]:
    """Yield a row for each answer of a person."""
    for table in tables_of(contents):
        labels = _labels(table)
        if labels is not None:
            end = next(n for n, (_, row) in enumerate(table.rows) if _is_of_ids(row)) + 1
            table = table.with_rows([n >= end for n in range(len(table.rows))])
        items = _items(table, labels or {})
        if items:
            yield _answers(table, items, to)
            continue
        refusal = message(
            "survey.no-items",
            "Each row has the answers of one person, but no column says which segment and system "
            "its numbers rate. Name the columns by both, such as seg12_sysA or Q12[sysA]. The "
            "columns are {columns}.",
            columns=truncated([table.titles.get(c, c) for c in table.columns], 30),
        )
        to.report.error(refusal, table.head)


def _labels(table: Table) -> Row | None:
    """Return the labels of columns where a row of import ids is below; None in other tables."""
    first = table.rows[:2]
    for n, (_, row) in enumerate(first):
        if _is_of_ids(row):
            return dict(first[0][1]) if n else {}
    return None


def _is_of_ids(row: Row) -> bool:
    cells = [cell for cell in row.values() if cell not in (None, "")]
    return bool(cells) and all(str(cell).startswith(IMPORT_ID) for cell in cells)


def _column(table: Table, names: Iterable[str]) -> str:
    return next((c for name in names for c in table.columns if is_called(c, (name,))), "")


def _has_numbers(table: Table, column: str) -> bool:
    """Return True if at least half of the cells that are not empty are numbers."""
    numbers = [read_score(cell) for cell in table.column(column) if not is_missing(cell)]
    return bool(numbers) and 2 * numbers.count(None) <= len(numbers)


def _items(table: Table, labels: Mapping[str, Any]) -> Items:
    """Return the columns of answers with their segments, systems and fields; none without any."""
    titles = {c: table.titles.get(c, c).strip() for c in table.columns}
    titles = {c: t for c, t in titles.items() if len(t) <= LONGEST and not is_field(t)
              and not t.endswith(TIMINGS)}  # fmt: skip
    found = _in_brackets(titles) or max((_split(titles, sign) for sign in SIGNS), key=_fit)
    usable = {c: i for c, i in found.items() if i[2] != SCORE or _has_numbers(table, c)}
    has_scores = any(field != "comment" for _, _, field in usable.values())
    return _with_labels(usable, labels) if has_scores else {}


def _in_brackets(titles: Mapping[str, str]) -> Items:
    """Return what is before brackets, without the words that all begin with, and within."""
    found = {c: match for c, title in titles.items() if (match := IN_BRACKETS.fullmatch(title))}
    words = {c: match["segment"].split() for c, match in found.items()}
    n_common = 0
    while len({tuple(own[: n_common + 1]) for own in words.values()}) == 1 and all(
        len(own) > n_common + 1 for own in words.values()
    ):
        n_common += 1
    return {
        c: (
            _bare(words[c][n_common:]),
            match["system"].strip(),
            _field(match["field"]) or SCORE,
        )
        for c, match in found.items()
    }


def _bare(words: Sequence[str]) -> str:
    """Return a key without the sign that ends its question."""
    key = " ".join(words)
    return key.rstrip("?:.,;？：。，； ") or key


def _split(titles: Mapping[str, str], sign: str) -> Items:
    """Return the parts of titles at a sign, where most segments have most systems."""
    parts = {c: title.split(sign) for c, title in titles.items() if sign in title.strip(sign)}
    fields = {c: _field(own[-1]) if len(own) > 2 else "" for c, own in parts.items()}
    parts = {c: own[:-1] if fields[c] else own for c, own in parts.items()}
    best: Items = {}
    for at in (place for n in range(1, DEEPEST) for place in (-n, n)):
        found = {
            c: (sign.join(own[:at]), sign.join(own[at:]), fields[c] or SCORE)
            for c, own in parts.items()
            if len(own) > abs(at)
        }
        best = max(best, _regular(found), key=_fit)
    return best


def _regular(found: Items) -> Items:
    """Return the items of systems that have several segments; none if a title says it twice."""
    pairs = {(segment, system) for segment, system, _ in found.values()}
    times = Counter(system for _, system in pairs)
    kept = {c: item for c, item in found.items() if times[item[1]] > 1 and all(item)}
    return kept if len(set(kept.values())) == len(kept) else {}


def _fit(items: Items) -> tuple[float, int]:
    """Return how many columns fill how much of segments × systems, and the number of segments."""
    pairs = {(segment, system) for segment, system, _ in items.values()}
    segments, systems = ({pair[n] for pair in pairs} for n in (0, 1))
    filled = len(pairs) / max(1, len(segments) * len(systems))
    return len(items) * filled, len(segments)


def _field(word: str | None) -> str:
    return next((field for field, names in FIELDS.items() if word and is_called(word, names)), "")


def _with_labels(items: Items, labels: Mapping[str, Any]) -> Items:
    """Return items whose systems are numbers of choices under the ends of their labels."""
    ends = {c: str(labels.get(c, "")).rpartition(" - ")[2].strip() for c in items}
    names = {(system, ends[c]) for c, (_, system, _) in items.items()}
    are_numbers = all(system.isdecimal() for system, _ in names)
    is_one_to_one = len(names) == len(dict(names)) == len({end for _, end in names})
    if not (are_numbers and is_one_to_one and all(ends.values())):
        return items
    return {c: (segment, ends[c], field) for c, (segment, _, field) in items.items()}


def _answers(table: Table, items: Items, to: Import) -> Table:
    """Return a table with a row for each item that a person answered."""
    about = {field: column for field, names in ABOUT.items() if (column := _column(table, names))}
    who = table.column(about["annotator"]) if "annotator" in about else []
    if len(set(map(str, who))) < len(table.rows) or any(map(is_missing, who)):
        about.pop("annotator", None)
        to.report.warn(NUMBERED, table.head)
    session = [c for c in table.columns if c not in items and is_called(c, OF_SESSION)]
    # The number of an answer is no item.
    numbers = (column for column in table.columns if is_called(column, ("id",)))
    taken = {*items, *about.values(), *session, *numbers}
    fields = dict.fromkeys(field for _, _, field in items.values())
    by_item: dict[tuple[str, str], dict[str, str]] = {}
    for column, (segment, system, field) in items.items():
        by_item.setdefault((segment, system), {})[field] = column
    rows: list[tuple[int, Row]] = []
    n_blank = 0
    for number, (line, row) in enumerate(table.rows, 1):
        common = {column: cell for column, cell in row.items() if column not in taken}
        common |= {field: row.get(column) for field, column in about.items()}
        common.setdefault("annotator", str(number))
        common |= {name: None for name, cell in common.items() if cell == NO_TIME}
        for (segment, system), answers in by_item.items():
            own = {field: row.get(column) for field, column in answers.items()}
            if all(cell in (None, "") for cell in own.values()):
                n_blank += 1
                continue
            rows.append((line, common | {"segment": segment, "system": system} | own))
    to.report.note(
        message(
            "survey.items",
            "{n} columns were read as items, such as “{column}” as segment “{segment}” and system "
            "“{system}”. Not answered: {blank}.",
            n=len(items),
            column=table.titles.get(column, column),
            segment=segment,
            system=system,
            blank=n_blank,
        ),
        table.head,
    )
    if session:
        text = message(
            "survey.of-session",
            "Not stored, because it is of the whole survey: {columns}.",
            columns=truncated([table.titles.get(column, column) for column in session]),
        )
        to.report.note(text, table.head)
    others = (column for column in table.columns if column not in taken)
    columns = list(dict.fromkeys(["annotator", "segment", "system", *fields, *about, *others]))
    return replace(
        table, columns=columns, rows=rows, titles={c: table.titles.get(c, c) for c in columns}
    )
