"""Correlations by the number of pairs: nested samples, numbers of scipy, going on, the page."""

import csv
import json
import random
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings as django_settings
from django.test import Client
from scipy import stats

from annotation.models import Campaign, Output, PublishedScore
from benchmarks.gpu import small
from extensions.neural.mover import mapping
from extensions.neural.mover.xmoverscore import XMoverScore
from metrics.base import SegmentInput
from metrics.options import clean_all
from tests.extensions.neural.reference_free import make
from tests.training.doing import refused, run_job
from tests.world import World, make_campaign, make_test_set
from training.contract import Corpus, Outcome, StoppedError, Work
from training.jobs import starting as jobs
from training.models import TrainingJob
from training.pair_curve import job, page
from training.pair_curve.options import OPTIONS, conflicts
from training.parallel import corpora
from training.parallel.reading import Row
from training.remap import job as remap
from training.remap import options as remap_options

Pairs = list[tuple[str, str]]
SYSTEMS = tuple("abcdefg")


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    path = Path(django_settings.DATA_DIR) / "parallel" / "zh-en.wmt17-unscored.tsv"
    with path.open(encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row["source"], row["target"]) for row in rows][:80]


@pytest.fixture(scope="module")
def encoder(pairs: Pairs, tmp_path_factory: pytest.TempPathFactory) -> str:
    texts = [text for pair in pairs for text in pair]
    folder = tmp_path_factory.mktemp("encoders") / "bert"
    return str(small.bert(folder, texts, positions=256, hidden_size=16))


@pytest.fixture
def campaign(db: None) -> Campaign:
    """Seven systems × 24 segments with published scores, one of them missing."""
    test_set = make_test_set(segments=24, systems=SYSTEMS)
    made = make_campaign(test_set)
    outputs = list(Output.objects.filter(system__test_set=test_set).order_by("pk"))
    rng = np.random.default_rng(1)
    PublishedScore.objects.bulk_create(
        PublishedScore(campaign=made, output=output, value=float(value))
        for output, value in zip(outputs[1:], rng.normal(size=len(outputs)), strict=False)
    )
    return made


def work(folder: Path, encoder: str, text: Pairs, report: Any = None, **given: Any) -> Work:
    chosen = {"campaign": "harbour-80", "checkpoint": encoder, "layer": 1, "sizes": "10 30"}
    options = clean_all(OPTIONS, chosen | given)
    corpus = Corpus("c", "zh", "en", text, "h")
    return Work(options, folder, [corpus], report or (lambda progress: None))


def rows_of(outcome: Outcome) -> dict[tuple[str, int], dict[str, Any]]:
    rows = outcome.result[job.ROWS]
    return {(row["projection"], row["pairs"]): row for row in rows}


def test_samples_are_nested_and_fitted_as_by_the_projection(
    campaign: Campaign, encoder: str, pairs: Pairs, tmp_path: Path
) -> None:
    outcome = job.run(work(tmp_path / "curve", encoder, pairs))
    found = rows_of(outcome)
    assert list(found) == [("", 0), ("clp", 10), ("clp", 30), ("umd", 10), ("umd", 30)]
    shuffled = list(pairs)
    random.Random(42).shuffle(shuffled)
    for (kind, size), row in found.items():
        if not kind:
            continue
        given = {"checkpoint": encoder, "layer": 1, "pairs": size, "projection": kind}
        alone = Work(
            clean_all(remap_options.OPTIONS, given),
            tmp_path / f"{kind}-{size}",
            [Corpus("c", "zh", "en", shuffled[:size], "h")],
        )
        result = remap.run(alone).result
        ours = mapping.load(tmp_path / "curve" / f"{kind}-{size}-1")
        theirs = mapping.load(alone.folder / "mapping-1")
        np.testing.assert_allclose(ours.array, theirs.array, atol=1e-4)
        assert ours.about.data_hash == theirs.about.data_hash
        assert row["pairs_of_vectors"] == result["pairs_of_vectors"]


def test_correlations_are_those_of_scipy(
    campaign: Campaign, encoder: str, pairs: Pairs, tmp_path: Path
) -> None:
    found = rows_of(job.run(work(tmp_path, encoder, pairs)))
    human = dict(campaign.published_scores.values_list("output_id", "value"))
    outputs = Output.objects.filter(pk__in=human).select_related("segment").order_by("pk")
    texts = [SegmentInput(each.segment.source, each.text, ()) for each in outputs]
    ours = np.array([human[each.pk] for each in outputs])
    systems = np.array([each.system_id for each in outputs])
    names = sorted(set(systems))
    values = {}
    for (kind, size), row in found.items():
        folder = str(tmp_path / f"{kind}-{size}-1") if kind else ""
        metric = make("xmoverscore", checkpoint=encoder, layer=1, mapping=folder)
        scores = values[kind, size] = metric.score(texts)[:, 1]
        assert row["r"] == pytest.approx(stats.pearsonr(ours, scores)[0])
        assert row["tau"] == pytest.approx(stats.kendalltau(ours, scores)[0], abs=1e-9)
        means = [[side[systems == name].mean() for name in names] for side in (ours, scores)]
        assert row["r_system"] == pytest.approx(stats.pearsonr(*means)[0])
        assert row["r_low"] < row["r"] < row["r_high"]
        if kind:
            assert row["gain"] == pytest.approx(row["r"] - found["", 0]["r"])
    assert len({round(row["r"], 6) for row in found.values()}) > 3


