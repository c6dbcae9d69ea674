"""A language made of 字: what stays English on a page was never given to translators.

Every text that goes through gettext loses its Latin letters, whether a translation exists or not.
Names that people gave, and code, keep theirs.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any
from unittest.mock import patch

from django.utils.translation import trans_real

CHINESE = "zh-hans"
# What a translation keeps: placeholders, markup, entities.
KEPT = re.compile(r"%(?:\(\w+\))?[sd]|%%|\{[^{}]*\}|<[^>]*>|&\w+;")
CONTEXT = "\4"
SKIPPED = frozenset({"datalist", "script", "style", "code", "pre", "kbd", "textarea", "template"})
READ_ALOUD = frozenset({"alt", "title", "aria-label", "placeholder", "data-of", "data-label"})
VOID = frozenset({"input", "img", "br", "meta", "link", "hr", "wbr", "col", "source"})
# Names of methods, people, programs and places of work; a translation has them, too.
_NAMES = """
Touchstone Appraise Benjamini bert Bonferroni Brackets Celery Cohen cpu distilbert English gpu
Cheng Graham Hochberg Holm JSON judges documents clp umd Kendall Krippendorff Markdown mqm Parquet
Pearmut Pearson Prism Python roberta Song Spearman Unbabel Unicode Wilson xlm
bigrams cosine Likelihood Lines unigrams spans words
"""
NAMES = frozenset(_NAMES.split())
WORD = re.compile(
    r"(?<![^\W\u4e00-\u9fff])(?<![./@%{&-])[A-Za-z][a-z]{2,}(?![^\W\u4e00-\u9fff])(?![./@}-])"
)


def pseudo(text: str) -> str:
    """Return a text in the made-up language."""
    text = text.rpartition(CONTEXT)[2]
    found, end = [], 0
    for kept in KEPT.finditer(text):
        found += [re.sub(r"[A-Za-z]", "字", text[end : kept.start()]), kept[0]]
        end = kept.end()
    return "".join([*found, re.sub(r"[A-Za-z]", "字", text[end:])])


@contextmanager
def pseudo_chinese() -> Iterator[None]:
    """Let Chinese be the made-up language."""
    catalog: Any = trans_real.translation(CHINESE)

    def plural(one: str, many: str, n: int) -> str:
        return pseudo(one if n == 1 else many)

    with patch.object(catalog, "gettext", pseudo), patch.object(catalog, "ngettext", plural):
        yield


class Visible(HTMLParser):
    """What a reader sees or hears of a page, without code and texts of other languages."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.value = ""
        self.texts: list[str] = []
        self.links: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag == "a":
            self.links.append(known.get("href") or "")
        self.value = known.get("value") or "" if tag == "option" else ""
        is_other = tag != "html" and "lang" in known
        hidden = tag in SKIPPED or is_other or any(hides for _, hides in self.open)
        if not hidden:
            self.texts += [value for name, value in attrs if name in READ_ALOUD and value]
        if tag not in VOID:
            self.open.append((tag, hidden))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        # A choice that is shown as it is stored is no text.
        if not any(hides for _, hides in self.open) and data.strip() != self.value:
            self.texts.append(data)


def english(page: str, names: Sequence[str]) -> Iterator[str]:
    """Each text of a page with English words that are no names, and the words."""
    for text in Visible(page).texts:
        whole = bare = " ".join(text.split())
        for name in names:
            bare = bare.replace(name, " ")
        if words := sorted({*WORD.findall(bare)} - NAMES):
            yield f"{words} in {whole!r}"
