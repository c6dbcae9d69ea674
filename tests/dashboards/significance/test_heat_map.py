"""Significance of WMT17 and of the demo: pages, data and LaTeX against metaeval from raw rows."""

import csv
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.comparisons import document as significance
from dashboards.comparisons.document import Comparison
from dashboards.panel.panel import read_panel
from dashboards.significance.page import MANY, short_p
from metaeval.correlation import kendall
from metaeval.messages import message
from metaeval.significance import compare_metrics
from tests.dashboards import typed
from tests.dashboards.clicking import make_clicked
from tests.dashboards.tex import problems
from tests.house.templates.seen import seen
from tests.refusals import tells
from tests.shared import SharedRows
from tests.world import World, make_dataset, make_user, score

TEST = message("test.perm", "one-sided PERM-BOTH")

# Pearson with human_z over outputs and over systems, from the README of the data set.
PUBLISHED = {"pearson": {"sentbleu": 0.4145, "chrf": 0.5159}, "systems": {"bleu": 0.9076}}


def scored(data_dir: Path) -> int:
    score(make_dataset("wmt17-de-en", "sentbleu", "chrf", "bleu"), "chrf++")
    return Campaign.objects.get(slug="wmt17-de-en").pk


@pytest.fixture(scope="module")
def wmt17(shared_rows: SharedRows[int], data_dir: Path) -> Iterator[int]:
    with shared_rows(lambda: scored(data_dir)) as pk:
        yield pk


@pytest.fixture
def campaign(wmt17: int, db: None, client: Client) -> Campaign:
    client.force_login(make_user("reader", "researcher"))
    return Campaign.objects.get(pk=wmt17)


def test_wmt17(campaign: Campaign, client: Client) -> None:
    address = reverse("significance-data", args=[campaign.slug, "json"])
    for statistic, published in PUBLISHED.items():
        document = client.get(f"{address}?metric=*&statistic={statistic}").json()
        values = {metric["key"]: metric["value"] for metric in document["metrics"]}
        for key, value in published.items():
            assert values[key] == pytest.approx(value, abs=5e-5)
    document = client.get(f"{address}?metric=*&statistic=pearson&test=perm").json()
    human, metrics = read_panel(campaign, Filters()).scored.matrices()
    tested = compare_metrics(human, metrics, n_resamples=4000, rng=campaign.seed)
    labels = {metric["label"]: metric["key"] for metric in document["metrics"]}
    place = {labels[name]: index for index, name in enumerate(tested.metrics)}
    for row in document["rows"]:
        at = place[row["metric"]], place[row["other"]]
        assert row["pvalue"] == tested.pvalues[at]
        assert row["difference"] == pytest.approx(tested.differences[at])
    holm = tested.adjusted("holm")
    document = client.get(f"{address}?metric=*&statistic=pearson&test=perm&correction=holm").json()
    marked = {(row["metric"], row["other"]) for row in document["rows"] if row["is_significant"]}
    small = {(a, b) for a in place for b in place if holm.is_significant[place[a], place[b]]}
    # Not marked: a small p beside an interval that includes zero.
    clear = {(r["metric"], r["other"]) for r in document["rows"] if not r["low"] <= 0 <= r["high"]}
    assert marked == small & clear
    assert len(marked) == document["n_significant"] > 0
    ours = tested.ranks()
    for metric in document["metrics"]:
        expected = ours.ranks[place[metric["key"]]] if metric["low"] > 0 else None
        assert metric["rank"] == expected

    everything = "?metric=*&statistic=pearson"
    page = client.get(reverse("significance", args=[campaign.slug]) + everything).text
    assert len(re.findall("<td class=p[0-4a-e]>", page)) == 6
    assert len(page) < 100 * 1024
    source = client.get(reverse("significance-data", args=[campaign.slug, "tex"]) + everything).text
    assert r"\begin{tabular}{lrrrr}" in source
    lines = client.get(reverse("significance-data", args=[campaign.slug, "csv"]) + everything)
    assert len(lines.getvalue().decode().splitlines()) == 1 + 12


def test_any_subset_of_metrics(campaign: Campaign, client: Client) -> None:
    for name in ("significance", "correlations"):
        address = reverse(f"{name}-data", args=[campaign.slug, "json"])
        found = client.get(f"{address}?metric=chrf&metric=bleu").json()
        assert {metric["key"] for metric in found["metrics"]} == {"chrf", "bleu"}
        everything = client.get(f"{address}?metric=*").json()
        pick = {m["key"]: m["value"] for m in everything["metrics"]}
        assert all(m["value"] == pick[m["key"]] for m in found["metrics"])
        assert client.get(f"{address}?metric=comet").status_code == 400


