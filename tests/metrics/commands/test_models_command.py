"""`manage.py models` without a hub; tests/metrics/checkpoints/test_fetching.py has one."""

import hashlib
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.metrics.fleet import comet, empty_models, encoder
from tests.refusals import refused, tells

pytestmark = pytest.mark.django_db


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return empty_models(tmp_path, monkeypatch)


def say(*arguments: str) -> str:
    out = StringIO()
    call_command("models", *arguments, stdout=out)
    return out.getvalue()


@pytest.mark.needs("extensions.neural")
def test_what_is_here_what_is_missing_and_what_nobody_uses(models: Path) -> None:
    encoder(models / "roberta-large-mnli")
    encoder(models / "acme" / "x")
    comet(models / "Unbabel" / "wmt22-comet-da")
    lines = say().splitlines()
    assert f"BERTScore RoBERTa: roberta-large-mnli in {models}/roberta-large-mnli" in lines
    assert f"not used: acme/x in {models}/acme/x" in lines
    assert any("hf download microsoft/deberta-xlarge-mnli" in line for line in lines)
    [companion] = [line for line in lines if line.startswith("Unbabel/wmt22-comet-da: ")]
    assert "xlm-roberta-large" in companion


def test_hashes_are_compared(models: Path) -> None:
    folder = encoder(models / "roberta-large-mnli")
    assert "SHA256SUMS" in say("--verify")
    sums = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
        for name in ("config.json", "model.safetensors")
    ]
    (folder / "SHA256SUMS").write_text("".join(sums))
    assert "SHA256SUMS" not in say("--verify")
    (folder / "model.safetensors").unlink()
    out = StringIO()
    with refused("command.checkpoints-differ", kind=CommandError, file="SHA256SUMS", n=1):
        call_command("models", "--verify", stdout=out)
    assert tells(out.getvalue(), "checkpoint.file-missing", name="model.safetensors")


def test_an_environment_that_would_unpickle_is_refused(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with refused("checkpoint.code-allowed", kind=CommandError):
        say()
