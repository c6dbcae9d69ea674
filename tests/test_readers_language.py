"""Researchers' pages in Chinese hold no English but names, code and what is stored."""

import re
import uuid
from collections import deque
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import Resolver404, resolve
from django.utils import translation

from annotation.adjudication.disagreements import disagreements, find
from annotation.management.commands.messages import READERS_PAGES, SENTENCES
from annotation.management.literals import literals, of_code
from annotation.models import (
    Adjudication,
    Annotator,
    Campaign,
    Segment,
    Stop,
    System,
    TestSet,
)
from annotation.qualification.stopping import stop
from annotation.web.sentences import Sentences, said
from dashboards.published import published
from metrics.families.judges.prompts import BUILT_IN
from metrics.registry import METRICS
from tests.dashboards.outputs import make_filterable
from tests.shared import SharedRows
from tests.world import World, make_campaign, make_demo

CHINESE = "zh-hans"
# Names of people, methods, measures, formats, programs and languages.
_NAMES = """
API Appraise atanh auto Ave BART baseline Benjamini BERT BERTScore bigrams BLEU BLEURT Bonferroni
BOTH bpe Brackets Carlo Celery Cheng Chinese CHK chrF clauses clp CLP Cohen cohen COMET cosine CPU
cpu CSV Ctrl DA data DeBERTa Deutsch Dropout English Enter ESA Fisher fit full German GiB Google GPU
gpu Graham HIT HMAC Hochberg Holm HTML hub idf info ISO IWSLT judges JSON JSONL Kendall KiB
Krippendorff LaTeX Lin Lines Liu Lo log Mann Markdown Mechanical MiB min MLQE MNLI Monte MoverScore
mqm MQM none notebook numpy Och Ollama Pango Parquet PDF Pearmut Pearson PERM pip PNG Perrella
Popović Prism Procrustes Prolific Python RankME RCSLS ReFreeEval released RoBERTa ROUGE rouge scipy
score seed sentBLEU SentSim SHA Shift Spearman Summarize SVG tau-b TED TER TeX TGT then torch
Touchstone Transformer Translate TSV Turk umd UMD Unicode unigram unigrams Unix UTC UTF WeasyPrint
Webhook webhook Wilcoxon Williams Wilson WMT Wu XBERTScore XCOMET XLM XMoverScore YiSi Zhang Zhao
Zou Čeština
"""
NAMES = frozenset(_NAMES.split())
# Texts that name columns of tables, and a published set.
STORED = re.compile(r"start_indices|^media 列|^检查 spans")
SKIPPED = frozenset({"datalist", "script", "style", "code", "pre", "kbd", "textarea", "template"})
# What no link leads to, or only a link from another page of its kind.
STARTS = (
    "/", "/glossary/", "/search/?q=rated", "/search/?q=none-is-called-so",
    "/campaigns/try-mqm/spans/", "/testsets/rated-set/spans/", "/testsets/rated-set/",
    "/campaigns/rated/access/", "/campaigns/rated/adjudication/", "/campaigns/rated/setup/",
    "/campaigns/asked/setup/", "/campaigns/asked/edit/", "/campaigns/asked/preview/",
    "/campaigns/asked/access/",
)  # fmt: skip
QUESTION = {"question": "评什么？", "choices": ["意思", "文风"], "right": 0}
TERMS: dict[str, Any] = {
    "comprehension": [QUESTION], "stop_after": 2, "hourly_rate": 12, "shows_pay": True,
    "seconds_per_word": 2, "is_private": True, "asks_background": True, "consent": "同意",
}  # fmt: skip
ANSWERS = {
    "segments": "document", "systems": "several",
    "scales": [{"name": "好坏", "min": -2, "max": 2, "labels": {"-2": "坏", "2": "好"}}],
    "choices": [{"name": "可用", "options": ["是", "否"]}],
}  # fmt: skip
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
        is_stored = STORED.search(" ".join(text.split()))
        if not is_stored and (words := set(WORD.findall(bare)) - NAMES):
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
        *(template.name for template in BUILT_IN.values()),
    ]
    flat = {name for row in rows for name in ([row] if isinstance(row, str) else row)}
    return sorted(filter(None, flat), key=len, reverse=True)


def visited(client: Client) -> Iterator[tuple[str, str]]:
    """One page of each address that links lead to, from the start page on."""
    waiting, seen = deque(STARTS), set[Any]()
    while waiting:
        address = waiting.popleft()
        try:
            found = resolve(address.split("?")[0])
        except Resolver404:
            continue
        if found.route.startswith(("api", "admin")):
            continue
        key = found.url_name, tuple(found.kwargs.get("kind", "") if found.kwargs else "")
        is_known = address in seen if address in STARTS else key in seen
        if is_known or "fmt" in found.kwargs or address.endswith(".html"):
            continue
        seen |= {key, address}
        answer = client.get(address, follow=True)
        if answer.status_code == 200 and answer["Content-Type"].startswith("text/html"):
            yield address, answer.text
            links = Visible(answer.text).links
            waiting.extend(link.split("#")[0] for link in links if link.startswith("/"))


