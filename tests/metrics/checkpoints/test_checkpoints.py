"""Fingerprints and sums against sha256sum, and what is refused before anything is loaded."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from metrics.base import MetricError
from metrics.checkpoints import places
from tests.refusals import refused

FILES = {
    "config.json": "{}",
    "vocab.txt": "a\nb\n",
    "model.safetensors": "weights",
    "1_Pooling/config.json": '{"pooling_mode_mean_tokens": true}',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "model" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "model"


def write_sums(folder: Path) -> None:
    listed = subprocess.run(["sha256sum", *FILES], cwd=folder, capture_output=True, check=True)
    (folder / "SHA256SUMS").write_bytes(listed.stdout)


def test_a_fingerprint_is_that_of_sha256sum(folder: Path) -> None:
    command = f"sha256sum {' '.join(sorted(FILES))} | sha256sum"
    output = subprocess.run(command, shell=True, cwd=folder, capture_output=True, check=True)  # noqa: S602
    assert places.fingerprint(folder) == output.stdout.decode()[:12]


@pytest.mark.parametrize("name", FILES)
def test_a_fingerprint_changes_with_every_file(folder: Path, name: str) -> None:
    before = places.fingerprint(folder)
    (folder / name).write_text("trained again")
    assert places.fingerprint(folder) != before


def test_a_fingerprint_does_not_depend_on_place_or_remarks(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "elsewhere")
    (copy / "README.md").write_text("remarks")
    (copy / ".cache").mkdir()
    (copy / ".cache" / "download.json").write_text("a date")
    (copy / "pytorch_model.bin").write_text("not loaded: there are safetensors")
    assert places.fingerprint(copy) == places.fingerprint(folder)
    (copy / "model.safetensors").unlink()
    assert "pytorch_model.bin" in [file.name for file in places.files(copy)]


def test_a_fingerprint_without_weights(folder: Path) -> None:
    before = places.fingerprint(folder, weights=False)
    (folder / "model.safetensors").write_text("trained again")
    assert places.fingerprint(folder, weights=False) == before
    (folder / "vocab.txt").write_text("b\na\n")
    assert places.fingerprint(folder, weights=False) != before


def test_the_size_of_the_weights(folder: Path) -> None:
    assert places.weight_bytes(folder) == len("weights")


def test_without_sums_there_is_no_problem(folder: Path) -> None:
    assert places.verify(folder) == []


def test_sums_that_agree(folder: Path) -> None:
    write_sums(folder)
    assert places.verify(folder) == []


def test_sums_that_disagree(folder: Path) -> None:
    write_sums(folder)
    (folder / "vocab.txt").write_text("other")
    (folder / "config.json").unlink()
    (folder / "extra.json").write_text("{}")
    with (folder / "SHA256SUMS").open("a") as sums:
        sums.write("what is this\n")
    problems = places.verify(folder)
    assert [each.code for each in problems] == [
        "checkpoint.file-missing",
        "checkpoint.hash-differs",
        "checkpoint.sums-line",
        "checkpoint.file-not-listed",
    ]
    missing, different, line, unlisted = (each.parameters for each in problems)
    assert (missing["name"], different["name"]) == ("config.json", "vocab.txt")
    assert (line["line"], unlisted["name"]) == (5, "extra.json")


def test_a_checkpoint_that_was_tampered_with_is_refused(folder: Path) -> None:
    write_sums(folder)
    places.check("small", folder)
    (folder / "model.safetensors").write_text("other")
    with refused(
        "checkpoint.damaged",
        kind=MetricError,
        checkpoint="small",
        problem="checkpoint.hash-differs",
        name="model.safetensors",
    ):
        places.check("small", folder)


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_code_of_its_own_is_refused(folder: Path, file: str) -> None:
    document = {"auto_map": {"AutoModel": "modeling.Special"}}
    (folder / file).write_text(json.dumps(document))
    with refused("checkpoint.runs-code", kind=MetricError) as caught:
        places.check("small", folder)
    assert caught.value.permanent


@pytest.mark.parametrize("mark", ["config.json", "hparams.yaml"])
def test_what_the_hub_s_own_command_fetched_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    """An encoder, and a COMET repository, which has no config.json."""
    cache = tmp_path / "models--Unbabel--wmt22-comet-da"
    snapshot = cache / "snapshots" / "0123abc"
    snapshot.mkdir(parents=True)
    (snapshot / mark).write_text("{}")
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text("0123abc")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    assert places.find("Unbabel/wmt22-comet-da") == str(snapshot)
    with refused("checkpoint.missing", kind=MetricError, checkpoint="Unbabel/wmt20-comet-da"):
        places.find("Unbabel/wmt20-comet-da")


@pytest.mark.parametrize("layout", ["facebook/bart", "facebook--bart"])
def test_the_admin_s_folder_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    (tmp_path / layout).mkdir(parents=True)
    (tmp_path / layout / "config.json").write_text("{}")
    monkeypatch.setenv("TOUCHSTONE_MODELS", str(tmp_path))
    assert places.find("facebook/bart") == str(tmp_path / layout)


@pytest.mark.parametrize("name", ["a" * 300, "/" + "a" * 300, "acme//x", "../../x", "a\0b"])
def test_what_can_be_no_name_is_missing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOUCHSTONE_MODELS", str(tmp_path))
    with pytest.raises(MetricError) as caught:
        places.find(name)
    assert (caught.value.permanent, name in caught.value.message.text) == (True, True)


def test_a_package_holds_a_checkpoint(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "packaged_encoder"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    shutil.move(folder, package / "model")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert places.find("package:packaged_encoder") == str(package / "model")


@pytest.mark.parametrize("package", ["no_such_package", "json", "a.b", ""])
def test_a_package_without_a_checkpoint(package: str) -> None:
    with pytest.raises(MetricError) as caught:
        places.find(f"package:{package}")
    assert caught.value.permanent
    assert caught.value.message.code == "checkpoint.not-in-package"


def test_the_folder_of_all_checkpoints_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setenv("TOUCHSTONE_MODELS", str(tmp_path))
    for name in ("", " "):
        with pytest.raises(MetricError) as refused:
            places.find(name)
        assert refused.value.message.code == "checkpoint.unnamed"
