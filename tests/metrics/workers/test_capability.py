"""What a host lacks to run a metric, and the runs that it leaves to others."""

from dataclasses import replace
from pathlib import Path

import pytest

from metrics import catalogue, registry
from metrics.base import MetricInfo
from metrics.models import Loading
from metrics.runs import starting
from metrics.workers import capability, devices, signatures
from metrics.workers.devices import Device
from metrics.workers.signatures import HostError
from tests.metrics.conftest import start
from tests.metrics.fleet import comet, empty_models, encoder
from tests.refusals import refused
from tests.worker_packages import full
from tests.world import World, make_test_set


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return empty_models(tmp_path, monkeypatch)


def info(name: str) -> MetricInfo:
    return registry.METRICS[name][0]


def test_a_lexical_metric_lacks_nothing(models: Path) -> None:
    assert capability.lacking(info("chrf")) == []


@pytest.mark.needs("extensions.neural")
@full
def test_a_missing_checkpoint_is_named_with_its_command(models: Path) -> None:
    (lack,) = capability.lacking(info("bleurt-20"))
    assert lack.code == "worker.checkpoint-missing"
    assert lack.parameters == {
        "checkpoint": "lucadiliello/BLEURT-20",
        "command": "python manage.py models --fetch lucadiliello/BLEURT-20",
    }
    encoder(models / "lucadiliello/BLEURT-20")
    assert capability.lacking(info("bleurt-20")) == []


@pytest.mark.needs("extensions.neural")
@full
def test_every_checkpoint_of_a_metric_is_looked_for(models: Path) -> None:
    missing = [each.parameters["checkpoint"] for each in capability.lacking(info("sentsim"))]
    assert missing == [
        "sentence-transformers/xlm-r-bert-base-nli-stsb-mean-tokens",
        "xlm-roberta-base",
    ]


@pytest.mark.needs("extensions.neural")
@full
def test_a_comet_needs_its_encoder(models: Path) -> None:
    comet(models / "Unbabel/wmt22-comet-da")
    (lack,) = capability.lacking(info("wmt22-comet-da"))
    assert lack.parameters["command"] == "python manage.py models --fetch xlm-roberta-large"
    encoder(models / "xlm-roberta-large")
    assert capability.lacking(info("wmt22-comet-da")) == []


