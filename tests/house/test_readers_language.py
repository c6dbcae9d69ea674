"""Researchers' pages hold no words that cannot be translated, but names, code and stored text."""

import uuid
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import Resolver404, resolve

from annotation.adjudication import disagreements, find
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
from annotation.uploads.formats.registry import declared
from core.extensions import template_folders
from dashboards.published import published
from extensions.judges.prompts import BUILT_IN
from metaeval.messages import message
from metrics import imported
from metrics.registry import METRICS
from tests.dashboards.outputs import make_filterable
from tests.house.pseudo_language import CHINESE, Visible, english, pseudo, pseudo_chinese
from tests.shared import SharedRows
from tests.world import World, make_campaign, make_demo

NEEDS = {
    "extensions.studies",
    "extensions.comparison",
    "extensions.decisions",
    "extensions.documents",
    "extensions.layers",
    "extensions.shortness",
    "extensions.trials",
}

# What a finished campaign and its study have: links may lead to another that has no results.
FINISHED = (
    "", "results/", "report/", "correlations/", "significance/", "layers/", "documents/",
    "differences/?difference=9", "difficulty/", "ensemble/",
    "scatter/", "systems/", "metrics-pair/", "systems-pair/", "spans/", "shortness/",
    "whatif/", "samplesize/",
    "power/", "monitor/", "quality/", "trial/", "bundle/",
)  # fmt: skip
STUDY = ("", "wmt/", "quality/", "systems/", "shortness/")
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
        *(table.label for table in published().values()),
        *((info.name, info.label) for info, *_ in METRICS.values()),
        *(template.name for template in BUILT_IN.values()),
        *(each.name for each in declared()),
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
def test_every_word_of_a_page_can_be_translated(rows: None, world: World, client: Client) -> None:
    client.force_login(world.admin)
    client.cookies["django_language"] = CHINESE
    names, found, seen = stored_names(), [], set()
    with pseudo_chinese():
        for address, page in visited(client):
            seen.add(address)
            assert f'<html lang="{CHINESE}"' in page, address
            found += [f"{address}: {text}" for text in english(page, names)]
    assert len(seen) > 60
    assert {*STARTS} <= seen
    assert any(address.startswith("/judges/templates/") for address in seen)
    assert found == [], "\n".join(found)


@pytest.mark.parametrize(
    "sample", ["<p>One more thing</p>", '<a aria-label="Next page"></a>', "<b>共 3 items</b>"]
)
def test_english_words_would_be_noticed(sample: str) -> None:
    assert list(english(sample, []))


@pytest.mark.parametrize(
    "sample", ["<code>run it</code>", '<p lang="en">A title</p>', "BLEU 指标", pseudo("All {n}")]
)
def test_code_names_and_other_languages_may_stay(sample: str) -> None:
    assert not list(english(sample, []))


def test_no_page_has_iso_dates() -> None:
    """Files and what prints have; `datetime` is for machines."""
    folders = template_folders(Path(settings.BASE_DIR))
    templates = [path for folder in folders for path in folder.rglob("*.html")]
    found = {path.name for path in templates if 'date:"Y-' in path.read_text(encoding="utf-8")}
    assert found == set()


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


@pytest.mark.usefixtures("rows")
def test_names_like_words_of_the_interface_stay(world: World, client: Client) -> None:
    campaign = Campaign.objects.get(slug="rated")
    systems = list(campaign.test_set.systems.order_by("pk"))
    words = ["human", "Quality", "systems", "Score", "Agreement", "metrics"][: len(systems)]
    for system, name in zip(systems, words, strict=False):
        System.objects.filter(pk=system.pk).update(name=name, is_human=False)
    Annotator.objects.filter(campaign=campaign, label="S1").update(label="outputs")
    made = {
        (name, segment.key): float(place + number)
        for number, name in enumerate(words)
        for place, segment in enumerate(campaign.test_set.segments.all())
    }
    imported.store(campaign.test_set, "Quality", made, {})
    client.force_login(world.admin)
    client.cookies["django_language"] = CHINESE
    wanted = {
        "correlations": ["Quality"],
        "systems": words,
        "quality": ["outputs"],
        "metrics-pair": ["Quality"],
    }
    for page, names in wanted.items():
        text = client.get(f"/campaigns/rated/{page}/", follow=True).text
        found = [" ".join(each.split()) for each in Visible(text).texts]
        for name in names:
            assert any(name in each for each in found), (page, name)
    # What the interface itself calls by these words is in Chinese.
    assert "质量" in client.get("/campaigns/rated/quality/").text


@pytest.mark.usefixtures("rows")
def test_what_has_no_translation_is_shown_in_english(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A contributor writes English only: a metric that nobody has translated has its page."""
    info = replace(
        METRICS["chrf"][0],
        name="toy",
        label="Toy metric",
        description=message("toy.description", "Counts {n} characters.", n=1200),
    )
    monkeypatch.setitem(METRICS, "toy", (info, *METRICS["chrf"][1:]))
    client.force_login(world.admin)
    client.cookies["django_language"] = CHINESE
    answer = client.get("/metrics/toy/")
    assert answer.status_code == 200
    assert "Counts 1,200 characters." in answer.text
    assert f'<html lang="{CHINESE}"' in answer.text