def make_both() -> None:
    """The demo, a campaign with spans, layers and a study, and all that a campaign may ask."""
    make_demo()
    campaign = make_filterable()
    Campaign.objects.filter(pk=campaign.pk).update(**TERMS)
    make_decided(campaign)
    beside = {"transcript": "0:02 一", "glossary": "一", "register": "一", "instructions": "一"}
    campaign.test_set.segments.filter(position=0).update(beside=beside)
    make_campaign(campaign.test_set, "asked", **TERMS, answers=ANSWERS, edit_minutes=30)


def make_decided(campaign: Campaign) -> None:
    """Items that annotators rated apart, one of them decided, and people who were stopped."""
    find(campaign=campaign, gap=1, overlap=0.5)
    item = disagreements(campaign)[0].item
    Adjudication.objects.create(item=item, score=50, submit_key=uuid.uuid4())
    first, second, *_ = campaign.annotators.all()
    stop(first, Stop.Reason.TEST, n_failed=2)
    Stop.objects.filter(pk=stop(second, Stop.Reason.CHECKS, n_failed=3).pk).update(may_go_on=True)


@pytest.fixture(scope="module")
def rows(shared_rows: SharedRows[None]) -> Iterator[None]:
    with shared_rows(make_both):
        yield


@pytest.mark.usefixtures("kept_state")
def test_pages_have_no_english_words(rows: None, world: World, client: Client) -> None:
    client.force_login(world.admin)
    client.cookies["django_language"] = CHINESE
    names, found, seen = stored_names(), [], set()
    for address, page in visited(client):
        seen.add(address)
        assert f'<html lang="{CHINESE}"' in page, address
        found += [f"{address}: {text}" for text in left_over(page, names)]
    assert len(seen) > 60
    assert {*STARTS} <= seen
    assert any(address.startswith("/judges/templates/") for address in seen)
    assert found == [], "\n".join(found)


@pytest.mark.parametrize(
    "sample", ["<p>One more thing</p>", '<a aria-label="Next page"></a>', "<b>共 3 items</b>"]
)
def test_english_words_would_be_noticed(sample: str) -> None:
    assert list(left_over(sample, []))


@pytest.mark.parametrize("sample", ["<code>run it</code>", '<p lang="en">A title</p>', "BLEU 指标"])
def test_code_names_and_other_languages_are_left_alone(sample: str) -> None:
    assert not list(left_over(sample, []))


def test_sentences_are_those_of_the_code() -> None:
    """What `said.po` translates is still said; nothing is left of what no longer is."""
    code = literals(Path(settings.BASE_DIR))
    for texts in (SENTENCES, READERS_PAGES):
        known = {message.id for message in texts.collect() if message.id}
        stored = [message for message in texts.read(CHINESE) if message.id]
        assert {message.id for message in stored} == known
        assert all(message.string and message.string != ("",) for message in stored)
        assert len(stored) > 1000
    assert {message.id for message in SENTENCES.read(CHINESE) if message.id} <= code


def test_texts_of_code_are_patterns() -> None:
    found = set(
        of_code('f"{n} of {len(rows)} rows of {row.name}: 5 %"\n"{a} is {b}".format(a=1, b=2)')
    )
    assert {"%(n)s of %(len)s rows of %(name)s: 5 %%", "%(a)s is %(b)s"} <= found


SAID = {
    "Nothing yet.": "尚无。",
    "%(n)s systems": "%(n)s 个系统",
    "%(label)s has no scores: %(why)s.": "%(label)s 没有分数：%(why)s。",
    "nobody rated": "无人评分",
    "metrics": "指标",
    "%(share)s%% of %(n)s ratings": "%(n)s 次评分的 %(share)s%%",
}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Nothing yet.", "尚无。"),
        (" Nothing yet. ", " 尚无。 "),
        ("1,204 systems", "1,204 个系统"),
        ("COMET has no scores: nobody rated.", "COMET 没有分数：无人评分。"),
        ("Nothing yet has no scores: metrics.", "Nothing yet 没有分数：指标。"),
        ("many systems", "many systems"),
        ("80% of 12 ratings", "12 次评分的 80%"),
        ("3 systems · nobody rated", "3 个系统 · 无人评分"),
        ("What nobody says", "What nobody says"),
        ("", ""),
    ],
)
def test_sentences_are_filled_with_what_was_said(text: str, told: str) -> None:
    assert Sentences(SAID).whole(text) == told


def test_no_other_language_changes_what_python_says() -> None:
    for language in ("en", "de", "ar"):
        with translation.override(language):
            assert said("Correction") == "Correction"
    with translation.override(CHINESE):
        assert said("Correction") == "校正"


@pytest.mark.usefixtures("rows")
def test_files_are_the_same_in_every_language(world: World, client: Client) -> None:
    client.force_login(world.admin)
    for address in ("correlations.csv", "correlations.json", "correlations.tex", "quality.csv"):
        texts = []
        for code in ("en", CHINESE):
            client.cookies["django_language"] = code
            texts.append(client.get(f"/campaigns/rated/{address}").getvalue())
        assert texts[0] == texts[1], address


@pytest.mark.usefixtures("rows")
def test_a_page_in_another_language_is_another_page(world: World, client: Client) -> None:
    client.force_login(world.admin)
    tags = set()
    for code in ("en", CHINESE):
        client.cookies["django_language"] = code
        tags.add(client.get("/campaigns/rated/correlations/")["ETag"])
    assert len(tags) == 2
