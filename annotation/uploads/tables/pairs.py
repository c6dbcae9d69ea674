"""Language pairs that tables name, and the rows of one pair."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Any

from annotation.uploads.drafts import SOURCE_LANGUAGE, TARGET_LANGUAGE
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.rows import Table
from core import languages
from metaeval.files.names import column_of, is_known
from metaeval.messages import Message, Parameter, message, plural, truncated

NAMES = (SOURCE_LANGUAGE, TARGET_LANGUAGE)
UNSTATED = {
    field: message(
        "language.unstated",
        "No file states the {language}. Enter it, or add a column for it.",
        language=field,
    )
    for field in NAMES
}
BETWEEN = re.compile(r"[-–—→>_/|: ]+")
PAIR, SOURCE, TARGET = FIELDS = ("language_pair", "source_language", "target_language")
Pair = tuple[str, str]


@lru_cache(maxsize=1_024)
def pair_of(text: str) -> Pair:
    """Return the two languages of `en-de`, `zh-Hans-en`, `eng_deu`, `en→de`, `ende` or of names.

    Raises LanguageError. If several readings are possible, the one with the shortest source is
    used.

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
    raise languages.LanguageError(
        message(
            "language.pair-unknown",
            "“{text}” is not a language pair. Use a pair such as en-de.",
            text=text[:40],
        )
    )


def code_of(text: str) -> str:
    """Return the code of a language without its usual script.

    Raises LanguageError if a text is neither a code nor a name.
    """
    code = languages.normalise(text) if languages.is_valid(text) else languages.find(text)
    language, _, rest = code.partition("-")
    is_usual = len(rest) == 4 and rest == languages.script(language) and language != "zh"
    return language if is_usual else code


def of_row(row: dict[str, Any]) -> Pair | None:
    """Return the languages that a row names, with an empty code for one that it does not name.

    None if it names no language. Raises LanguageError for an unknown language.
    """
    if text := _text(row, PAIR):
        return pair_of(text)
    source, target = (_text(row, name) for name in (SOURCE, TARGET))
    if not source and not target:
        return None
    return code_of(source) if source else "", code_of(target) if target else ""


def with_languages(table: Table, pair: Pair, target: str, report: Report) -> Table:
    """Return a table whose columns `en` and `translation.de` are the texts of a pair.

    Those of the source language are sources, the others the field ``target``.
    Other columns that can be these go first. A word such as `id` is a language beside the other one
    only.
    """
    found: dict[str, str] = {}
    for language, field in zip(pair, ("source", target), strict=True):
        if language and not column_of(field, table.columns):
            named = (c for c in table.columns if _is_language(table.titles.get(c, c), language))
            found |= {column: field for column in islice(named, 1) if column not in found}
    found = {c: field for c, field in found.items() if len(found) > 1 or not is_known(c)}
    if not found:
        return table
    titles = {found.get(c, c): table.titles.get(c, c) for c in table.columns}
    text = message(
        "columns.of-languages",
        "Columns were read by their languages: {pairs}.",
        pairs=[
            message("columns.pair", "“{column}” as {field}", column=titles[field], field=field)
            for field in found.values()
        ],
    )
    report.note(text, table.head)
    report.name_columns(table.file, titles)
    own = table.with_columns({c: found.get(c, c) for c in table.columns})
    return replace(own, titles=titles)


def _is_language(title: str, language: str) -> bool:
    try:
        found = languages.find(title.rpartition(".")[2])
    except languages.LanguageError:
        return False
    return languages.bare(found) == languages.bare(language)


ALL = "all"
PAIR_HELP = (
    "the language pair whose rows are read, such as en-de, or all: one test set for each pair of "
    "the tables, NAME-en-de and so on"
)


def pairs_of(table: Table, report: Report) -> list[Pair | None]:
    """Return the languages of every row; None, with the reason reported, for unknown ones."""
    if not set(FIELDS) & set(table.columns):
        return [None] * len(table.rows)
    pairs: list[Pair | None] = []
    for line, row in table.rows:
        try:
            pairs.append(of_row(row))
        except languages.LanguageError as error:
            pairs.append(("", ""))
            report.error(error.message, table.head._replace(row=line))
    return pairs