def _files_say_what_is_bold(campaign: Campaign, client: Client) -> None:
    marked = set()
    for name in ("correlations", "results"):
        data = reverse(f"{name}-data", args=[campaign.slug, "json"])
        known = {row["key"]: row for row in client.get(f"{data}?metric=*").json()["rows"]}
        lines = (
            client.get(data.replace("json", "csv") + "?metric=*").getvalue().decode().splitlines()
        )
        for row in csv.DictReader(lines):
            line = known[row["key"]]
            marked |= {row["is_best"], row["floor"]}
            assert (row["is_best"], row["floor"]) == (str(line["is_best"]), line["floor"])
            if name == "results":
                assert row["beside_is_best"] == str(line["other"]["is_best"])
    assert {"True", "False", "above"} <= marked


def test_the_table_of_metrics_has_intervals_ranks_and_bold_first_ranks(
    campaign: Campaign, client: Client
) -> None:
    address = reverse("correlations-data", args=[campaign.slug, "json"])
    document = client.get(f"{address}?metric=*&statistic=tau-b").json()
    human, metrics = read_panel(campaign, Filters()).scored.matrices()
    for row in document["rows"]:
        alone = kendall(human, metrics[row["label"]])
        assert alone.interval is not None
        assert (row["value"], row["low"], row["high"]) == pytest.approx(
            (alone.statistic, *alone.interval[:2])
        )
        assert (row["rank"] is None) == (row["low"] <= 0 <= row["high"])
        assert row["is_best"] == (row["rank"] == 1 and row["low"] > 0)
    _files_say_what_is_bold(campaign, client)
    page = client.get(reverse("correlations", args=[campaign.slug]) + "?metric=*&statistic=tau-b")
    bold = re.findall(r'<td[^>]* class="num best"[^>]*data-name="(\w+)"', page.text)
    assert bold
    assert set(bold) == {"value"}
    assert tells(page.text, "interval.new-segments")
    n = [document[name] for name in ("n_informative", "n_segments", "n_systems")]
    judged = np.isfinite(human.values)
    assert n == [(judged.sum(axis=0) > 1).sum(), judged.any(axis=0).sum(), len(human.systems)]
    assert f"{n[0]} of {n[1]} segments" in page.text
    asked = client.get(reverse("significance", args=[campaign.slug]) + "?statistic=hybrids").text
    assert "hybrids" in asked
    assert f"{n[0]} of {n[1]} segments" in asked


def many(size: int) -> Comparison:
    """A document of `size` metrics as BERTScore with all layers gives them; seeded."""
    rng = np.random.default_rng(size)
    values = np.sort(rng.normal(0.3, 0.1, size))[::-1]
    differences = values[:, None] - values[None, :]
    pvalues = np.clip(0.5 - 5 * differences + rng.normal(0, 0.1, differences.shape), 0, 1)
    for table in (differences, pvalues):
        np.fill_diagonal(table, np.nan)
    matrices = {
        "differences": differences, "difference_lows": differences - 0.05,
        "difference_highs": differences + 0.05, "pvalues": pvalues,
    }  # fmt: skip
    metrics = [
        typed.metric(f"bertscore-xlmr-base-l{n}-f", value, label=f"BERTScore XLM-R layer.{n}.F",
               metric="bertscore-xlmr", signature="x" * 200, low=0.1, high=0.4)
        for n, value in enumerate(values.tolist())
    ]  # fmt: skip
    return typed.comparison(n=500, n_permutations=100_000, test_label=TEST,
                      metrics=metrics, **matrices)  # fmt: skip


