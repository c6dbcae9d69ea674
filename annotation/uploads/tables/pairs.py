"""Language pairs that tables name, and the rows of the one that is wanted."""

import re
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import Any

from annotation.uploads.problems import Report
from annotation.uploads.tables.rows import Table
from core import languages
from core.text import join_truncated, pluralize

BETWEEN = re.compile(r"[-–—→>_/|: ]+")
PAIR, SOURCE, TARGET = FIELDS = ("language_pair", "source_language", "target_language")
Pair = tuple[str, str]


@lru_cache(maxsize=1_024)
def pair_of(text: str) -> Pair:
    """Return the two languages of `en-de`, `zh-Hans-en`, `eng_deu`, `en→de`, `ende` or of names.

    Raises ValueError. Where several readings are possible, the one with the shortest source is
    taken.

    >>> pair_of("English-German"), pair_of("enda"), pair_of("en-cs_CZ")
    (('en', 'de'), ('en', 'da'), ('en', 'cs-CZ'))
    """
    parts = BETWEEN.split(text.strip())
    if len(parts) == 1 and len(text.strip()) in (4, 6) and text.isascii():
        half = len(parts[0]) // 2
        parts = [parts[0][:half], parts[0][half:]]
    for place in range(1, len(parts)):
        try:
            return code_of("-".join(parts[:place])), code_of("-".join(parts[place:]))
        except ValueError:
            continue
    raise ValueError(f"“{text[:40]}” is no language pair; write it as en-de")


def code_of(text: str) -> str:
    """Return the code of a language; a script that it is always written in is left out.

    Raises ValueError where a text is neither a code nor a name.
    """
    code = languages.normalise(text) if languages.is_valid(text) else languages.find(text)
    language, _, rest = code.partition("-")
    is_usual = len(rest) == 4 and rest == languages.script(language) and language != "zh"
    return language if is_usual else code


def of_row(row: dict[str, Any]) -> Pair | None:
    """Return the languages that a row names, a part that it does not name empty.

    None where it names none. Raises ValueError for what is no language.
    """
    if text := _text(row, PAIR):
        return pair_of(text)
    source, target = (_text(row, name) for name in (SOURCE, TARGET))
    if not source and not target:
        return None
    return code_of(source) if source else "", code_of(target) if target else ""


def keep_pair(table: Table, wanted: Pair, report: Report) -> Table:
    """Return the table with its rows of one language pair; what is left out is said.

    Where no row has the very codes, the languages alone are compared. Rows that name no languages
    are of any pair.
    """
    if not set(FIELDS) & set(table.columns):
        return table
    pairs: list[Pair | None] = []
    for line, row in table.rows:
        try:
            pairs.append(of_row(row))
        except ValueError as error:
            pairs.append(("", ""))
            report.error(str(error), table.head._replace(row=line))
    is_exact = any(pair is not None and _fits(pair, wanted) for pair in pairs)
    kept = [
        row
        for row, pair in zip(table.rows, pairs, strict=True)
        if pair is None or _fits(pair, wanted, is_exact=is_exact)
    ]
    _say(table, kept, pairs, wanted, report)
    return replace(table, rows=kept)


def _fits(pair: Pair, wanted: Pair, *, is_exact: bool = True) -> bool:
    write = str if is_exact else languages.bare
    return all(not own or write(own) == write(code) for own, code in zip(pair, wanted, strict=True))


def _say(table: Table, kept: Any, pairs: Any, wanted: Pair, report: Report) -> None:
    if len(kept) == len(table.rows):
        return
    found = Counter(f"{pair[0]}→{pair[1]}" for pair in pairs if pair is not None)
    named = join_truncated([f"{name} ({n:,})" for name, n in found.most_common()], 20)
    own = "→".join(wanted)
    if not kept:
        report.error(f"no row is of {own}; there are {named}", table.head)
        return
    rows = pluralize(len(table.rows) - len(kept), "row is", "rows are")
    report.warn(
        f"{rows} of other languages than {own} and left out: the rows are of {named}. Send the "
        "file again for each of them",
        table.head,
    )


def _text(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    return value.strip() if isinstance(value, str) else ""


# Ids of WMT25 and 26: languages, domain, document and paragraph, `en-cs_CZ_#_news_#_doc1_#_0`.
IN_ID = re.compile(r"_#+_")
LAST = re.compile(r"_#+_\d+$")


def languages_of(key: str) -> Pair | tuple[()]:
    """Return the languages that an id names, nothing where it names none.

    >>> languages_of("WMT26_###_news_###_eng_Latn_###_zho_Hant_TW_###_d0")
    ('en', 'zh-Hant-TW')
    """
    parts = IN_ID.split(key)
    if len(parts) < 3:
        return ()
    for text in (parts[0], *("-".join(parts[n : n + 2]) for n in range(len(parts) - 1))):
        try:
            return pair_of(text)
        except ValueError:
            continue
    return ()


def document_of(key: str) -> str:
    """Return the id without the place of a paragraph."""
    return LAST.sub("", key)
