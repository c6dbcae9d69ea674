"""Sentinels: held out by source, honest on noise, and the metric says what was reported."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from annotation.models import Campaign, Output, PublishedScore
from benchmarks.gpu import small
from extensions.neural.trained import sentinels
from extensions.neural.trained.options import LENGTHS, OUTPUT, SOURCE, load_sentinel
from metrics import catalogue
from metrics.base import MetricError, SegmentInput
from metrics.models import MetricRun
from metrics.registry import configure
from metrics.runs import scoring
from metrics.runs import starting as runs
from tests import refusals
from tests.training.doing import refused, run_job
from tests.world import make_campaign, make_test_set
from training.contract import Outcome, Work
from training.head import judged, sentinel
from training.jobs import starting as jobs
from training.models import TrainingJob

WORDS = ("quiet", "harbour", "ships", "left", "early", "nobody")


@pytest.fixture
def campaign(db: None) -> Campaign:
    """Sources of a number of words, which decides most of the score; ten documents of three."""
    test_set = make_test_set(segments=30, languages=("de", "en"))
    drawn = np.random.default_rng(5)
    sizes: dict[int, int] = {}
    for place, segment in enumerate(test_set.segments.order_by("pk")):
        sizes[segment.pk] = int(drawn.integers(2, 20))
        segment.source = " ".join([f"Satz {place}", *drawn.choice(WORDS, sizes[segment.pk])])
        segment.document = f"document {place // 3}"
        segment.save()
    campaign = make_campaign(test_set)
    for output in Output.objects.filter(system__test_set=test_set).order_by("pk"):
        output.text = " ".join(drawn.choice(WORDS, drawn.integers(2, 9)))
        output.save()
        score = -np.log(sizes[output.segment_id]) + 0.05 * drawn.normal()
        PublishedScore.objects.create(campaign=campaign, output=output, value=score)
    return campaign


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    texts = [*WORDS, "Satz 0123456789"]
    return str(small.bert(tmp_path_factory.mktemp("encoders") / "bert", texts, layers=1))


def fit(campaign: Campaign, folder: Path, reads: str, encoder: str = "") -> Outcome:
    options = {"campaign": campaign.slug, "reads": reads, "encoder": encoder, "seed": 42}
    return sentinel.run(Work(options, folder))


def path_of(outcome: Outcome) -> Path:
    assert outcome.metric is not None
    return Path(str(outcome.metric.options["sentinel"]))


def pearson(outcome: Outcome) -> float:
    return float(outcome.result["held_out"]["pearson"]["sentinel"]["value"])


def test_lengths_are_found_where_they_decide(campaign: Campaign, tmp_path: Path) -> None:
    outcome = fit(campaign, tmp_path, LENGTHS)
    found = outcome.result["held_out"]["pearson"]["sentinel"]
    assert found["value"] > 0.9
    assert found["low"] < found["value"] < found["high"]
    assert (outcome.result["n_outputs"], outcome.result["n_folds"]) == (60, 5)


def test_a_source_finds_what_an_output_cannot(
    campaign: Campaign, encoder: str, tmp_path: Path
) -> None:
    source, output = (fit(campaign, tmp_path / each, each, encoder) for each in (SOURCE, OUTPUT))
    assert pearson(output) < 0.4 < pearson(source)
    assert source.result["warnings"][0].code == "sentinel.source-only"
    assert set(source.result["held_out"]["kendall"]) == {"sentinel", "source_length", "gain"}


def test_on_noise_nothing_is_found(campaign: Campaign, encoder: str, tmp_path: Path) -> None:
    """More features than texts: fitted and measured on the same, r would be near 1."""
    drawn = np.random.default_rng(11)
    for row in PublishedScore.objects.filter(campaign=campaign):
        row.value = drawn.normal()
        row.save()
    assert pearson(fit(campaign, tmp_path, OUTPUT, encoder)) < 0.3


def test_no_source_and_no_document_is_on_both_sides(campaign: Campaign) -> None:
    document = dict(campaign.test_set.segments.values_list("source", "document"))
    held = []
    for split in judged.folds(campaign, 5, 1):
        parts = [{document[each.source] for each in part} for part in (split.train, split.held_out)]
        assert parts[0].isdisjoint(parts[1])
        held += [(each.system, each.segment) for each in split.held_out]
    assert len(held) == len(set(held)) == 60


def test_without_documents_sources_are_held_out(campaign: Campaign) -> None:
    campaign.test_set.segments.update(document="")
    first, second = campaign.test_set.segments.all()[:2]
    second.source = first.source
    second.save()
    for split in judged.folds(campaign, 5, 1):
        parts = [{each.source for each in part} for part in (split.train, split.held_out)]
        assert parts[0].isdisjoint(parts[1])


def test_what_a_fold_holds_out_changes_nothing_in_its_fit(
    campaign: Campaign, tmp_path: Path
) -> None:
    before = json.loads(path_of(fit(campaign, tmp_path / "one", LENGTHS)).read_text())
    held = {each.segment for each in judged.folds(campaign, 5, 42)[0].held_out}
    for row in PublishedScore.objects.filter(output__segment__in=held):
        row.value = -3 * row.value
        row.save()
    after = json.loads(path_of(fit(campaign, tmp_path / "two", LENGTHS)).read_text())
    assert after["lines"][0] == before["lines"][0]
    assert after["lines"][1] != before["lines"][1]


def test_it_becomes_a_metric_with_the_reported_values(
    campaign: Campaign, encoder: str, settings: Any, tmp_path: Path
) -> None:
    settings.TRAINED_DIR = tmp_path / "trained"
    given = {"campaign": campaign.slug, "encoder": encoder, "reads": SOURCE}
    job = jobs.start(kind="sentinel", name="Sentinel", given=given, enqueue=False)
    run_job(job)
    job = TrainingJob.objects.get(pk=job.pk)
    assert (job.status, job.message) == ("done", "")
    name = f"sentinel-{job.pk}"
    (run,) = runs.start(test_set=campaign.test_set, metrics=[name], enqueue=False).runs
    scoring.drain(run.pk, worker="test")
    assert MetricRun.objects.get(pk=run.pk).status == "done"
    metric = catalogue.load(name, source_language="de", target_language="en")
    rows = [each for split in judged.folds(campaign, 5, 42) for each in split.held_out]
    scores = metric.score([SegmentInput(each.source, each.text, ()) for each in rows])
    r = stats.pearsonr(scores[:, 0], [each.score for each in rows]).statistic
    reported = job.result["held_out"]["pearson"]["sentinel"]["value"]
    assert r == pytest.approx(reported, abs=1e-9)


def test_a_new_source_is_scored_by_the_mean_of_all_fits(campaign: Campaign, tmp_path: Path) -> None:
    outcome = fit(campaign, tmp_path, LENGTHS)
    assert outcome.metric is not None
    info = configure("trained-sentinel", "s", "S", outcome.metric.options)
    assert (info.queue, info.checkpoint) == ("cpu", "")
    metric = catalogue.registry.build(
        info,
        catalogue.registry.get_family("trained-sentinel").scorer,
        source_language="de",
        target_language="en",
    )
    known = sentinels.read_features(LENGTHS, [("neu", "new one")], None)
    stored = load_sentinel(str(path_of(outcome)))
    expected = np.mean([line.predict(known) for line in stored.lines])
    assert metric.score([SegmentInput("neu", "new one", ())])[0, 0] == pytest.approx(expected)
    assert metric.score([]).shape == (0, 1)
    assert len(metric.signature()) <= 400


def test_other_weights_are_refused(campaign: Campaign, encoder: str, tmp_path: Path) -> None:
    outcome = fit(campaign, tmp_path, OUTPUT, encoder)
    path = path_of(outcome)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"encoder": "another"}))
    assert outcome.metric is not None
    info = configure("trained-sentinel", "s", "S", outcome.metric.options)
    scorer = catalogue.registry.get_family("trained-sentinel").scorer
    with refusals.refused("sentinel.other-weights", kind=MetricError):
        catalogue.registry.build(info, scorer, source_language="de", target_language="en")


@pytest.mark.parametrize("text", ["", "[]", '{"reads": "source"}', "{"])
def test_a_file_that_holds_no_sentinel(tmp_path: Path, text: str) -> None:
    path = tmp_path / "sentinel.json"
    path.write_text(text)
    with refusals.refused(
        "option.problem", kind=ValueError, option="sentinel", problem="sentinel.not-a-sentinel"
    ):
        configure("trained-sentinel", "s", "S", {"sentinel": str(path)})


def test_too_few_sources_are_a_sentence(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(make_test_set(segments=4, languages=("de", "en")))
    with refused("head.too-few-judged", fewest=10):
        fit(campaign, tmp_path, LENGTHS)
    with refused("head.no-campaign", campaign="none"):
        sentinel.run(Work({"campaign": "none", "reads": LENGTHS, "seed": 1}, tmp_path))
