"""Suggest a name for the campaign of tables that state none."""

import re
from collections.abc import Sequence
from pathlib import PurePath

from annotation.imports.judgments.options import Options
from annotation.imports.judgments.rows import Row
from annotation.models import TestSet
from annotation.uploads.files import InputFile
from annotation.uploads.tables.pairs import of_row
from core.languages import LanguageError

# Names of files that say what every such file holds.
GENERIC = frozenset(
    (
        *("annotation", "annotations", "campaign", "copy", "csv", "da", "data", "download", "esa"),
        *("evaluation", "export", "final", "human", "humeval", "judgement", "judgements"),
        *("judgment", "judgments", "mqm", "new", "output", "outputs", "published", "rating"),
        *("ratings", "result", "results", "score", "scores", "seg", "segment", "segments", "sheet"),
        *("sys", "system", "systems", "table", "tables", "tabelle", "test", "tsv", "untitled"),
    )
)
FOLDERS = frozenset({"desktop", "documents", "downloads", "home", "tmp", "temp"})


def is_generic(name: str) -> bool:
    """Return True if a name says no more than what kind of file this is.

    >>> is_generic("judgments (2)"), is_generic("wmt24-judgments")
    (True, False)
    """
    words = re.findall(r"[^\W\d_]+", name.lower())
    return bool(words) and not set(words) - GENERIC


def name_of(options: Options, files: Sequence[InputFile], rows: Sequence[Row]) -> str:
    """Return the stated name; else the only campaign of the rows, the file, the study, the stored
    test set, or the folder; and else the file with the language pair."""
    stem = PurePath(files[0].name).stem
    campaigns = {row.name("campaign") for row in rows}
    pair = _pair(options, rows)
    candidates = (
        options.name,
        campaigns.pop() if len(campaigns) == 1 else "",
        "" if is_generic(stem) else stem,
        options.study,
        _of_test_set(options.test_set),
        "" if {options.folder.lower()} & (FOLDERS | GENERIC) else options.folder,
    )
    return next(filter(None, candidates), f"{stem} {pair}".strip())


def _of_test_set(slug: str) -> str:
    test_set = TestSet.objects.filter(slug=slug).first() if slug else None
    if test_set is None:
        return ""
    code = test_set.direction
    return test_set.name if code in test_set.name else f"{test_set.name} {code}"


def _pair(options: Options, rows: Sequence[Row]) -> str:
    """Return the only language pair of rows, empty where there are several: they name it."""
    stated = options.source_language, options.target_language
    pairs = set()
    for row in rows:
        try:
            source, target = of_row(row.cells) or ("", "")
        except LanguageError:
            return ""
        pairs.add((source or stated[0], target or stated[1]))
    return "-".join(pairs.pop()) if len(pairs) == 1 else ""
