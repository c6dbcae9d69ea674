"""Pages of layers: which measures are layers, their correlations against scipy, the study."""

from pathlib import Path

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from scipy import stats

from annotation.demo import load_demo
from annotation.filters import Filters
from annotation.models import Campaign, Output, TestSet
from benchmarks.gpu import small
from core.numbers import bare
from dashboards.panel.human import human_scores
from extensions.layers import document as analysis
from extensions.layers.document import layers_of
from extensions.neural.encoding import encoders
from metrics.models import MetricRun
from metrics.registry import METRICS
from metrics.runs import scoring, starting
from metrics.scores import load_scores
from tests.refusals import tells
from tests.world import World, make_user


def test_which_metrics_have_layers() -> None:
    info = METRICS["bertscore-mbert"][0]
    found = layers_of(info)
    assert len(found) == 13 * 3
    assert found["bertscore-mbert-8-r"] == (8, "r")
    assert layers_of(METRICS["rouge"][0]) == {}
    assert layers_of(METRICS["chrf"][0]) == {}


@pytest.fixture
def scored_layers(db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Campaign]:
    """The demo's zh-en campaigns with every layer of a small BERT."""
    monkeypatch.setenv("TOUCHSTONE_MODELS", str(tmp_path))
    encoders.forget()
    load_demo()
    test_set = TestSet.objects.get(slug="demo-zh-en")
    texts = list(Output.objects.filter(system__test_set=test_set).values_list("text", flat=True))
    small.bert(tmp_path / "bert-base-multilingual-cased", texts, layers=12)
    (run,) = starting.start(test_set=test_set, metrics=["bertscore-mbert"], enqueue=False).runs
    scoring.drain(run.pk, worker="test")
    run.refresh_from_db()
    assert run.status == "done", run.message
    Campaign.objects.exclude(test_set=test_set).update(study="")
    rated = Campaign.objects.filter(test_set=test_set, study="demo")
    return list(rated.order_by("-length_ratio"))


def test_a_campaign_by_scipy_and_a_study_as_tables_11_to_14(
    scored_layers: list[Campaign], client: Client
) -> None:
    campaign = scored_layers[0]
    document = analysis.compute(campaign, Filters(), "kendall")
    (metric,) = document.metrics
    assert len(metric.rows) == 39
    human = human_scores(campaign)
    signature = MetricRun.objects.get().signature
    outputs = Output.objects.filter(system__in=human.systems)
    place = {pk: column for column, pk in enumerate(human.segments)}
    row_of = {system.pk: row for row, system in enumerate(human.systems)}
    keys = [output.content_key for output in outputs]
    stored = load_scores(signature, human.systems, keys)
    ours = [human.values[row_of[o.system_id], place[o.segment_id]] for o in outputs]
    column = list(signature.measures).index("bertscore-mbert-5-f")
    tau = stats.kendalltau(ours, stored[:, column], nan_policy="omit").statistic
    (row,) = [row for row in metric.rows if row.key == "bertscore-mbert-5-f"]
    assert (row.layer, row.part) == (5, "f")
    assert row.value == pytest.approx(tau, abs=1e-12)
    assert row.name == "layer.5.F"

    client.force_login(make_user("reader", "researcher"))
    study = client.get(reverse("study-layers-data", args=["demo", "json"])).json()
    (panel,) = study["metrics"]
    averages = [row["average"] for row in panel["rows"]]
    assert averages == sorted(averages, reverse=True)
    each = {
        one.slug: {
            r["key"]: r["value"]
            for r in client.get(reverse("layers-data", args=[one.slug, "json"])).json()["rows"]
        }
        for one in scored_layers
    }
    for row in panel["rows"]:
        mean = np.mean([values[row["key"]] for values in each.values()])
        assert row["average"] == pytest.approx(mean, abs=1e-12)
    source = client.get(reverse("study-layers-data", args=["demo", "tex"])).text
    assert source.count(r"\begin{table}") == 3  # a wide one is printed in two parts
    assert f"{panel['rows'][0]['label']} & " in source
    page = client.get(reverse("study-layers", args=["demo"])).text
    assert f">{bare(panel['choice']['held_out'])}</strong>" in page

    # Floor and human ceiling: by the same statistic, where the address asks for them.
    lengths = [-len(o.text) for o in outputs]
    floor = stats.kendalltau(ours, lengths, nan_policy="omit").statistic
    bounds = {each.key: each for each in document.bounds}
    assert bounds["floor-output"].value == pytest.approx(floor, abs=1e-12)
    assert bounds["ceiling"].value is not None
    shown = {"bounds": "shown"}
    for name, slug in (("layers", campaign.slug), ("study-layers", "demo")):
        assert not tells(client.get(reverse(name, args=[slug])).text, "baseline.short-outputs")
        assert tells(client.get(reverse(name, args=[slug]), shown).text, "baseline.short-outputs")
        for fmt, said in (("csv", b"floor-output"), ("tex", b"Baseline: short outputs")):
            data = reverse(f"{name}-data", args=[slug, fmt])
            assert said in client.get(data, shown).getvalue()
            assert said not in client.get(data).getvalue()
        figure = reverse(f"{name}-figure", args=[slug, "profiles", "json"])
        assert b"Human ceiling" in client.get(figure, shown).getvalue()


def test_pages_without_layers_or_judgments_say_so(world: World, as_researcher: Client) -> None:
    page = as_researcher.get(reverse("layers", args=[world.campaign.slug])).text
    assert tells(page, "outputs.no-human-scores")
    address = reverse("layers", args=[world.campaign.slug])
    assert as_researcher.get(f"{address}?statistic=guess").status_code == 400