@pytest.mark.needs("extensions.neural")
def test_a_missing_package_is_named(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder(models / "lucadiliello/BLEURT-20")
    here = {"torch", "transformers"}
    monkeypatch.setattr(capability, "find_spec", lambda name: name if name in here else None)
    (lack,) = capability.lacking(info("bleurt-20"))
    assert lack.code == "worker.package-missing"
    assert lack.parameters["package"] == "bleurt_pytorch"
    here.clear()
    assert len(capability.lacking(info("bleurt-20"))) == 3
    assert capability.lacking(info("chrf")) == []


def test_the_tokenizer_of_a_language_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert capability.lacking(info("bleu"), "ja") == capability.lacking(info("bleu"), "ko") == []
    monkeypatch.setattr(capability, "find_spec", lambda name: name if "ko" not in name else None)
    lack, _ = capability.lacking(info("bleu"), "kor-KR")
    assert lack.code == "worker.package-missing"
    assert lack.parameters == {"package": "mecab_ko", "command": capability.INSTALL}
    assert capability.lacking(info("bleu"), "en") == capability.lacking(info("chrf"), "ko") == []
    here = capability.lacking_here([info("bleu"), info("chrf")])
    assert {name: len(sentences) for name, sentences in here.items()} == {"bleu → ko": 2}
    plain, korean = (
        registry.configure("lexical", "own", "Own", {"metric": "bleu", "tokenizer": tokenizer})
        for tokenizer in ("13a", "ko-mecab")
    )
    assert capability.lacking_here([plain]) == {}
    assert list(capability.lacking_here([korean])) == ["own"]


@pytest.mark.django_db
def test_runs_into_a_language_without_its_tokenizer_are_left_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(capability, "find_spec", lambda name: name if "ko" not in name else None)
    test_set = make_test_set(languages=("en", "ko"))
    started = starting.start(test_set=test_set, metrics=["bleu", "chrf"], enqueue=False)
    bleu, chrf = started.runs
    assert capability.fit() == {chrf.pk}
    assert capability.lacks(bleu)[0].parameters["package"] == "mecab_ko"


@pytest.mark.needs("extensions.neural")
@full
def test_an_encoder_of_another_depth(models: Path) -> None:
    encoder(models / "bert-base-multilingual-cased", layers=6)
    (lack,) = capability.lacking(info("bertscore-mbert"))
    assert lack.code == "worker.other-layers"
    assert (lack.parameters["expected"], lack.parameters["actual"]) == (13, 7)
    (lack,) = capability.lacking(info("yisi-1"))
    assert lack.code == "worker.no-such-layer"
    assert (lack.parameters["last"], lack.parameters["layer"]) == (6, 9)
    (models / "bert-base-multilingual-cased/config.json").write_text("{}")
    (lack,) = capability.lacking(info("yisi-1"))
    assert lack.code == "checkpoint.layers-unknown"


@pytest.mark.needs("extensions.neural")
def test_a_file_that_only_others_have(models: Path, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    options = {"vectors": str(path), "compare": "reference"}
    words = registry.configure("yisi-static", "words", "Words", options)
    (lack,) = capability.lacking(words)
    assert lack.code == "worker.file-missing"
    assert lack.parameters["command"] == f"rsync -a OTHER_HOST:{path} {path}"
    path.write_text("a 1 2\n")
    assert capability.lacking(words) == []


GPU: Device = {"kind": "gpu", "name": "NVIDIA A100", "total": 1, "free": 1}
CPU: Device = {"kind": "cpu", "name": "2 cores", "total": 1, "free": 1}


@pytest.mark.needs("extensions.neural")
@full
@pytest.mark.parametrize(
    ("found", "answer", "is_able"),
    [
        ([CPU], "", False),
        ([GPU, CPU], "7.5\n", False),
        ([GPU, CPU], "8.0\n", True),
        ([GPU, CPU], "7.0\n9.0\n", True),
        ([GPU, CPU], "", True),
    ],
)
def test_tf32_needs_a_gpu_that_has_it(
    models: Path,
    monkeypatch: pytest.MonkeyPatch,
    found: list[Device],
    answer: str,
    is_able: bool,
) -> None:
    encoder(models / "lucadiliello/BLEURT-20")
    monkeypatch.setattr(devices, "devices", lambda: found)
    monkeypatch.setattr(devices, "_ask", lambda query: answer)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    chosen = replace(info("bleurt-20"), options=(("precision", "tf32"),))
    assert (capability.lacking(chosen) == []) is is_able
    assert capability.lacking(info("bleurt-20")) == []


def test_a_metric_that_this_code_does_not_know(world: World) -> None:
    assert capability.lacking(None) == [capability.UNKNOWN]


@pytest.mark.needs("extensions.neural")
@full
def test_runs_that_this_host_leaves_to_others(world: World, models: Path) -> None:
    able, unable = start(world, "chrf"), start(world, "bleurt-20")
    assert capability.fit() == {able.pk}
    assert capability.lacks(able) == []
    encoder(models / "lucadiliello/BLEURT-20")
    assert capability.fit() == {able.pk, unable.pk}


@pytest.mark.needs("extensions.neural")
def test_what_loading_showed_counts_as_lacking(world: World, models: Path) -> None:
    encoder(models / "lucadiliello/BLEURT-20")
    run = start(world, "bleurt-20")
    with refused("bleurt.not-loaded", kind=HostError):
        signatures.load(run)
    assert capability.fit() == set()
    (lack,) = capability.lacks(run)
    assert lack.code == "bleurt.not-loaded"
    Loading.objects.update(host="elsewhere")
    assert capability.fit() == {run.pk}


@pytest.mark.needs("extensions.neural")
@full
def test_a_retired_metric_still_runs_what_was_started(world: World, models: Path) -> None:
    encoder(models / "acme/x")
    options = {"checkpoint": "acme/x", "layer": 3}
    catalogue.configure(family="bertscore", name="acme", label="Acme", options=options)
    run = start(world, "acme")
    catalogue.retire("acme")
    assert capability.lacks(run) == []
    assert capability.fit() == {run.pk}
