"""Metrics of one family share a row; which one leads is declared, and the address can open it."""

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign
from dashboards.bundle import BundleChoice, build
from metrics.base import MetricInfo
from metrics.registry import METRICS
from metrics.runs import scoring, starting
from tests.dashboards.conftest import make_rated
from tests.house.templates.seen import seen
from tests.shared import SharedRows
from tests.world import World, make_user

SCORED = ["bleu", "chrf", "rouge", "rouge-characters", "sentbleu"]
LEADING = {"bleu", "chrf", "rougel-f"}
N = 3 + 2 * 9


def scored() -> Campaign:
    campaign = make_rated("families")
    begun = starting.start(test_set=campaign.test_set, metrics=SCORED, enqueue=False)
    for run in begun.runs:
        scoring.drain(run.pk, worker="test")
    return campaign


@pytest.fixture(scope="module")
def rows(shared_rows: SharedRows[Campaign]) -> Iterator[int]:
    with shared_rows(scored) as made:
        yield made.pk


@pytest.fixture
def campaign(rows: int, world: World, client: Client) -> Campaign:
    client.force_login(make_user("reader", "researcher"))
    return Campaign.objects.get(pk=rows)


def keys(client: Client, name: str, campaign: Campaign, query: str = "") -> set[str]:
    found = client.get(reverse(f"{name}-data", args=[campaign.slug, "json"]) + query).json()
    return {metric["key"] for metric in found["metrics"]}


@pytest.mark.parametrize("name", ["results", "correlations", "significance"])
def test_one_of_each_family_is_compared(name: str, campaign: Campaign, client: Client) -> None:
    assert keys(client, name, campaign) == LEADING
    over_systems = keys(client, name, campaign, "?statistic=limit")
    assert over_systems == LEADING | {"sentbleu"}, "corpus BLEU is no mean of segments"
    assert len(keys(client, name, campaign, "?metric=*")) == N
    assert keys(client, name, campaign, "?metric=rouge1-p&metric=bleu") == {"rouge1-p", "bleu"}
    assert client.get(reverse(name, args=[campaign.slug]) + "?metric=rouge9-f").status_code == 400


def test_only_what_is_compared_is_corrected_for(campaign: Campaign, client: Client) -> None:
    address = reverse("significance-data", args=[campaign.slug, "json"])
    for query, n in (("", len(LEADING)), ("&metric=*", N)):
        found = client.get(f"{address}?correction=bonferroni&scope=table{query}").json()
        pairs = n * (n - 1) // 2
        assert len(found["rows"]) == 2 * pairs
        assert all(
            row["adjusted"] == pytest.approx(min(1.0, 2 * pairs * row["pvalue"]))
            for row in found["rows"]
            if row["pvalue"] is not None and row["pvalue"] < 0.5
        )


def test_a_row_opens_its_variants(campaign: Campaign, client: Client) -> None:
    page = client.get(reverse("correlations", args=[campaign.slug])).text
    table = page[page.index("data-sortable") :]
    opened = re.search(r'data-measure="rougel-f".*?</details>', table, re.DOTALL)
    assert opened is not None
    assert opened[0].count("<li>") == 17
    address = re.search(r'<a href="(\?metric[^"]*)"', opened[0])
    assert address is not None
    shown = keys(client, "correlations", campaign, address[1].replace("&amp;", "&"))
    assert len(shown) == len(LEADING) + 17
    row = reverse("significance", args=[campaign.slug]) + "?row=rouge1-p"
    assert client.get(row).status_code == 200


def test_files_and_bundle_show_the_same_metrics(campaign: Campaign, client: Client) -> None:
    for name in ("correlations", "significance"):
        table = reverse(f"{name}-table-file", args=[campaign.slug, "csv"])
        text = client.get(table).text
        assert "ROUGEL-F1" in text
        assert "ROUGE1-P" not in text
        assert "ROUGE1-P" in client.get(f"{table}?metric=*").text
    arguments = {
        question: next(
            each.arguments for each in build(campaign, chosen).tables if question in each.name
        )
        for question, chosen in (
            ("tau-b", BundleChoice()),
            ("limit", BundleChoice(statistic="limit")),
        )
    }
    shown = {
        question: {value for name, value in pairwise(each) if name == "--shown"}
        for question, each in arguments.items()
    }
    assert shown == {"tau-b": LEADING, "limit": LEADING | {"sentbleu"}}


def test_the_choice_has_what_the_page_shows(campaign: Campaign, client: Client) -> None:
    page = seen(client.get(reverse("correlations", args=[campaign.slug])).text)
    boxes = re.findall(r'box" name="metric" value="([^"]+)"( data-usual)?( checked)?', page)
    assert {key for key, _, checked in boxes if checked} == LEADING
    assert {key for key, usual, _ in boxes if usual} == LEADING
    assert len(boxes) == N


@pytest.mark.parametrize("info", [info for info, _ in METRICS.values()], ids=lambda info: info.name)
def test_declared_families_exist(info: MetricInfo) -> None:
    assert info.leading_measure in info.table_measures
    assert {info.variant_of, info.same_segments_as} <= {"", *METRICS}
