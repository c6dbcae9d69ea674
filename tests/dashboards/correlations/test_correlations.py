"""Correlations of real metrics with real humans, against the figures published with the data."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from scipy import stats

from annotation.imports import tables
from annotation.models import Campaign, Output, TestSet
from dashboards.correlations import agreement
from dashboards.correlations.agreement import correlate
from dashboards.panel.human import human_scores
from metaeval.messages import grouped
from tests.dashboards.documents.working import compute_waiting
from tests.house.templates.seen import seen
from tests.refusals import tells
from tests.shared import SharedRows
from tests.world import World, make_dataset, make_scored_demo, make_user, score

# Pearson with human_z: sentence BLEU and chrF at segment level; BLEU and chrF over the systems,
# on the lines here. From the README of the data set.
PUBLISHED = {
    "zh-en": {"sentbleu": 0.5032, "chrf": 0.5872, "bleu@system": 0.8489, "chrf@system": 0.8184},
    "de-en": {"sentbleu": 0.4145, "chrf": 0.5159, "bleu@system": 0.9076, "chrf@system": 0.9412},
}


def test_published_correlations_of_wmt17(db: None, data_dir: Path) -> None:
    for direction, published in PUBLISHED.items():
        make_dataset(f"wmt17-{direction}", "sentbleu", "chrf", "bleu")
        campaign = Campaign.objects.get(slug=f"wmt17-{direction}")
        rows = {row.key: row for row in correlate(campaign).rows}
        for key, value in published.items():
            name, _, level = key.partition("@")
            found = rows[name].r_system if level else rows[name].r_segment
            assert found == pytest.approx(value, abs=5e-5), (direction, key)
        assert rows["chrf"].n == 560


def test_published_segment_and_system_scores_of_wmt21(db: None, data_dir: Path) -> None:
    make_dataset("wmt21-ru-en")
    human = human_scores(Campaign.objects.get(slug="wmt21-ru-en"))
    folder = data_dir / "raw-crowd-da/wmt21-ru-en"
    keys = dict(TestSet.objects.get().segments.values_list("pk", "key"))
    column = {keys[pk]: index for index, pk in enumerate(human.segments)}
    row = {system.name: index for index, system in enumerate(human.systems)}
    published = [
        r for r in tables.read_table(folder / "published-segment-scores.tsv") if r["system"] in row
    ]
    assert human.n == len(published)
    for r in published:
        ours = human.values[row[r["system"]], column[r["sid"]]]
        assert ours == pytest.approx(r.real("z_mean"), abs=2e-5)
    means = np.nanmean(human.values, axis=1)
    for r in tables.read_table(folder / "published-system-scores.tsv"):
        if r["system"] in row:
            assert means[row[r["system"]]] == pytest.approx(r.real("z_mean"), abs=5e-4)


@pytest.mark.parametrize(
    ("failed", "code"), [(0, "correlation.not-scored"), (2, "correlation.failed")]
)
def test_what_failed_is_counted_among_what_is_missing(failed: int, code: str) -> None:
    measure: Any = SimpleNamespace(metric="chrF", is_imported=False)
    found = agreement._missing(measure, 3, failed)
    assert (found.code, found.parameters["n"]) == (code, 3)
    assert found.parameters.get("failed", 0) == failed


@pytest.fixture(scope="module")
def scored_demo(shared_rows: SharedRows[None]) -> Iterator[None]:
    """The demo with chrF and TER."""
    with shared_rows(partial(make_scored_demo, "chrf", "ter")) as made:
        yield made


def test_the_demo_by_scipy(db: None, scored_demo: None) -> None:
    campaign = Campaign.objects.get(slug="demo-en-zh-80")
    score(campaign.test_set, "rouge", "bleu-star")
    human = human_scores(campaign)
    rows = {row.key: row for row in correlate(campaign).rows}
    from sacrebleu.metrics import CHRF, TER

    metric = {"chrf": CHRF(), "ter": TER(normalized=True, asian_support=True)}
    for key, scorer in metric.items():
        ours, theirs = [], []
        place = {pk: index for index, pk in enumerate(human.segments)}
        for r, system in enumerate(human.systems):
            outputs = Output.objects.filter(system=system).select_related("segment")
            for output in outputs.prefetch_related("segment__references"):
                references = [reference.text for reference in output.segment.references.all()]
                ours.append(human.values[r, place[output.segment_id]])
                theirs.append(scorer.sentence_score(output.text, references).score)
        sign = -1 if key == "ter" else 1
        tau = sign * stats.kendalltau(ours, theirs).statistic
        assert rows[key].tau == pytest.approx(tau, abs=1e-12)
        assert rows[key].is_turned is (key == "ter")
    assert rows["rouge1-f"].r_hybrid == pytest.approx(rows["rouge1-f"].r_limit, abs=0.02)
    assert rows["bleu-star"].n_systems == 3


def test_a_seed_gives_the_same_hybrids(db: None, scored_demo: None) -> None:
    campaign = Campaign.objects.get(slug="demo-zh-en-50")
    first = correlate(campaign).rows[0].r_hybrid
    assert correlate(campaign).rows[0].r_hybrid == first
    campaign.seed += 1
    assert correlate(campaign).rows[0].r_hybrid != first


def test_pages_say_what_is_missing(world: World, as_researcher: Client) -> None:
    page = as_researcher.get(reverse("correlations", args=[world.campaign.slug])).text
    assert tells(page, "outputs.no-human-scores")
    assert "more metrics" in page


def test_a_test_set_without_references_says_what_cannot_run(
    db: None, data_dir: Path, client: Client
) -> None:
    call_command("import_dataset", "da-annotators", data=data_dir)
    client.force_login(make_user("reader", "researcher"))
    page = client.get(reverse("correlations", args=["mlqe-en-zh"]))
    (refused,) = grouped(page.context["refused"])
    assert refused.code == "run.no-references"
    assert refused.text in page.text


@pytest.mark.needs("extensions.studies")
def test_study_averages_and_exports(db: None, scored_demo: None, client: Client) -> None:
    client.force_login(make_user("reader", "researcher"))
    data = client.get(reverse("study-data", args=["demo", "json"])).json()
    assert [row["campaign"] for row in data["campaigns"]] == [
        "demo-en-zh-80",
        "demo-en-zh-50",
        "demo-zh-en-80",
        "demo-zh-en-50",
    ]
    taus = [row["tau"] for c in data["campaigns"] for row in c["rows"] if row["key"] == "chrf"]
    assert data["averages"]["tau"]["chrf"] == pytest.approx(np.mean(taus))
    home = client.get(reverse("study", args=["demo"])).text
    assert f'data-of="Average">{np.mean(taus):.3f}' in home
    assert "4 campaigns · 528 outputs" in home
    page = client.get(reverse("study-printed", args=["demo"])).text
    assert f"{np.mean(taus):.4f}" in page
    shown = re.search(r'data-statistic="levels".*?data-measure="chrf">(.*?)</tr>', page, re.S)
    assert shown is not None
    rows = [row for c in data["campaigns"] for row in c["rows"] if row["key"] == "chrf"]
    expected = [value for row in rows for value in (row["r_segment"], row["r_system"])]
    found = re.findall(r'data-value="([^"]*)"', shown[1])
    assert [float(each) for each in found[:8]] == pytest.approx(expected)
    means = [np.mean([row[name] for row in rows]) for name in ("r_segment", "r_system")]
    assert [float(each) for each in found[8:]] == pytest.approx(means)
    tables = client.get(reverse("study-data", args=["demo", "tex"])).text
    assert r"\multicolumn{2}{c}{En-Zh 80\%} & \multicolumn{2}{c}{En-Zh 50\%}" in tables
    lines = client.get(reverse("study-data", args=["demo", "csv"])).getvalue().decode().splitlines()
    assert len(lines) == 1 + 4 * 2
    quality = client.get(reverse("study-quality", args=["demo"])).text
    assert "en-zh 80%" in seen(quality)
    assert client.get(reverse("study", args=["nothing"])).status_code == 404


def test_an_unchanged_page_is_not_computed_again(
    db: None, scored_demo: None, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = Campaign.objects.get(slug="demo-zh-en-80")
    client.force_login(make_user("reader", "researcher"))
    address = reverse("correlations-data", args=[campaign.slug, "json"])
    first = client.get(address).json()
    computing = "dashboards.correlations.document.table"
    monkeypatch.setattr(computing, lambda *_: pytest.fail("computed again"))
    assert client.get(address).json() == first
    monkeypatch.undo()
    assert {row["key"] for row in first["rows"]} == {"chrf", "ter"}
    score(campaign.test_set, "sentbleu")
    now = client.get(address).json()
    assert {row["key"] for row in now["rows"]} == {"chrf", "ter", "sentbleu"}


@pytest.mark.needs("extensions.studies")
def test_roles(world: World, client: Client) -> None:
    client.force_login(world.annotators[0])
    for name, args in [
        ("correlations", [world.campaign.slug]),
        ("correlations-data", [world.campaign.slug, "csv"]),
        ("studies", []),
    ]:
        assert client.get(reverse(name, args=args)).status_code == 403


@pytest.mark.needs("extensions.studies")
def test_a_page_never_waits_for_its_table(
    db: None, scored_demo: None, client: Client, settings: Any
) -> None:
    campaign = Campaign.objects.get(slug="demo-zh-en-80")
    client.force_login(make_user("reader", "researcher"))
    settings.ANALYSES_IN_PLACE = False
    for name, argument in (("correlations", campaign.slug), ("study", "demo")):
        address = reverse(name, args=[argument])
        assert 'data-case="computing"' in client.get(address).text
        data = client.get(reverse(f"{name}-data", args=[argument, "json"]))
        assert (data.status_code, data["Retry-After"]) == (202, "2")
        compute_waiting()
        assert "chrF" in client.get(address).text
