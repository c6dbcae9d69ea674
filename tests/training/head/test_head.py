"""The supervised head: nothing leaks, what it reports can be checked, and it becomes a metric."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client
from scipy import stats

from annotation.access import RESEARCHER
from annotation.models import Campaign, Output, PublishedScore
from benchmarks.gpu import small
from extensions.neural.bertscore.xbertscore import XBertScore
from extensions.neural.encoding import encoders
from extensions.neural.trained import options, refreeeval
from metaeval import ScoreMatrix
from metrics import catalogue
from metrics.base import MetricError, SegmentInput
from metrics.models import MetricRun
from metrics.options import OptionError
from metrics.registry import configure
from metrics.runs import scoring
from metrics.runs import starting as runs
from tests.house.templates.seen import seen
from tests.training.doing import refused, run_job
from tests.world import make_campaign, make_test_set, make_user
from training.contract import JobError, Work
from training.head import judged, training
from training.jobs import starting as jobs
from training.models import TrainingJob


@pytest.fixture
def campaign(db: None) -> Campaign:
    """Published scores that the length of the output decides."""
    test_set = make_test_set(segments=24, languages=("de", "en"))
    campaign = make_campaign(test_set)
    outputs = Output.objects.filter(system__test_set=test_set).order_by("pk")
    for place, output in enumerate(outputs):
        output.text = "quiet " * (place * 7 % 13 + 1)
        output.save()
        score = np.log(place * 7 % 13 + 2)
        PublishedScore.objects.create(campaign=campaign, output=output, value=score)
    return campaign


@pytest.fixture
def encoder(tmp_path: Path) -> str:
    return str(
        small.bert(tmp_path / "bert", ["quiet morning in the harbour", "源文第0123456789句"])
    )


def fit(campaign: Campaign, encoder: str, settings: Any, tmp_path: Path) -> TrainingJob:
    settings.TRAINED_DIR = tmp_path / "trained"
    given = {"campaign": campaign.slug, "encoder": encoder, "layers": "1,2"}
    job = jobs.start(kind="head", name="Head", given=given, enqueue=False)
    run_job(job)
    return TrainingJob.objects.get(pk=job.pk)


def test_a_head_finds_what_decides_the_scores(
    campaign: Campaign, encoder: str, settings: Any, tmp_path: Path
) -> None:
    job = fit(campaign, encoder, settings, tmp_path)
    assert (job.status, job.message) == ("done", "")
    found = job.result["held_out"]["pearson"]
    assert found["head"]["value"] > 0.98
    expected = found["head"]["value"] - found["unsupervised"]["value"]
    assert found["gain"]["value"] == pytest.approx(expected)
    assert (job.result["n_train"], job.result["n_held_out"]) == (34, 14)
    trained, few = job.result["warnings"]
    assert trained["code"] == "head.trained-on-campaign"
    # Seven held-out texts: an interval over them would be far too narrow.
    assert set(found["head"]) == {"value"}
    assert (few["code"], few["parameters"]["n"]) == ("head.too-few-for-intervals", 7)


def test_the_page_has_the_correlations_as_a_table(
    campaign: Campaign, encoder: str, settings: Any, tmp_path: Path, client: Client
) -> None:
    job = fit(campaign, encoder, settings, tmp_path)
    client.force_login(make_user("reader", RESEARCHER))
    page = client.get(job.get_absolute_url()).content.decode()
    for name, label in (("pearson", "Pearson’s r"), ("kendall", "Kendall’s τ-b")):
        estimates = (job.result["held_out"][name][k] for k in ("head", "unsupervised", "gain"))
        cells = [f"{found['value']:.3f}" for found in estimates]
        row = "".join(f'<td class="num">{cell}</td>' for cell in cells)
        assert f'<th scope="row">{label}</th>{row}' in seen(page)


@pytest.mark.parametrize(("n", "has_interval"), [(19, False), (20, True)])
def test_intervals_need_twenty_held_out_texts(n: int, has_interval: bool) -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(2, n))
    human, first, second = (
        ScoreMatrix(scores + noise, ["a", "b"], [str(each) for each in range(n)])
        for noise in (0, *(0.5 * rng.normal(size=(2, 2, n))))
    )
    found = judged.estimates(human, {"head": first, "unsupervised": second}, "pearson")
    assert set(found) == {"head", "unsupervised", "gain"}
    for estimate in found.values():
        assert ({"low", "high"} <= estimate.keys()) == has_interval


def test_the_gain_is_bracketed_by_source_text_and_paired() -> None:
    """By hand: influence on each r, summed by text, subtracted; t with N - 1 degrees."""
    rng = np.random.default_rng(3)
    n, shared = 40, rng.normal(size=40)
    values = shared + rng.normal(size=(3, 3, n))
    names = ["a", "b", "c"], [str(each) for each in range(n)]
    human, first, second = (ScoreMatrix(each, *names) for each in values)
    found = judged.estimates(human, {"head": first, "unsupervised": second}, "pearson")["gain"]
    z = [(each - each.mean()) / each.std() for each in values]
    sums = []
    for metric in z[1:]:
        r = (z[0] * metric).mean()
        sums.append((z[0] * metric - r * (z[0] ** 2 + metric**2) / 2).sum(axis=0))
    variance = n / (n - 1) * ((sums[0] - sums[1]) ** 2).sum() / (3 * n) ** 2
    half = stats.t.ppf(0.975, n - 1) * np.sqrt(variance)
    assert found["low"] == pytest.approx(found["value"] - half, rel=1e-6)
    assert found["high"] == pytest.approx(found["value"] + half, rel=1e-6)


def test_it_becomes_a_metric_with_the_same_predictions(
    campaign: Campaign, encoder: str, settings: Any, tmp_path: Path
) -> None:
    job = fit(campaign, encoder, settings, tmp_path)
    name = f"head-{job.pk}"
    assert catalogue.get(name).family == "refreeeval-head"
    (run,) = runs.start(test_set=campaign.test_set, metrics=[name], enqueue=False).runs
    scoring.drain(run.pk, worker="test")
    assert MetricRun.objects.get(pk=run.pk).status == "done"
    split = judged.split(campaign, 0.3, 42)
    metric = catalogue.load(name, source_language="de", target_language="en")
    scores = metric.score([SegmentInput(each.source, each.text, ()) for each in split.held_out])
    r = stats.pearsonr(scores[:, 0], [each.score for each in split.held_out]).statistic
    assert r == pytest.approx(job.result["held_out"]["pearson"]["head"]["value"], abs=1e-9)


def test_no_source_text_is_on_both_sides(campaign: Campaign) -> None:
    first, second = campaign.test_set.segments.all()[:2]
    second.source = first.source
    second.save()
    for seed in range(8):
        split = judged.split(campaign, 0.3, seed)
        sources = [{each.source for each in part} for part in (split.train, split.held_out)]
        assert sources[0].isdisjoint(sources[1])
        assert len(split.train) + len(split.held_out) == 48


def test_held_out_scores_change_nothing_that_is_fitted(
    campaign: Campaign, encoder: str, tmp_path: Path
) -> None:
    def weights() -> str:
        options = {"campaign": campaign.slug, "encoder": encoder, "layers": "2"}
        outcome = training.run(Work(options | {"held_out": 0.3, "seed": 42}, tmp_path / "work"))
        return Path(str(outcome.metric.options["head"])).read_text()  # type: ignore[union-attr]

    before = weights()
    held = {each.segment for each in judged.split(campaign, 0.3, 42).held_out}
    for row in PublishedScore.objects.filter(output__segment__in=held):
        row.value = -3 * row.value
        row.save()
    assert weights() == before


def test_annotators_are_standardised_by_training_texts() -> None:
    """Two annotators; the held-out judgments are extreme and move nobody's mean."""
    rows = [(1, 10, 50.0), (1, 11, 70.0), (1, 12, 0.0), (2, 10, 20.0), (2, 12, 100.0)]
    means, n_left_out = judged._means(rows, np.array([False, False, True, False, True]))
    spread = np.std([50, 70], ddof=1)
    assert means[11] == pytest.approx((70 - 60) / spread)
    assert means[12] == pytest.approx((0 - 60) / spread)
    # The second annotator judged one training text: no spread, so nothing of it counts.
    assert n_left_out == 2


