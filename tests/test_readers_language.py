"""Researchers' pages in Chinese hold no English but names, code and what is stored."""

import uuid
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import Resolver404, resolve
from django.utils import translation

from annotation.adjudication.disagreements import disagreements, find
from annotation.imports.judgments.fields import FIELDS
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
from annotation.templatetags.said import dated, grouped
from annotation.web.sentences import Sentences, said
from core.extensions import template_folders
from dashboards.published import published
from extensions.judges.prompts import BUILT_IN
from metrics.registry import METRICS
from tests.dashboards.chinese import CHINESE, Visible, left_over, told
from tests.dashboards.outputs import make_filterable
from tests.shared import SharedRows
from tests.world import World, make_campaign, make_demo

NEEDS = {
    "extensions.studies",
    "extensions.comparison",
    "extensions.layers",
    "extensions.shortness",
    "extensions.trials",
}

# What a finished campaign and its study have: links may lead to another that has no results.
FINISHED = (
    "", "results/", "report/", "correlations/", "significance/", "layers/", "scatter/", "systems/",
    "metrics-pair/", "systems-pair/", "spans/", "shortness/", "whatif/", "samplesize/",
    "power/", "monitor/", "quality/", "trial/", "bundle/",
)  # fmt: skip
STUDY = ("", "quality/", "systems/", "shortness/")
# What no link leads to, or only a link from another page of its kind.
STARTS = (
    "/", "/glossary/", "/search/?q=rated", "/search/?q=none-is-called-so",
    "/campaigns/try-mqm/spans/", "/testsets/rated-set/spans/", "/testsets/rated-set/",
    "/campaigns/rated/access/", "/campaigns/rated/adjudication/", "/campaigns/rated/setup/",
    "/campaigns/asked/setup/", "/campaigns/asked/edit/", "/campaigns/asked/preview/",
    "/campaigns/asked/access/",
    *(f"/campaigns/rated/{page}" for page in FINISHED),
    *(f"/studies/port/{page}" for page in STUDY),
)  # fmt: skip
QUESTION = {"question": "评什么？", "choices": ["意思", "文风"], "right": 0}
TERMS: dict[str, Any] = {
    "comprehension": [QUESTION], "stop_after": 2, "speed_rule": "slow", "hourly_rate": 12,
    "shows_pay": True, "seconds_per_word": 2, "is_private": True, "asks_background": True,
    "consent": "同意",
}  # fmt: skip
ANSWERS = {
    "segments": "document", "systems": "several",
    "scales": [{"name": "好坏", "min": -2, "max": 2, "labels": {"-2": "坏", "2": "好"}}],
    "choices": [{"name": "可用", "options": ["是", "否"]}],
}  # fmt: skip


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
    first, second, third, *_ = campaign.annotators.all()
    stop(first, Stop.Reason.TEST, n_failed=2)
    stop(third, Stop.Reason.SPEED, n_failed=6)
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
    "%(names)s are worse, %(p)s%(after)s.": "%(names)s更差，%(p)s%(after)s。",
    "after correction": "（校正后）",
    "and": "和",
    "%(value)s others": "另外 %(value)s 个",
    "accuracy": "准确率",
    "no system “%(name)s”%(near)s": "没有系统“%(name)s”%(near)s",
    "there are %(listed)s": "有 %(listed)s",
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
        # The names of a list may have brackets; of a p the sign belongs to it.
        (
            "TER (a, b), BLEU and 3 others are worse, p ≤ .02 after correction.",
            "TER (a, b), BLEU 和 另外 3 个更差，p ≤ .02 （校正后）。",
        ),
        ("Nothing yet. 3 systems", "尚无。 3 个系统"),
        ("nothing yet.", "尚无。"),
        ("3 systems (nobody rated)", "3 个系统 (无人评分)"),
        ("COMET (nobody rated)", "COMET (nobody rated)"),
        ("accuracy\N{NO-BREAK SPACE}.64", "准确率\N{NO-BREAK SPACE}.64"),
        ("no system “x”", "没有系统“x”"),
        ("no system “x”; there are A, b and 3 others", "没有系统“x”; 有 A, b 和 另外 3 个"),
        ("", ""),
    ],
)
def test_sentences_are_filled_with_what_was_said(text: str, told: str) -> None:
    assert Sentences(SAID).whole(text) == told


def test_remarks_on_one_or_many_annotators_are_told() -> None:
    one, three = (
        [f"Annotator P{n} {what}" for n in range(many)]
        for many, what in (
            (1, "has a single judgment in the pool: no z-scores."),
            (3, "gave the same score 80 times: z-scores are undefined."),
        )
    )
    (single,), (constant,) = grouped(one), grouped(three)
    assert constant.names == ["P0", "P1", "P2"]
    told(single.text, constant.text, names=["P0"])


def test_what_the_check_of_a_table_finds_is_told() -> None:
    told(
        *(field.label for field in FIELDS),
        "2 rows without score and error: nothing was answered there",
        "1 judgment with impossible times (end before start): kept without them",
        "4 times without a time zone: read as UTC, as no other was said",
        "-5 seconds cannot have passed",
        "it is not said who judged",
        "it is not said which segment this is",
        "“2 June” is no time in ISO 8601 and no Unix time",
        "“abc” is no number",
        "the score 130 is outside the stated scale 0–100",
        "segment “9” has no source text, while others have one",
        names=["June", "abc"],
    )


def test_a_page_says_moments_as_people_do() -> None:
    sentence = "Intervals are as of 2026-03-05 14:07:31 UTC, of 12-11."
    assert dated(sentence) == "Intervals are as of 5 Mar 2026, 14:07 UTC, of 12-11."


def test_no_page_has_iso_dates() -> None:
    """Files and what prints have; `datetime` is for machines."""
    folders = template_folders(Path(settings.BASE_DIR))
    templates = [path for folder in folders for path in folder.rglob("*.html")]
    found = {path.name for path in templates if 'date:"Y-' in path.read_text(encoding="utf-8")}
    assert found == set()


def test_no_other_language_changes_what_python_says() -> None:
    for language in ("en", "de", "ar"):
        with translation.override(language):
            assert said("Correction") == "Correction"
    with translation.override(CHINESE):
        assert said("Correction") == "校正"
        assert said(" agrees best with the humans, ") == " 与人工最一致，"


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
