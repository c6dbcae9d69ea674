"""Significance of WMT17 and of the demo: pages, data and LaTeX against metaeval from raw rows."""

from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

import metaeval
from annotation.models import Campaign
from dashboards.scored import read
from metrics import runs, scoring
from tests.world import World, make_user

# Pearson with human_z over outputs and over systems, from the README of the data set.
PUBLISHED = {"pearson": {"sentbleu": 0.4145, "chrf": 0.5159}, "systems": {"bleu": 0.9076}}


@pytest.fixture
def campaign(db: None, data_dir: Path, client: Client) -> Campaign:
    call_command("import_dataset", "wmt17", data=data_dir)
    found = Campaign.objects.get(slug="wmt17-de-en")
    names = ["sentbleu", "chrf", "bleu", "ter"]
    for run in runs.start(test_set=found.test_set, metrics=names, enqueue=False).runs:
        scoring.work_off(run.pk, worker="test")
    client.force_login(make_user("reader", "researcher"))
    return found


def test_wmt17(campaign: Campaign, client: Client) -> None:
    address = reverse("significance-data", args=[campaign.slug, "json"])
    for statistic, published in PUBLISHED.items():
        document = client.get(f"{address}?statistic={statistic}").json()
        values = {metric["key"]: metric["value"] for metric in document["metrics"]}
        for key, value in published.items():
            assert values[key] == pytest.approx(value, abs=5e-5)
    document = client.get(f"{address}?statistic=pearson").json()
    human, metrics = read(campaign, "z").matrices()
    tested = metaeval.compare_metrics(human, metrics, n_resamples=4000, rng=campaign.seed)
    labels = {metric["label"]: metric["key"] for metric in document["metrics"]}
    place = {labels[name]: index for index, name in enumerate(tested.metrics)}
    for row in document["rows"]:
        at = place[row["metric"]], place[row["other"]]
        assert row["pvalue"] == tested.pvalues[at]
        assert row["difference"] == pytest.approx(tested.differences[at])
    holm = tested.adjusted("holm")
    document = client.get(f"{address}?statistic=pearson&correction=holm").json()
    assert document["n_significant"] == int(holm.is_significant.sum())
    ranks = {metric["key"]: metric["rank"] for metric in document["metrics"]}
    ours = tested.ranks()
    assert ranks == {key: ours.ranks[index] for key, index in place.items()}

    page = client.get(reverse("significance", args=[campaign.slug]) + "?statistic=pearson").text
    assert page.count("data-pair") == 12
    assert len(page) < 100 * 1024
    source = client.get(
        reverse("significance-data", args=[campaign.slug, "tex"]) + "?statistic=pearson"
    ).text
    assert r"\begin{tabular}{lrrrr}" in source
    lines = client.get(reverse("significance-data", args=[campaign.slug, "csv"]))
    assert len(lines.getvalue().decode().splitlines()) == 1 + 12


def test_any_subset_of_metrics(campaign: Campaign, client: Client) -> None:
    for name in ("significance", "correlations"):
        address = reverse(f"{name}-data", args=[campaign.slug, "json"])
        found = client.get(f"{address}?metric=chrf&metric=ter").json()
        assert {metric["key"] for metric in found["metrics"]} == {"chrf", "ter"}
        everything = client.get(address).json()
        pick = {m["key"]: m["value"] for m in everything["metrics"]}
        assert all(m["value"] == pick[m["key"]] for m in found["metrics"])
        assert client.get(f"{address}?metric=comet").status_code == 400


def test_the_table_of_metrics_has_intervals_ranks_and_one_best(
    campaign: Campaign, client: Client
) -> None:
    address = reverse("correlations-data", args=[campaign.slug, "json"])
    document = client.get(f"{address}?statistic=tau-b&grouping=item").json()
    human, metrics = read(campaign, "z").matrices()
    for row in document["rows"]:
        alone = metaeval.boot_interval(
            human,
            metrics[row["label"]],
            correlation="kendall",
            grouping="item",
            rng=campaign.seed,
        )
        assert (row["value"], row["low"], row["high"]) == pytest.approx(
            (alone.statistic, *alone.interval[:2])
        )
        assert row["rank"] >= 1
    page = client.get(reverse("correlations", args=[campaign.slug]))
    assert page.context["document"]["best"]["value"] == max(
        row["value"] for row in page.context["document"]["rows"]
    )


def test_without_judgments_the_page_says_what_is_missing(
    world: World, as_researcher: Client
) -> None:
    address = reverse("significance", args=[world.campaign.slug])
    assert "Nothing to compare yet" in as_researcher.get(address).text
    for query in ("statistic=x", "grouping=x", "test=x", "correction=x", "scope=x", "scores=x"):
        assert as_researcher.get(f"{address}?{query}").status_code == 400