def stated_by(tables: Iterable[Table], wanted: Pair, report: Report) -> Pair:
    """Return a language pair with its empty codes filled in from tables.

    If these have several, the most frequent code is used, and the report has an error.
    """
    if all(wanted):
        return wanted
    of_rows = (pair for table in tables for pair in pairs_of(table, Report()))
    counts = Counter(pair for pair in of_rows if pair and any(pair))
    counts = Counter({pair: n for pair, n in counts.items() if _fits(pair, wanted, is_exact=False)})
    pairs = [pair for pair, _ in counts.most_common()] or [wanted]
    sides = [[*dict.fromkeys(filter(None, side))] for side in zip(*pairs, strict=True)]
    for code, codes, field in zip(wanted, sides, NAMES, strict=True):
        if not code and len(codes) > 1:
            text = message(
                "pair.several",
                "The rows have several language pairs: {pairs}. Choose one, or one test set for "
                "each pair (command line: --pair).",
                pairs=_named(counts),
            )
            report.error(text, Place(field=field))
            break
    source, target = (
        code or next(iter(codes), "") for code, codes in zip(wanted, sides, strict=True)
    )
    return source, target


def keep_pair(
    table: Table,
    wanted: Pair,
    report: Report,
    *,
    of_test_set: bool = False,
    is_one_of_all: bool = False,
) -> tuple[Table, Counter[Pair]]:
    """Return the table with its rows of one language pair, and the numbers of rows of all pairs.

    If no row has exactly these codes, only the languages are compared. Rows that name no languages
    belong to every pair. Skipped rows are reported; with `of_test_set` they belong to other stored
    test sets. With `is_one_of_all` all pairs are read, and none is skipped.
    """
    if not set(FIELDS) & set(table.columns):
        return table, Counter()
    pairs = pairs_of(table, report)
    counts = Counter(pair for pair in pairs if pair and any(pair))
    is_exact = any(pair is not None and _fits(pair, wanted) for pair in pairs)
    fits = {pair: pair is None or _fits(pair, wanted, is_exact=is_exact) for pair in set(pairs)}
    chosen = list(map(fits.__getitem__, pairs))
    n_skipped = chosen.count(False)
    if n_skipped and not is_one_of_all:
        others = _named(counts)
        report_skipped = _of_other_sets if of_test_set else _of_other_pairs
        if any(chosen):
            report.warn(report_skipped(n_skipped, wanted, others), table.head)
        else:
            text = message(
                "pair.none",
                "No row has the language pair {pair}. The rows have {others}.",
                pair="→".join(wanted),
                others=others,
            )
            report.error(text, table.head)
    return table.with_rows(chosen), counts


def _fits(pair: Pair, wanted: Pair, *, is_exact: bool = True) -> bool:
    write = str if is_exact else languages.bare
    sides = zip(pair, wanted, strict=True)
    return all(not own or not code or write(own) == write(code) for own, code in sides)


def _named(counts: Counter[Pair]) -> list[Parameter]:
    return truncated(
        [
            message("pair.rows", "{pair} ({n})", pair="→".join(pair), n=n)
            for pair, n in counts.most_common()
        ],
        20,
    )


def _of_other_pairs(n: int, wanted: Pair, others: Sequence[Parameter]) -> Message:
    return plural(
        "pair.skipped",
        "Skipped {n} row whose language pair is not {pair}. The rows have {others}. Choose "
        "another pair, or one test set for each pair (command line: --pair all).",
        "Skipped {n} rows whose language pair is not {pair}. The rows have {others}. Choose "
        "another pair, or one test set for each pair (command line: --pair all).",
        n=n,
        pair="→".join(wanted),
        others=list(others),
    )


def _of_other_sets(n: int, wanted: Pair, others: Sequence[Parameter]) -> Message:
    return plural(
        "pair.of-other-test-sets",
        "Skipped {n} row whose language pair is not {pair}, that of the test set. The rows have "
        "{others}. Import the file into the test set of each pair, too.",
        "Skipped {n} rows whose language pair is not {pair}, that of the test set. The rows have "
        "{others}. Import the file into the test set of each pair, too.",
        n=n,
        pair="→".join(wanted),
        others=list(others),
    )


def _text(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    return value.strip() if isinstance(value, str) else ""


# Ids of WMT25 and 26: languages, domain, document and paragraph, `en-cs_CZ_#_news_#_doc1_#_0`.
IN_ID = re.compile(r"_#+_")
LAST = re.compile(r"_#+_\d+$")


def languages_of(key: str) -> Pair | tuple[()]:
    """Return the languages that an id names; empty if it names none.

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
    """Return the id without the number of a paragraph."""
    return LAST.sub("", key)
