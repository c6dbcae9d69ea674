"""The whole way from parallel text to a metric that scores with the projection."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.gpu import small
from extensions.neural.encoding import encoders
from extensions.neural.mover import mapping
from extensions.neural.sentence_vectors import cosine
from metrics import catalogue
from metrics.base import MetricError, SegmentInput
from metrics.models import MetricRun, SegmentScore
from metrics.options import clean_all
from metrics.runs import scoring
from metrics.runs import starting as runs
from tests.extensions.neural import test_laser
from tests.extensions.neural.reference_free import make
from tests.training.doing import refused, run_job
from tests.world import World, make_test_set
from training.contract import Corpus, JobError, StoppedError, Work
from training.jobs import starting as jobs
from training.models import TrainingJob
from training.parallel import corpora
from training.parallel.reading import Row
from training.remap import job as remap
from training.remap.options import OPTIONS

N = 120
Pairs = list[tuple[str, str]]


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    from django.conf import settings

    path = Path(settings.DATA_DIR) / "parallel" / "zh-en.wmt17-unscored.tsv"
    with path.open(encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row["source"], row["target"]) for row in rows][:N]


@pytest.fixture(scope="module")
def encoder(pairs: Pairs, tmp_path_factory: pytest.TempPathFactory) -> str:
    texts = [text for pair in pairs for text in pair]
    folder = tmp_path_factory.mktemp("encoders") / "bert"
    return str(small.bert(folder, texts, positions=256))


def work(folder: Path, encoder: str, text: Pairs, **given: Any) -> Work:
    options = clean_all(OPTIONS, {"checkpoint": encoder, "layer": 1, "pairs": 80} | given)
    return Work(options, folder, [Corpus("c", "zh", "en", text, "h")])


def test_what_it_was_fitted_to_is_kept(tmp_path: Path, encoder: str, pairs: Pairs) -> None:
    result = remap.run(work(tmp_path, encoder, pairs)).result
    about = mapping.load(tmp_path / "mapping-1").about
    assert about.fingerprint == mapping.fingerprint(encoders.get(encoder).model)
    assert (about.layer, about.source_language, about.target_language) == (1, "zh", "en")
    assert about.n_pairs == result["pairs_of_vectors"] > 80
    assert result["pairs"] == {
        "in_the_corpus": N, "usable": 119, "fitted_to": 80, "held_out": 39
    }  # fmt: skip


def test_clp_is_orthogonal_and_the_same_again(tmp_path: Path, encoder: str, pairs: Pairs) -> None:
    first = remap.run(work(tmp_path / "a", encoder, pairs)).result
    second = remap.run(work(tmp_path / "b", encoder, pairs)).result
    matrix = mapping.load(tmp_path / "a" / "mapping-1").array
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(32), atol=1e-9)
    assert first["signature"] == second["signature"]


@pytest.mark.parametrize("units", ["words", "sentences"])
def test_held_out_pairs_come_nearer(tmp_path: Path, encoder: str, pairs: Pairs, units: str) -> None:
    held = remap.run(work(tmp_path, encoder, pairs, units=units)).result["held_out"]
    assert held["after"]["cosine"] > held["before"]["cosine"]


def test_the_curve_grows_over_the_same_held_out_pairs(
    tmp_path: Path, encoder: str, pairs: Pairs
) -> None:
    result = remap.run(work(tmp_path, encoder, pairs * 2, curve="yes", pairs=150)).result
    assert [row["pairs"] for row in result["curve_of_held_out_cosines"]] == [100, 191]
    assert len({row["compared"] for row in result["curve_of_held_out_cosines"]}) == 1
    vectors = [row["pairs_of_vectors"] for row in result["curve_of_held_out_cosines"]]
    assert vectors[0] < result["pairs_of_vectors"] < vectors[1]


def test_a_corpus_turned_round_is_the_other_direction(
    tmp_path: Path, encoder: str, pairs: Pairs
) -> None:
    """As if it had been uploaded the other way."""
    turned = work(tmp_path / "a", encoder, [pair[::-1] for pair in pairs], reverse="yes")
    result = remap.run(turned).result
    plain = remap.run(work(tmp_path / "b", encoder, pairs)).result
    assert result["direction"] == "en→zh"
    assert result["data_hash"] == plain["data_hash"]


def test_links_of_a_file_are_used(tmp_path: Path, encoder: str) -> None:
    path = tmp_path / "links.tsv"
    path.write_text("我 喜欢 港口\ti like harbours\t0-0 1-1 2-2\n你 好\thello\t0-0\n")
    given = [("我喜欢港口", "i like harbours"), ("你好", "hello"), ("没有", "none")]
    result = remap.run(work(tmp_path, encoder, given, alignments=str(path))).result
    assert result["pairs_of_vectors"] == 4
    assert (result["pairs"]["in_the_corpus"], result["pairs"]["with_an_alignment"]) == (3, 2)
    found = {each.code: each.parameters for each in result["warnings"]}
    assert found["remap.underdetermined"] == {"pairs": 4, "dimensions": 32}


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"layer": 9}, "remap.no-such-layer"),
        ({"checkpoint": "nobody/knows"}, "checkpoint.missing"),
        ({"alignments": "/nowhere"}, "alignments.unreadable"),
    ],
)
def test_what_cannot_be_fitted_says_why(
    tmp_path: Path, encoder: str, pairs: Pairs, given: dict[str, Any], code: str
) -> None:
    with refused(code, kind=JobError):
        remap.run(work(tmp_path, encoder, pairs, **given))


def test_text_without_a_usable_pair_is_refused(tmp_path: Path, encoder: str) -> None:
    long = " ".join(["word"] * 100)
    with refused("remap.none-usable"):
        remap.run(work(tmp_path, encoder, [(long, "short")]))


def test_corpora_of_two_directions_are_refused(tmp_path: Path, encoder: str, pairs: Pairs) -> None:
    asked = work(tmp_path, encoder, pairs)
    other = Corpus("d", "de", "en", pairs, "h")
    with refused("remap.directions", directions=["de→en", "zh→en"]):
        remap.run(Work(asked.options, tmp_path, [*asked.corpora, other]))


def test_it_stops_on_request(tmp_path: Path, encoder: str, pairs: Pairs) -> None:
    def stop(progress: dict[str, Any]) -> None:
        if progress["stage"].code == "stage.fitting":
            raise StoppedError

    asked = work(tmp_path, encoder, pairs)
    with pytest.raises(StoppedError):
        remap.run(Work(asked.options, tmp_path, asked.corpora, stop))
    assert not (tmp_path / "mapping-1").exists()


@pytest.fixture
def fitted(world: World, encoder: str, pairs: Pairs, settings: Any, tmp_path: Path) -> TrainingJob:
    """A job that is done, over text of the database."""
    settings.TRAINED_DIR = tmp_path / "trained"
    rows = [Row(f"c.tsv:{n}", *pair) for n, pair in enumerate(pairs)]
    corpus = corpora.add(name="news", source_language="zh", target_language="en", rows=rows)
    job = jobs.start(
        kind="remap",
        name="Fit it",
        given={"checkpoint": encoder, "layer": 1, "pairs": 80},
        corpora=[corpus],
        enqueue=False,
    )
    run_job(job)
    return TrainingJob.objects.get(pk=job.pk)


def run_of(fitted: TrainingJob, test_set: Any) -> MetricRun:
    assert fitted.metric, fitted.message
    run = runs.start(test_set=test_set, metrics=[fitted.metric.name], enqueue=False).runs[0]
    scoring.drain(run.pk, worker="test")
    return MetricRun.objects.select_related("signature").get(pk=run.pk)


def test_its_metric_scores_a_test_set(world: World, fitted: TrainingJob) -> None:
    run = run_of(fitted, world.test_set)
    assert (run.status, run.message) == ("done", "")
    assert fitted.result["signature"] in run.signature.signature
    assert SegmentScore.objects.filter(signature=run.signature).count() == 8


def test_another_direction_is_refused_by_name(world: World, fitted: TrainingJob) -> None:
    other = make_test_set("other", languages=("de", "en"))
    run = run_of(fitted, other)
    assert run.status == "failed"
    assert "zh-en" in str(run.message)


def test_another_encoder_is_refused_by_name(
    world: World, fitted: TrainingJob, tmp_path: Path
) -> None:
    twin = small.bert(tmp_path / "twin", ["another harbour"])
    options = {
        "checkpoint": str(twin), "layer": 1, "mapping": str(fitted.folder / "mapping-1"),
    }  # fmt: skip
    catalogue.configure(family="xmoverscore", name="twin", label="Twin", options=options)
    with refused("mapping.other-encoder", MetricError):
        catalogue.load("twin", source_language="zh", target_language="en")


def test_laser_gives_a_cosine_of_sentences(tmp_path: Path, pairs: Pairs) -> None:
    folder = test_laser.save(tmp_path / "laser")
    with refused("remap.laser-words"):
        remap.run(work(tmp_path, folder, pairs, layer=-1))
    outcome = remap.run(work(tmp_path, folder, pairs, layer=-1, units="sentences"))
    assert outcome.metric is not None
    assert outcome.metric.family == "cosine"
    metric = make("cosine", **outcome.metric.options)
    source, target = pairs[0]
    vectors = [test_laser.plain(folder, text) for text in (source, target)]
    matrix = mapping.load(Path(str(outcome.metric.options["mapping"]))).array
    value = metric.score([SegmentInput(source, target, ())])[0, 0]
    assert value == pytest.approx(cosine(vectors[0] @ matrix, vectors[1]), abs=1e-5)
