"""A neural metric from the command to the table, and a run whose model is not there."""

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.models import Output
from metrics import encoders
from metrics.models import MetricRun
from metrics.scores import load_scores, system_scores
from tests.metrics.families.neural import small
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


def test_a_missing_model_fails_with_the_way_to_get_it(world: World, models: Path) -> None:
    with pytest.raises(CommandError):
        call_command(
            "score", "harbour", "--metric", "bleurt-20", "--here", stdout=StringIO(),
            stderr=StringIO(),
        )  # fmt: skip
    run = MetricRun.objects.get()
    assert run.status == "failed"
    assert "hf download lucadiliello/BLEURT-20" in run.message