def test_features_are_those_of_the_definitions(encoder: str) -> None:
    options = {"checkpoint": encoder, "layer": 2}
    info = configure("xbertscore", "x", "X", options)
    metric = XBertScore(info, source_language="de", target_language="en")
    pair = ("quiet morning", "in the harbour in the morning")
    found = refreeeval.read_features(encoders.get(encoder), [pair], [1, 2])
    row = dict(zip(refreeeval.feature_names([1, 2]), found[0], strict=True))
    expected = metric.score([SegmentInput(pair[1], pair[0], ())])[0]
    assert [row["P-2"], row["R-2"], row["F1-2"]] == pytest.approx(expected.tolist(), abs=1e-5)
    assert row["log-length"] == pytest.approx(np.log(3))
    assert row["log-length-ratio"] == pytest.approx(np.log(3 / 7))
    assert -1 <= row["cosine"] <= 1


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"campaign": "none"}, "head.no-campaign"),
        ({"layers": "two"}, "head.layers-invalid"),
        ({"layers": "9"}, "reason.text"),
        ({"encoder": "/nowhere"}, "checkpoint.not-in-folder"),
    ],
)
def test_what_cannot_be_fitted(
    campaign: Campaign, encoder: str, tmp_path: Path, changes: dict[str, Any], code: str
) -> None:
    options = {"campaign": campaign.slug, "encoder": encoder, "layers": "2"}
    options |= {"held_out": 0.3, "seed": 1}  # type: ignore[dict-item]
    with refused(code, kind=JobError):
        training.run(Work(options | changes, tmp_path))


def test_too_few_judgments(db: None) -> None:
    campaign = make_campaign(make_test_set())
    with refused("head.too-few-judged", n=0):
        judged.split(campaign, 0.3, 1)


def test_a_head_of_other_weights_is_refused(
    campaign: Campaign, encoder: str, settings: Any, tmp_path: Path
) -> None:
    job = fit(campaign, encoder, settings, tmp_path)
    path = next((tmp_path / "trained").rglob("head.json"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"encoder": "0" * 12}))
    with refused("refreeeval.other-weights", MetricError):
        catalogue.load(f"head-{job.pk}", source_language="de", target_language="en")
    path.write_text("{}")
    with pytest.raises(OptionError) as caught:
        options.load_head(str(path))
    assert caught.value.problem.code == "refreeeval.not-a-head"
    assert caught.value.problem.parameters["error"] == "KeyError"
