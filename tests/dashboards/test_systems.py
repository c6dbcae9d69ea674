"""The page of MT systems: lengths counted here, the study's shape, and addresses."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.demo import load_demo
from annotation.models import Campaign, Output
from dashboards import lengths
from dashboards.analyses.systems import SystemsChoice, compute
from dashboards.charts.systems import ranking
from metrics import runs, scoring
from metrics.base import MetricError
from tests.world import World, make_user


@pytest.fixture
def demo(db: None) -> Campaign:
    load_demo()
    campaign = Campaign.objects.get(slug="demo-en-zh-80")
    for run in runs.start(test_set=campaign.test_set, metrics=["chrf"], enqueue=False).runs:
        scoring.work_off(run.pk, worker="test")
    return campaign


def test_length_deviation_from_the_texts(demo: Campaign) -> None:
    document = compute(demo, SystemsChoice())
    assert document["lengths"]["unit"] == "characters"
    for row in document["lengths"]["rows"]:
        found = []
        outputs = Output.objects.filter(system__campaigns=demo, system__name=row["system"])
        for output in outputs.select_related("segment"):
            texts = [reference.text for reference in output.segment.references.all()]
            wanted = 0.8 * sum(len("".join(text.split())) for text in texts) / len(texts)
            found.append((len("".join(output.text.split())) - wanted) / wanted)
        assert row["n"] == len(found) == 44
        assert row["statistic"] == pytest.approx(sum(map(abs, found)) / 44)
        assert row["bias"] == pytest.approx(sum(found) / 44)


def test_units_and_what_is_wanted(demo: Campaign) -> None:
    of_source = compute(demo, SystemsChoice(wanted="source", unit="words"))["lengths"]
    assert (of_source["of"], of_source["unit"]) == ("source", "words")
    missing = compute(demo, SystemsChoice(unit="nobody/nothing"))
    assert missing["lengths"]["rows"] == []
    assert "nobody/nothing" in missing["warnings"][-1]
    assert lengths.lengths(["a b  c", ""], "words") == [3, 0]
    assert lengths.lengths(["海港 很安静", "a b"], "characters") == [5, 2]
    assert lengths.unit_of("zh-Hant") == "characters"
    assert lengths.unit_of("de") == "words"
    with pytest.raises(MetricError):
        lengths.counter("nobody/nothing")


def test_the_page_and_its_figure(demo: Campaign, client: Client) -> None:
    client.force_login(make_user("reader", "researcher"))
    document = compute(demo, SystemsChoice())
    page = client.get(reverse("systems", args=[demo.slug])).text
    best = document["columns"][0]["rows"][0]
    assert f"{best['score']:.3f}" in page
    assert best["mark"]
    lines = client.get(reverse("systems-data", args=[demo.slug, "csv"])).getvalue().decode()
    assert len(lines.splitlines()) == 1 + 2 * 3
    spec = ranking(document)
    assert spec is not None
    assert [row["score"] for row in spec["data"]["values"]] == sorted(
        (row["score"] for row in document["human"]), reverse=True
    )
    assert client.get(reverse("systems", args=[demo.slug]), {"versus": "worst"}).status_code == 400


def test_a_study_in_the_shape_of_the_published_tables(demo: Campaign, client: Client) -> None:
    client.force_login(make_user("reader", "researcher"))
    data = client.get(reverse("study-systems-data", args=["demo", "json"])).json()
    assert [head["percent"] for head in data["campaigns"]] == ["80%", "50%", "80%", "50%"]
    chrf = next(block for block in data["blocks"] if block["key"] == "chrf")
    column = compute(demo, SystemsChoice())["columns"][0]
    scores = {row["system"]: row["score"] for row in column["rows"]}
    shown = {line["system"]: line["cells"][0]["score"] for line in chrf["lines"]}
    assert shown == scores
    page = client.get(reverse("study-systems", args=["demo"])).text
    assert "Mean deviation from the wanted length" in page
    assert f"{max(scores.values()):.4f}" in page


def test_without_judgments_and_scores_the_page_says_so(world: World, as_researcher: Client) -> None:
    page = as_researcher.get(reverse("systems", args=[world.campaign.slug])).text
    assert "there is no human ranking" in page
    assert "strong" in page
