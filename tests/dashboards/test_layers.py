"""Choosing a layer: folds, correlations of each against scipy, and that choosing flatters."""

from pathlib import Path

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from scipy import stats

import metaeval
from annotation.demo import load_demo
from annotation.filters import Filters
from annotation.models import Campaign, Output, TestSet
from dashboards import layers
from dashboards.analyses import layers as analysis
from dashboards.layer_pages import name_of
from dashboards.layers import Profile, choose, folds, layers_of, profile
from dashboards.selectors import human_scores
from metrics import encoders, runs, scoring
from metrics.models import MetricRun
from metrics.registry import METRICS
from metrics.scores import load_scores
from tests.metrics.families.neural import small
from tests.world import World, make_user


def test_which_metrics_have_layers() -> None:
    info = METRICS["bertscore-mbert"][0]
    found = layers_of(info)
    assert len(found) == 13 * 3
    assert found["bertscore-mbert-8-r"] == (8, "r")
    assert layers_of(METRICS["rouge"][0]) == {}
    assert layers_of(METRICS["chrf"][0]) == {}


def test_every_segment_is_in_one_fold_of_equal_size() -> None:
    found = folds(203)
    assert found.sum(axis=0).tolist() == [1.0] * 203
    assert set(found.sum(axis=1)) <= {40.0, 41.0}
    assert (folds(203) == found).all()


def matrices(
    noise: float, count: int, segments: int = 60
) -> tuple[metaeval.ScoreMatrix, dict[str, metaeval.ScoreMatrix]]:
    rng = np.random.default_rng(8)
    human = metaeval.ScoreMatrix(
        rng.normal(size=(4, segments)), "ABCD", [str(k) for k in range(segments)]
    )
    measures = {
        f"m{k}": human.with_values(human.values + noise * rng.normal(size=human.shape))
        for k in range(count)
    }
    return human, measures


@pytest.mark.parametrize("correlation", ["kendall", "pearson"])
def test_folds_by_scipy(correlation: str) -> None:
    human, measures = matrices(1.0, 3)
    found = profile(human, measures, correlation)
    theirs = stats.kendalltau if correlation == "kendall" else stats.pearsonr
    inside = folds(60)[2] > 0
    for index, measure in enumerate(measures.values()):
        for values, chosen in ((found.held_out, inside), (found.train, ~inside)):
            expected = theirs(human.values[:, chosen].ravel(), measure.values[:, chosen].ravel())
            assert values[2, index] == pytest.approx(expected.statistic, abs=1e-12)


def test_limits_of_folds_are_those_of_their_segments() -> None:
    human, measures = matrices(1.0, 3)
    found = profile(human, measures, "limit")
    names = [name for name, is_in in zip(human.segments, folds(60)[1] > 0, strict=True) if is_in]
    drawn = metaeval.hybrid_supersample(
        human.subset(segments=names),
        {key: measure.subset(segments=names) for key, measure in measures.items()},
        n_hybrids=2,
        rng=1,
    )
    assert found.held_out[1] == pytest.approx(drawn.limit, abs=1e-12)


def test_a_layer_that_is_truly_best_is_chosen_by_all_folds() -> None:
    human, measures = matrices(2.0, 5)
    measures["m3"] = human.with_values(human.values + 0.1)
    found = choose([profile(human, measures, "pearson")])
    assert found is not None
    assert (found.recommended, found.n_agreeing, found.best) == (3, 5, 3)
    assert found.held_out == pytest.approx(1.0)


def test_choosing_among_noise_flatters_and_held_out_folds_do_not() -> None:
    """A hundred measures that agree with nobody: the best of them seems to, its folds do not."""
    rng = np.random.default_rng(1)
    human = metaeval.ScoreMatrix(rng.normal(size=(4, 60)), "ABCD", [str(k) for k in range(60)])
    noise = {f"m{k}": human.with_values(rng.normal(size=human.shape)) for k in range(100)}
    found = choose([profile(human, noise, "limit")])
    assert found is not None
    flattering = profile(human, noise, "limit").values[found.best]
    assert flattering > 0.12
    assert found.held_out < flattering / 2


def test_over_several_campaigns_the_mean_decides() -> None:
    first = Profile(np.array([0.9, 0.5]), np.tile([0.9, 0.5], (5, 1)), np.tile([0.8, 0.4], (5, 1)))
    second = Profile(np.array([0.0, 0.5]), np.tile([0.0, 0.5], (5, 1)), np.tile([0.1, 0.3], (5, 1)))
    found = choose([first, second])
    assert found is not None
    assert (found.recommended, found.n_agreeing) == (1, 5)
    assert found.held_out == pytest.approx(0.35)


def test_nothing_is_recommended_where_nothing_is_defined() -> None:
    nothing = np.full(2, np.nan)
    assert choose([Profile(nothing, np.tile(nothing, (5, 1)), np.tile(nothing, (5, 1)))]) is None


@pytest.fixture
def scored_layers(db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Campaign]:
    """The demo's zh-en campaigns with every layer of a small BERT."""
    monkeypatch.setenv("TOUCHSTONE_MODELS", str(tmp_path))
    encoders.forget()
    load_demo()
    test_set = TestSet.objects.get(slug="demo-zh-en")
    texts = list(Output.objects.filter(system__test_set=test_set).values_list("text", flat=True))
    small.bert(tmp_path / "bert-base-multilingual-cased", texts, layers=12)
    (run,) = runs.start(test_set=test_set, metrics=["bertscore-mbert"], enqueue=False).runs
    scoring.work_off(run.pk, worker="test")
    run.refresh_from_db()
    assert run.status == "done", run.message
    Campaign.objects.exclude(test_set=test_set).update(study="")
    rated = Campaign.objects.filter(test_set=test_set, study="demo")
    return list(rated.order_by("-length_ratio"))


def test_a_campaign_by_scipy_and_a_study_as_tables_11_to_14(
    scored_layers: list[Campaign], client: Client
) -> None:
    campaign = scored_layers[0]
    document = analysis.asked("kendall").compute(campaign, Filters())
    (metric,) = document["metrics"]
    assert len(metric["rows"]) == 39
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
    (row,) = [row for row in metric["rows"] if row["key"] == "bertscore-mbert-5-f"]
    assert (row["layer"], row["part"]) == (5, "f")
    assert row["value"] == pytest.approx(tau, abs=1e-12)
    assert name_of(row) == "layer.5.F"

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
    assert source.count(r"\begin{table}") == 2
    assert f"{panel['rows'][0]['label']} & " in source
    page = client.get(reverse("study-layers", args=["demo"])).text
    assert f"{panel['choice']['held_out']:.3f}" in page


def test_pages_without_layers_or_judgments_say_so(world: World, as_researcher: Client) -> None:
    page = as_researcher.get(reverse("layers", args=[world.campaign.slug])).text
    assert "No output of this campaign has a human score yet." in page
    address = reverse("layers", args=[world.campaign.slug])
    assert as_researcher.get(f"{address}?statistic=guess").status_code == 400
    assert layers.N_FOLDS == 5
