"""Researchers' pages in Chinese hold no English but names, code and what is stored."""

import re
from collections import deque
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import Resolver404, resolve

from annotation.management.commands.messages import READERS_PAGES, SENTENCES
from annotation.management.literals import literals, of_code
from annotation.models import Annotator, Campaign, Segment, System, TestSet
from annotation.web.sentences import Sentences, said
from dashboards.published import published
from metrics.registry import METRICS
from tests.dashboards.outputs import make_filterable
from tests.shared import SharedRows
from tests.world import World, make_demo

CHINESE = "zh-hans"
# Names of people, methods, measures, formats, programs and languages.
NAMES = frozenset(
    """
    Touchstone Kendall Pearson Spearman Krippendorff Cohen Holm Bonferroni Benjamini Hochberg Zou
    Williams Wilcoxon Fisher Graham Liu Mann Deutsch Cheng Zhao Wilson Wu Zhang Lin Och Popović Lo
    Procrustes Translate then Summarize RankME WMT IWSLT TED HIT MLQE MQM ESA DA TGT CHK
    BLEU sentBLEU chrF TER ROUGE BERTScore COMET BLEURT YiSi SentSim MoverScore XMoverScore XBERTScore
    ReFreeEval BERT RoBERTa XLM MNLI DeBERTa BART XCOMET PERM BOTH CLP UMD RCSLS idf
    CSV JSON JSONL TSV TeX LaTeX SVG PDF PNG SHA HMAC Parquet Lines Markdown webhook Webhook HTML UTF
    Appraise Pearmut Prolific Mechanical Turk GPU CPU torch Pango WeasyPrint hub notebook API Unix ISO
    Google rouge score pip Celery Ctrl Shift Enter Monte Carlo UTC KiB MiB GiB min ReFreeEval Ave
    numpy scipy gpu cpu full clauses released auto bpe unigram bigrams unigrams clp umd Dropout fit
    info data baseline German Chinese none mqm
    cohen seed tau-b atanh log Brackets Deutsch Čeština English
    """.split()
)
SKIPPED = frozenset({"datalist", "script", "style", "code", "pre", "kbd", "textarea", "template"})
READ_ALOUD = frozenset({"alt", "title", "aria-label", "placeholder", "data-of", "data-label"})
VOID = frozenset({"input", "img", "br", "meta", "link", "hr", "wbr", "col", "source"})
WORD = re.compile(r"(?<![\w./@%{&-])[A-Za-z][a-z]{2,}(?![\w./@}-])")


class Visible(HTMLParser):
    """What a reader sees or hears of a page, without code and texts of other languages."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.texts: list[str] = []
        self.links: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag == "a":
            self.links.append(known.get("href") or "")
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
        if not any(hides for _, hides in self.open):
            self.texts.append(data)


def left_over(page: str, stored: list[str]) -> Iterator[str]:
    """The texts of a page that still have English words."""
    for text in Visible(page).texts:
        bare = " ".join(text.split())
        for name in stored:
            bare = bare.replace(name, " ")
        if words := set(WORD.findall(bare)) - NAMES:
            yield f"{sorted(words)} in {' '.join(text.split())!r}"


def stored_names() -> list[str]:
    """What people called things, the longest first."""
    rows: list[Any] = [
        *Campaign.objects.values_list("name", "slug", "study"),
        *TestSet.objects.values_list("name", "slug"),
        *System.objects.values_list("name", flat=True),
        *Segment.objects.values_list("document", flat=True).distinct(),
        *Annotator.objects.values_list("label", flat=True),
        *User.objects.values_list("username", flat=True),
        *(table.title for table in published().values()),
        *((info.name, info.label) for info, *_ in METRICS.values()),
    ]
    flat = {name for row in rows for name in ([row] if isinstance(row, str) else row)}
    return sorted(filter(None, flat), key=len, reverse=True)


def visited(client: Client) -> Iterator[tuple[str, str]]:
    """One page of each address that links lead to, from the start page on."""
    waiting, seen = deque(["/", "/glossary/"]), set()
    while waiting:
        address = waiting.popleft()
        try:
            found = resolve(address.split("?")[0])
        except Resolver404:
            continue
        if found.route.startswith(("api", "admin")):
            continue
        key = found.url_name, tuple(found.kwargs.get("kind", "") if found.kwargs else "")
        if key in seen or "fmt" in found.kwargs or address.endswith(".html"):
            continue
        seen.add(key)
        answer = client.get(address, follow=True)
        if answer.status_code == 200 and answer["Content-Type"].startswith("text/html"):
            yield address, answer.text
            links = Visible(answer.text).links
            waiting.extend(link.split("#")[0] for link in links if link.startswith("/"))


def make_both() -> None:
    """The demo and a campaign with spans, layers and a study."""
    make_demo()
    make_filterable()


@pytest.fixture(scope="module")
def rows(shared_rows: SharedRows[None]) -> Iterator[None]:
    with shared_rows(make_both):
        yield


@pytest.mark.usefixtures("kept_state")
def test_pages_have_no_english_words(rows: None, world: World, client: Client) -> None:
    client.force_login(world.admin)
    client.cookies["django_language"] = CHINESE
    names, found, seen = stored_names(), [], 0
    for address, page in visited(client):
        seen += 1
        assert f'<html lang="{CHINESE}"' in page, address
        found += [f"{address}: {text}" for text in left_over(page, names)]
    assert seen > 60
    assert found == [], "\n".join(found)
