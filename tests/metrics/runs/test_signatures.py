"""Signatures known without loading: each thing that makes one stale, and what hosts could not."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Reference
from metaeval.messages import message
from metrics import catalogue, registry
from metrics.base import InputError, MeanOfSegments, MetricError, MetricInfo
from metrics.models import Loading, MetricRun, MetricSignature
from metrics.stock import inventory
from metrics.workers import signatures
from metrics.workers.signatures import HostError
from tests.metrics import fleet
from tests.metrics.conftest import start
from tests.refusals import refused
from tests.world import World


class Loaded(MeanOfSegments):
    """A metric in memory, of which only the signature matters."""

    __module__ = "metrics.loaded"

    def __init__(self, info: MetricInfo) -> None:
        self.info = info

    def signature(self) -> str:
        return f"{self.info.name}|weights:1"


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return fleet.empty_models(tmp_path, monkeypatch)


@pytest.fixture
def run(world: World, models: Path, monkeypatch: pytest.MonkeyPatch) -> MetricRun:
    """A run of BERTScore with idf and baselines under an encoder, its signature learnt."""
    fleet.encoder(models / "acme/encoder")
    rows = "\n".join(f"{layer},0.1,0.1,0.1" for layer in range(13))
    (models / "acme/encoder/own.tsv").write_text(f"LAYER,P,R,F\n{rows}\n")
    catalogue.configure(
        family="bertscore",
        name="bertscore-acme",
        label="BERTScore Acme",
        options={"checkpoint": "acme/encoder", "layer": 5, "idf": True, "baseline": "own.tsv"},
    )
    run = start(world, "bertscore-acme")
    with monkeypatch.context() as patch:
        patch.setattr(catalogue, "load", lambda *_, **__: Loaded(run.info))
        _, learnt = signatures.load(run)
    assert signatures.known(run) == learnt
    return run


def test_a_signature_is_known_from_the_second_run_on(world: World) -> None:
    first = start(world, "chrf")
    assert signatures.known(first) is None
    _, learnt = signatures.load(first)
    MetricRun.objects.filter(pk=first.pk).update(status="done")
    again = start(world, "chrf")
    assert signatures.known(again) == learnt
    assert learnt.signature.startswith("chrf|")
    assert signatures.load(again)[1] == learnt
    assert Loading.objects.count() == 1


@pytest.mark.needs("extensions.neural")
@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "own.tsv"])
def test_another_file_makes_it_stale(run: MetricRun, models: Path, file: str) -> None:
    path = models / "acme/encoder" / file
    path.write_bytes(path.read_bytes() + b"\n")
    assert signatures.known(run) is None


@pytest.mark.needs("extensions.neural")
def test_the_same_files_elsewhere_do_not(run: MetricRun, models: Path) -> None:
    (models / "acme/encoder").rename(models / "acme--encoder")
    assert signatures.known(run) is not None


def test_nothing_is_kept_of_files_that_changed_while_they_were_read(
    world: World, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(world, "chrf")
    keys = iter(["before", "after", "after"])
    monkeypatch.setattr(signatures, "key_of", lambda run: next(keys))
    signatures.load(run)
    assert signatures.known(run) is None


@pytest.mark.needs("extensions.neural")
def test_other_packages_make_it_stale(run: MetricRun, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = [name.replace("numpy-", "numpy-9") for name in signatures.INSTALLED]
    assert changed != signatures.INSTALLED
    monkeypatch.setattr(signatures, "INSTALLED", changed)
    assert signatures.known(run) is None


@pytest.mark.needs("extensions.neural")
def test_other_code_makes_it_stale(run: MetricRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signatures, "CODE_HASH", "deadbeef")
    assert signatures.known(run) is None


@pytest.mark.needs("extensions.neural")
def test_other_references_make_it_stale(run: MetricRun) -> None:
    reference = Reference.objects.filter(segment__test_set=run.test_set).first()
    assert reference is not None
    Reference.objects.filter(pk=reference.pk).update(text="Something else.")
    assert signatures.known(run) is None


@pytest.mark.needs("extensions.neural")
@pytest.mark.parametrize("field", ["source_language", "target_language"])
def test_other_languages_make_it_stale(run: MetricRun, field: str) -> None:
    setattr(run.test_set, field, "fi")
    assert signatures.known(run) is None


@pytest.mark.needs("extensions.neural")
def test_other_options_make_it_stale(run: MetricRun) -> None:
    assert run.info is not None
    run.info = replace(run.info, options=(*run.info.options, ("precision", "bfloat16")))
    assert signatures.known(run) is None


@pytest.mark.needs("extensions.neural")
def test_the_encoder_of_a_comet_counts_without_its_weights(models: Path) -> None:
    fleet.comet(models / "Unbabel/wmt22-comet-da")
    encoder = fleet.encoder(models / "xlm-roberta-large")
    info, languages = registry.METRICS["wmt22-comet-da"][0], ("de", "en")
    key = signatures.make_key(info, languages=languages)
    (encoder / "model.safetensors").write_bytes(b"other")
    assert signatures.make_key(info, languages=languages) == key
    (encoder / "tokenizer.json").write_text("{}")
    assert signatures.make_key(info, languages=languages) != key


def test_every_file_in_a_folder_among_the_options_counts(models: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mapping"
    folder.mkdir()
    (folder / "meta.json").write_text("{}")
    info = MetricInfo("x", "X", ("x",), ("X",), True, False, options=(("mapping", str(folder)),))
    key = signatures.make_key(info, languages=("de", "en"))
    (folder / "mapping.npz").write_bytes(b"1")
    assert signatures.make_key(info, languages=("de", "en")) != key


@pytest.mark.needs("extensions.neural")
def test_a_missing_checkpoint_is_not_known(run: MetricRun, models: Path) -> None:
    (models / "acme/encoder/config.json").unlink()
    assert signatures.known(run) is None


def test_nothing_is_kept_of_code_that_is_not_ours(
    world: World, fake_metrics: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(world)
    signatures.load(run)
    assert signatures.known(run) is None
    assert MetricSignature.objects.filter(metric="counting").exists()


@pytest.mark.parametrize(
    ("target", "name", "value"),
    [
        (signatures, "installed", lambda: ["other-1.dist-info"]),
        (signatures, "code_hash", lambda: ""),
    ],
)
def test_nothing_is_kept_where_packages_or_code_were_replaced_below_the_process(
    world: World, monkeypatch: pytest.MonkeyPatch, target: Any, name: str, value: Any
) -> None:
    run = start(world, "chrf")
    monkeypatch.setattr(target, name, value)
    signatures.load(run)
    assert signatures.known(run) is None


@pytest.mark.needs("extensions.neural")
def test_what_a_host_cannot_load_is_held_against_it(run: MetricRun, models: Path) -> None:
    with refused("encoder.not-loaded", kind=HostError):
        signatures.load(run)
    problem = signatures.load_problem(run)
    assert problem
    assert problem.code == "encoder.not-loaded"
    assert signatures.unloadable_metrics() == {"bertscore-acme"}
    Loading.objects.update(host="elsewhere")
    assert signatures.load_problem(run) is None
    ((metric, hosts),) = signatures.problems().items()
    assert (metric, list(hosts)) == ("bertscore-acme", ["elsewhere"])


@pytest.mark.needs("extensions.neural")
def test_other_files_are_tried_at_once(run: MetricRun, models: Path) -> None:
    with pytest.raises(HostError):
        signatures.load(run)
    (models / "acme/encoder/vocab.txt").write_text("[PAD]\n")
    assert signatures.load_problem(run) is None


@pytest.mark.needs("extensions.neural")
def test_a_problem_is_held_for_a_while(run: MetricRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signatures, "PAUSE", -signatures.PAUSE)
    with pytest.raises(HostError):
        signatures.load(run)
    assert signatures.load_problem(run) is None
    assert signatures.problems() == {}


def test_any_error_while_loading_is_the_hosts(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(world, "chrf")

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(catalogue, "load", broken)
    with refused("metric.not-loaded", kind=HostError):
        signatures.load(run)
    problem = signatures.load_problem(run)
    assert problem
    assert problem.code == "metric.not-loaded"


def test_what_is_wrong_with_the_texts_is_the_runs(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(world, "chrf")

    def refuse(*_: object, **__: object) -> None:
        raise InputError(message("test.problem", "1 reference is too few"))

    monkeypatch.setattr(catalogue, "load", refuse)
    with refused("test.problem", kind=MetricError):
        signatures.load(run)
    assert signatures.load_problem(run) is None


def test_old_rows_go(world: World) -> None:
    first = start(world, "chrf")
    signatures.load(first)
    Loading.objects.update(at="2020-01-01T00:00:00Z", key="old")
    signatures.load(first)
    assert not Loading.objects.filter(key="old").exists()


@pytest.mark.needs("extensions.neural")
def test_only_checkpoints_and_files_that_are_chosen_are_named() -> None:
    info = registry.METRICS["sentsim"][0]
    assert inventory.checkpoints_of(info) == [info.checkpoint, "xlm-roberta-base"]
    assert inventory.files_of(info) == []
    assert json.loads(json.dumps(dict(info.options)))["layer"] == 9