@pytest.mark.parametrize("size", [18, MANY, MANY + 1, 60, 111])
def test_a_page_of_many_metrics_stays_small(
    world: World, as_researcher: Client, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """STYLE: 100 KiB until something is explored; every cell is there all the same."""
    monkeypatch.setattr(significance, "compute", lambda *_, **__: many(size))
    address = reverse("significance", args=[world.campaign.slug])
    page = as_researcher.get(address)
    assert len(page.content) < 100 * 1024
    data = as_researcher.get(f"{address[:-1]}.json").json()
    assert len(data["rows"]) == size * (size - 1)
    cells = re.findall("<td class=p([0-4a-e])>", page.text)
    if size > MANY:
        found = re.search(r'data-steps="([^"]*)"', page.text)
        assert found is not None
        assert found[1].split() == data["steps"]
        table = as_researcher.get(f"{address}?pairs=table").text
        cells = re.findall("<td class=p([0-4a-e])>", table)
    # A pair stands once: with the metric of the larger value as its row.
    assert cells == [letter for n, line in enumerate(data["steps"]) for letter in line[n + 1 :]]
    # The steps from the numbers themselves.
    bounds = (0.001, 0.01, 0.05, 0.1)
    place = {metric["key"]: n for n, metric in enumerate(data["metrics"])}
    expected = [
        ("abcde" if row["is_significant"] else "01234")[sum(row["pvalue"] >= b for b in bounds)]
        for row in data["rows"]
        if place[row["metric"]] < place[row["other"]]
    ]
    assert cells == expected


def test_a_narrow_cell_says_a_p_value_in_three_characters() -> None:
    said = {0.0004: "***", 0.004: "**", 0.0449: ".04", 0.5: ".50", None: "–"}
    assert {p: short_p(p) for p in said} == said


def test_nothing_is_starred_where_nothing_may_be_marked() -> None:
    said = {0.0004: "< .001", 0.004: "< .01", 0.0449: ".04", None: "–"}
    assert {p: short_p(p, has_stars=False) for p in said} == said


def test_a_statistic_without_a_value_is_no_table_of_dashes(
    world: World, as_researcher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of one system at system level."""
    metrics = [typed.metric(name, None) for name in ("bleu", "chrf")]
    blank = [[None, None]] * 2
    matrices = dict.fromkeys(("differences", "difference_lows", "difference_highs"), blank)
    document = typed.comparison(metrics=metrics, n_systems=1, **matrices, pvalues=blank)
    monkeypatch.setattr(significance, "compute", lambda *_, **__: document)
    page = as_researcher.get(reverse("significance", args=[world.campaign.slug])).text
    assert 'data-name="undefined"' in page
    assert "Choose a cell" not in page
    assert "<td" not in page
    assert "Review annotators" in page


def test_over_two_systems_no_page_says_a_correlation(world: World, as_researcher: Client) -> None:
    campaign = make_clicked(systems=("strong", "weak")).slug
    address = reverse("significance", args=[campaign]) + "?statistic=systems"
    page = as_researcher.get(address).text
    assert "±1" in page
    assert "Add systems" in page
    for name, value in (("correlations", "r_system"), ("systems", "tau")):
        answer = as_researcher.get(reverse(f"{name}-data", args=[campaign, "json"])).json()
        rows = answer["rows"] if name == "correlations" else answer["columns"]
        assert [row[value] for row in rows] == [None, None]
        assert any("±1" in each["text"] for each in answer["warnings"])


def test_one_metric_against_all_others(
    world: World, as_researcher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(significance, "compute", lambda *_, **__: many(50))
    address = reverse("significance", args=[world.campaign.slug])
    everything = as_researcher.get(f"{address[:-1]}.json").json()["rows"]
    key = everything[-1]["metric"]
    answer = as_researcher.get(f"{address[:-1]}.json?row={key}")
    assert answer.json()["rows"] == [row for row in everything if row["metric"] == key]
    assert len(answer.content) < 64 * 1024
    page = seen(as_researcher.get(f"{address}?row={key}").text)
    assert page.count('<tr><th scope="row">') == 49
    assert "data-steps" not in page
    assert as_researcher.get(f"{address}?row=comet").status_code == 400
    source = as_researcher.get(f"{address[:-1]}.tex?row={key}").text
    assert problems(source) == []
    assert source.count(r" \\") == 51  # two parts, each with its head
    steps = as_researcher.get(f"{address[:-1]}.json").json()["steps"]
    assert all(len(one) == len(other) for one, other in pairwise(steps))


def test_without_judgments_the_page_says_what_is_missing(
    world: World, as_researcher: Client
) -> None:
    address = reverse("significance", args=[world.campaign.slug])
    assert 'data-case="nothing-to-compare"' in as_researcher.get(address).text
    for query in ("statistic=x", "grouping=x", "test=x", "correction=x", "scope=x", "scores=x"):
        assert as_researcher.get(f"{address}?{query}").status_code == 400
