"""A neural metric from the command to the table, and a run whose model is not there."""

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.models import Output
from benchmarks.gpu import small
from extensions.neural.encoding import encoders
from metrics import catalogue
from metrics.models import MetricRun
from metrics.runs import scoring
from metrics.scores import load_scores, system_scores
from tests.metrics.fleet import encoder
from tests.refusals import refused, tells
from tests.world import World


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOUCHSTONE_MODELS", str(tmp_path))
    encoders.forget()
    return tmp_path


def test_all_layers_are_kept_and_one_is_shown(world: World, models: Path) -> None:
    texts = list(Output.objects.values_list("text", flat=True))
    small.bert(models / "bert-base-multilingual-cased", texts, layers=12)
    call_command("score", "harbour", "--metric", "bertscore-mbert", "--here", stdout=StringIO())
    run = MetricRun.objects.get()
    assert (run.status, run.done, run.message) == ("done", 8, "")
    keys = list(Output.objects.values_list("content_key", flat=True))
    stored = load_scores(run.signature, world.test_set.systems.all(), keys)
    assert stored.shape == (8, 39)
    assert np.isfinite(stored).all()
    assert (stored <= 1 + 1e-6).all()
    measures = system_scores(world.test_set).measures
    assert list(measures) == ["bertscore-mbert-8-r"]
    column = run.signature.measures.index("bertscore-mbert-8-r")
    assert np.sort(measures["bertscore-mbert-8-r"].values, axis=None) == pytest.approx(
        np.sort(stored[:, column])
    )
    call_command("score", "harbour", "--metric", "bertscore-mbert", "--here", stdout=StringIO())
    assert MetricRun.objects.latest("pk").reused == 8


def test_a_missing_model_is_refused_with_the_way_to_get_it(world: World, models: Path) -> None:
    told = StringIO()
    with refused("command.not-all-started", kind=CommandError):
        call_command(
            "score", "harbour", "--metric", "bleurt-20", "--metric", "chrf", "--here",
            stdout=StringIO(), stderr=told,
        )  # fmt: skip
    assert "python manage.py models --fetch lucadiliello/BLEURT-20" in told.getvalue()
    assert [(run.metric, run.status) for run in MetricRun.objects.all()] == [("chrf", "done")]


def test_what_cannot_be_loaded_here_fails(world: World, models: Path) -> None:
    encoder(models / "lucadiliello/BLEURT-20")
    with refused("command.runs-failed", kind=CommandError, n=1, total=1):
        call_command(
            "score", "harbour", "--metric", "bleurt-20", "--here", stdout=StringIO(),
            stderr=StringIO(),
        )  # fmt: skip
    run = MetricRun.objects.get()
    assert (run.status, tells(str(run.message), "bleurt.not-loaded")) == ("failed", True)


def test_a_run_whose_scores_exist_loads_nothing(
    world: World, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = list(Output.objects.values_list("text", flat=True))
    small.bert(models / "bert-base-multilingual-cased", texts, layers=12)

    def score() -> MetricRun:
        call_command("score", "harbour", "--metric", "bertscore-mbert", "--here", stdout=StringIO())
        return MetricRun.objects.latest("pk")

    first = score()
    scoring.forget()
    monkeypatch.setattr(catalogue, "load", None)
    second = score()
    assert (second.status, second.reused, second.signature) == ("done", 8, first.signature)
    vocabulary = models / "bert-base-multilingual-cased/vocab.txt"
    vocabulary.write_text(vocabulary.read_text().removesuffix("\n") + "-pilot\n")
    monkeypatch.undo()
    monkeypatch.setenv("TOUCHSTONE_MODELS", str(models))
    third = score()
    assert (third.status, third.reused) == ("done", 0)
    assert third.signature != first.signature
