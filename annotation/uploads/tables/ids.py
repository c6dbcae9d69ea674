"""Ids of WMT25 and 26, such as `en-cs_CZ_#_news_#_doc1_#_0`: languages, domain, document, place."""

import re

from annotation.uploads.tables.pairs import Pair, pair_of

BETWEEN = re.compile(r"_#+_")
PLACE = re.compile(r"_#+_\d+$")


def languages_of(key: str) -> Pair | tuple[()]:
    """Return the languages that an id names, nothing where it names none.

    >>> languages_of("WMT26_###_news_###_eng_Latn_###_zho_Hant_TW_###_d0")
    ('en', 'zh-Hant-TW')
    """
    parts = BETWEEN.split(key)
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
    return PLACE.sub("", key)
