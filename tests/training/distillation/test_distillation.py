"""Multilingual distillation: the loss, the measures, going on after a kill, and BERTScore on it."""

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
import torch
from bert_score import BERTScorer
from safetensors.torch import load_file
from transformers import BertModel, BertTokenizer

from benchmarks.gpu import small
from metrics import catalogue
from metrics.base import SegmentInput
from metrics.models import MetricRun, SegmentScore
from metrics.options import clean_all
from metrics.runs import scoring
from metrics.runs import starting as runs
from tests.metrics.sites import Broker
from tests.training.doing import refused, run_job
from tests.training.jobs.test_killed import TrainingSite, one_thread
from tests.world import make_test_set
from training.contract import Corpus, StoppedError, Work
from training.distillation import job
from training.distillation.level import Distillation, match
from training.distillation.options import OPTIONS, Recipe
from training.jobs import starting as jobs
from training.jobs.saving import current
from training.models import TrainingJob
from training.parallel import corpora
from training.parallel.reading import Row
from training.refreeeval import loop
from training.refreeeval.data import Pair
from training.refreeeval.student import Student

NOUNS, PLACES = ["harbour", "boat", "rope", "crane"], ["water", "quay", "wind", "fog"]
PAIRS = [
    (f"Satz {n} {NOUNS[n % 4]}", f"the {NOUNS[n % 4]} and {PLACES[n % 3]} of number {n}")
    for n in range(60)
]
CORPUS = Corpus("news", "de", "en", PAIRS, "0" * 64)
QUICK = {
    "layer": 2,
    "passes": 6,
    "held_out": 0.3,
    "batch": 8,
    "rate": 2e-3,
    "warmup": 2,
    "evaluate_every": 4,
}
__all__ = ["one_thread"]


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A plain encoder: its sentence vectors are means."""
    texts = [text for pair in PAIRS for text in pair]
    return str(small.bert(tmp_path_factory.mktemp("teacher") / "bert", texts, layers=2))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    texts = [text for pair in PAIRS for text in pair]
    folder = small.bert(tmp_path_factory.mktemp("student") / "bert", texts)
    torch.manual_seed(3)
    model = BertModel.from_pretrained(folder)
    for weight in model.parameters():
        weight.data += 0.02 * torch.randn_like(weight)
    model.save_pretrained(folder)
    return str(folder)


@pytest.fixture
def options(teacher: str, encoder: str) -> dict[str, Any]:
    return clean_all(OPTIONS, QUICK | {"teacher": teacher, "encoder": encoder})


def plain_mean(folder: str, text: str) -> torch.Tensor:
    """The mean of the last layer, with transformers alone."""
    tokenizer, model = BertTokenizer.from_pretrained(folder), BertModel.from_pretrained(folder)
    with torch.no_grad():
        states = model.eval()(**tokenizer(text, return_tensors="pt")).last_hidden_state
    return states[0].mean(dim=0)


def test_the_loss_is_that_of_the_formula(teacher: str, encoder: str, options: Any) -> None:
    """mean[(M(s) − M'(s))² + (M(s) − M'(t))²], texts one by one, without the shared code."""
    pairs = [Pair(english, german, "en", "de") for german, english in PAIRS[:5]]
    taught = np.stack([plain_mean(teacher, each.source).numpy() for each in pairs])
    student = Student(encoder, 3, 64)
    student.model.eval()
    recipe = Recipe.from_options(options)
    level = Distillation(student, recipe, pairs, taught, pairs, taught)
    loss, parts = level.loss(range(5))
    expected = np.zeros(2)
    for pair, goal in zip(pairs, taught, strict=True):
        for side, text in enumerate((pair.source, pair.target)):
            expected[side] += ((goal - plain_mean(encoder, text).numpy()) ** 2).mean() / 5
    assert loss.item() == pytest.approx(expected.sum(), rel=1e-4)
    assert [each.item() for each in parts.values()] == pytest.approx(expected.tolist(), rel=1e-4)
    assert level.validate().loss == pytest.approx(expected.sum(), rel=1e-4)
    torch.autograd.backward(loss)
    assert all(each.grad is not None for each in student.model.encoder.parameters())


def test_retrieval_looks_for_the_nearest_of_all_in_both_directions(encoder: str) -> None:
    pairs = [Pair(english, german, "en", "de") for german, english in PAIRS[:12]]
    sides = [
        np.stack([plain_mean(encoder, getattr(each, side)).numpy() for each in pairs])
        for side in ("source", "target")
    ]
    units = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in sides]
    into, back = [], []
    for n in range(12):
        into.append(max(range(12), key=lambda m, n=n: units[0][n] @ units[1][m]) == n)
        back.append(max(range(12), key=lambda m, n=n: units[0][m] @ units[1][n]) == n)
    found = match(Student(encoder, 3, 64), pairs, sides[0])
    assert (found.into, found.back) == (into, back)
    assert found.accuracy == pytest.approx(np.mean(into + back))


def test_held_out_pairs_come_nearer_whatever_the_side_of_the_teacher(
    options: Any, tmp_path: Path
) -> None:
    result = job.run(Work(options, tmp_path / "a", [CORPUS])).result
    held, level = result["held_out"], result["levels"]["distilled"]
    assert held["error_trained"] < 0.7 * held["error_untrained"]
    assert held["into_other"]["n"] == held["n"] == result["data"]["test"]
    errors = {row["step"]: row["held_out_loss"] for row in level["curve"]}
    assert errors[result["updates_of_kept_weights"]] == min(errors.values())
    turned = Corpus("news", "en-GB", "de", [pair[::-1] for pair in PAIRS], "0" * 64)
    again = job.run(Work(options, tmp_path / "b", [turned])).result
    assert again["held_out"]["error_trained"] == held["error_trained"]


def test_a_training_that_was_stopped_ends_as_one_that_was_not(
    options: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "REPORT_SECONDS", 0.0)
    job.run(Work(options, tmp_path / "whole", [CORPUS]))
    for step in (3, 9):

        def stop(progress: dict[str, Any], step: int = step) -> None:
            if progress["level"] == "distilled" and progress["step"] >= step:
                raise StoppedError

        with pytest.raises(StoppedError):
            job.run(Work(options, tmp_path / "parts", [CORPUS], stop))
    job.run(Work(options, tmp_path / "parts", [CORPUS]))
    whole, parts = (weights_of(tmp_path / name) for name in ("whole", "parts"))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    made = current(folder, "metric")
    assert made is not None
    return load_file(made / "model.safetensors")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"language": "fr"}, "distillation.other-languages"),
        ({"layer": 4}, "refreeeval.too-few-layers"),
        ({"encoder": "nobody/knows"}, "checkpoint.missing"),
        ({"teacher": "nobody/knows"}, "checkpoint.missing"),
    ],
)
def test_what_cannot_be_trained_says_why(
    options: Any, tmp_path: Path, given: dict[str, Any], code: str
) -> None:
    with refused(code):
        job.run(Work(options | given, tmp_path, [CORPUS]))


def test_vectors_of_another_width_are_refused(options: Any, tmp_path: Path) -> None:
    texts = [text for pair in PAIRS for text in pair]
    wide = small.bert(tmp_path / "wide", texts, hidden_size=16)
    with refused("distillation.widths", width=32, wanted=16):
        job.run(Work(options | {"teacher": str(wide)}, tmp_path / "job", [CORPUS]))


def test_text_whose_translations_are_all_the_same_is_refused(options: Any, tmp_path: Path) -> None:
    same = Corpus("same", "de", "en", [(f"Satz {n}", "the same") for n in range(40)], "1" * 64)
    with refused("distillation.too-few-held-out"):
        job.run(Work(options, tmp_path, [same]))


@pytest.fixture
def trained(db: None, options: Any, settings: Any, tmp_path: Path) -> TrainingJob:
    settings.TRAINED_DIR = tmp_path / "trained"
    rows = [Row(str(n), *pair) for n, pair in enumerate(PAIRS)]
    corpus = corpora.add(name="news", source_language="de", target_language="en", rows=rows)
    started = jobs.start(
        kind="distillation", name="MKD", given=options, corpora=[corpus], enqueue=False
    )
    return run_job(started)


def test_bertscore_on_the_student_is_that_of_bert_score(trained: TrainingJob) -> None:
    """The official package reads the stored folder as any checkpoint of the hub."""
    assert (trained.status, trained.message) == ("done", "")
    assert trained.metric is not None
    test_set = make_test_set(languages=("de", "en"))
    run = runs.start(test_set=test_set, metrics=[trained.metric.name], enqueue=False).runs[0]
    scoring.drain(run.pk, worker="test")
    done = MetricRun.objects.select_related("signature").get(pk=run.pk)
    assert done.status == "done"
    assert SegmentScore.objects.filter(signature=done.signature).count() == 8
    metric = catalogue.load(trained.metric.name, source_language="de", target_language="en")
    ours = metric.score([SegmentInput(german, english, ()) for german, english in PAIRS[:8]])
    folder = metric.info.checkpoint
    theirs = BERTScorer(folder, num_layers=2).score(
        [english for _, english in PAIRS[:8]], [german for german, _ in PAIRS[:8]]
    )
    np.testing.assert_allclose(ours, np.stack(theirs, axis=1), atol=1e-5)
    assert len(np.unique(ours.round(6))) > 8
    verdict = trained.verdict
    assert verdict is not None
    assert [each.code for each in verdict.sentences[:2]] == [
        "verdict.distilled", "verdict.distilled-held-out"
    ]  # fmt: skip
    assert len(verdict.sentences) == 3


START = """
import json
from training.jobs import starting
from training.parallel import corpora
from training.parallel.reading import Row
rows = [Row(str(n), *pair) for n, pair in enumerate({pairs!r})]
corpus = corpora.add(name="news", source_language="de", target_language="en", rows=rows)
options = json.loads({options!r})
print(starting.start(kind="distillation", name="k", given=options, corpora=[corpus]).folder)
"""


@pytest.fixture
def site(tmp_path: Path, migrated: Path) -> Iterator[TrainingSite]:
    shutil.copy(migrated, tmp_path)
    site = TrainingSite(tmp_path, f"touchstone-{uuid4().hex[:12]}", None, Broker(tmp_path))
    try:
        yield site
    finally:
        for worker in site.workers.values():
            worker.kill()
            worker.wait()


def test_a_killed_distillation_ends_with_the_same_weights(
    site: TrainingSite, options: Any, tmp_path: Path, one_thread: None
) -> None:
    chosen = options | {"passes": 20}
    code = START.format(pairs=PAIRS, options=json.dumps(chosen))
    folder = Path(site.manage("shell", "-v0", "-c", code).split()[-1])
    site.start_worker("only")
    checkpoint = folder / "distilled" / "last.current"
    site.wait_for(
        "the third checkpoint",
        lambda: checkpoint.exists() and int(checkpoint.read_text().rpartition("-")[2] or 0) > 2,
    )
    os.kill(int(site.job()[2].split(".")[1]), signal.SIGKILL)
    assert current(folder, "metric") is None
    site.wait_for("the job ends", lambda: site.job()[0] in ("done", "failed"))
    assert site.job()[:2] == ("done", 1)
    job.run(Work(chosen, tmp_path / "whole", [CORPUS]))
    found, expected = weights_of(folder), weights_of(tmp_path / "whole")
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)