def test_a_job_that_stopped_does_not_score_twice(
    campaign: Campaign,
    encoder: str,
    pairs: Pairs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = job.run(work(tmp_path / "whole", encoder, pairs)).result
    scored: list[int] = []
    original = XMoverScore.score

    def score(self: XMoverScore, inputs: Any) -> Any:
        scored.append(len(inputs))
        return original(self, inputs)

    def stop(progress: dict[str, Any]) -> None:
        if progress.get("step", 0) >= 3 * (24 * 7 - 1):
            raise StoppedError

    monkeypatch.setattr(XMoverScore, "score", score)
    with pytest.raises(StoppedError):
        job.run(work(tmp_path / "parts", encoder, pairs, stop))
    parts = job.run(work(tmp_path / "parts", encoder, pairs)).result
    n = 24 * 7 - 1
    # What was being written down when it stopped is scored again.
    assert sum(scored) in (5 * n, 6 * n)
    assert parts[job.ROWS] == whole[job.ROWS]


def test_more_pairs_than_there_are_become_all(
    campaign: Campaign, encoder: str, pairs: Pairs, tmp_path: Path
) -> None:
    outcome = job.run(work(tmp_path, encoder, pairs[:21], sizes="5, 500", projections="clp"))
    assert [size for _, size in rows_of(outcome)] == [0, 5, 21]
    codes = {each.code: each.parameters for each in outcome.result["warnings"]}
    assert codes["remap.fewer-pairs"] == {"found": 21, "wanted": 500}


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"campaign": "nowhere"}, "head.no-campaign"),
        ({"layer": 9}, "remap.no-such-layer"),
        ({"reverse": "yes"}, "mapping.other-direction"),
    ],
)
def test_what_cannot_be_computed_says_why(
    campaign: Campaign, encoder: str, pairs: Pairs, tmp_path: Path, given: Any, code: str
) -> None:
    with refused(code):
        job.run(work(tmp_path, encoder, pairs, **given))


def test_a_campaign_without_human_scores_is_refused(
    campaign: Campaign, encoder: str, pairs: Pairs, tmp_path: Path
) -> None:
    campaign.published_scores.all().delete()
    with refused("outputs.no-human-scores"):
        job.run(work(tmp_path, encoder, pairs))


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"campaign": "nowhere"}, "campaign"),
        ({"sizes": "1 two"}, "sizes"),
        ({"sizes": "0 5"}, "sizes"),
        ({"sizes": ""}, "sizes"),
        ({"projections": "clp,odd"}, "projections"),
    ],
)
def test_settings_that_do_not_fit_are_refused_at_their_field(
    campaign: Campaign, given: dict[str, str], name: str
) -> None:
    chosen = {"campaign": "harbour-80", "sizes": "10", "projections": "umd"}
    assert conflicts(chosen) == {}
    assert list(conflicts(chosen | given)) == [name]


@pytest.fixture
def done(world: World, encoder: str, pairs: Pairs, settings: Any, tmp_path: Path) -> TrainingJob:
    settings.TRAINED_DIR = tmp_path / "trained"
    for place, output in enumerate(Output.objects.filter(system__test_set=world.test_set)):
        PublishedScore.objects.create(campaign=world.campaign, output=output, value=place % 3)
    rows = [Row(f"c.tsv:{n}", *pair) for n, pair in enumerate(pairs)]
    corpus = corpora.add(name="news", source_language="zh", target_language="en", rows=rows)
    given = {
        "campaign": world.campaign.slug, "checkpoint": encoder, "layer": 1, "sizes": "10 30",
    }  # fmt: skip
    started = jobs.start(
        kind="pair-curve", name="Curve", given=given, corpora=[corpus], enqueue=False
    )
    return run_job(started)


def test_the_page_has_the_figure_and_its_files(
    world: World, done: TrainingJob, client: Client
) -> None:
    assert (done.status, done.message) == ("done", "")
    client.force_login(world.researcher)
    shown = client.get(done.get_absolute_url())
    assert shown.status_code == 200
    assert len(shown.context["curve"].lines) == 5
    table = client.get(f"/training/jobs/{done.pk}/pairs.csv").getvalue().decode("utf-8-sig")
    rows = list(csv.DictReader(StringIO(table)))
    stored = done.result[job.ROWS]
    assert [float(row["r"]) for row in rows] == pytest.approx([row["r"] for row in stored])
    document = json.loads(client.get(f"/training/jobs/{done.pk}/pairs.json").content)
    assert document["rows"][-1]["gain"] == stored[-1]["gain"]
    # The legend names both projections.
    svg = client.get(f"/training/jobs/{done.pk}/figures/pairs.svg").content.decode()
    assert all(f">{name}</text>" in svg for name in ("clp", "umd"))
    for fmt, start in (("svg", b"<svg"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        drawn = client.get(f"/training/jobs/{done.pk}/figures/pairs.{fmt}")
        assert drawn.content.startswith(start)
    spec = json.loads(client.get(f"/training/jobs/{done.pk}/figures/pairs.json").content)
    *bands, lines, rule = spec["vconcat"][0]["layer"]
    points = lines["data"]["values"]
    assert [each["value"] for each in points] == [row["r"] for row in stored[1:]]
    assert [each["value"] for each in rule["data"]["values"]] == [stored[0]["r"]]
    colours = lines["encoding"]["color"]["scale"]["range"]
    assert [each["mark"]["color"] for each in bands] == colours


def test_other_jobs_and_other_figures_are_not_found(
    world: World, done: TrainingJob, client: Client
) -> None:
    client.force_login(world.researcher)
    other = TrainingJob.objects.create(kind="remap", name="fit", status="done")
    assert page.curve_of(other) is None
    for address in (
        f"/training/jobs/{other.pk}/pairs.csv",
        f"/training/jobs/{other.pk}/figures/pairs.svg",
        f"/training/jobs/{done.pk}/figures/other.svg",
        f"/training/jobs/{done.pk}/pairs.odd",
    ):
        assert client.get(address).status_code == 404
