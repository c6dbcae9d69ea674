"""The command line of distillations: two processes do what one does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from benchmarks.gpu import small
from tests.training.distillation.test_distillation import PAIRS, QUICK
from training.distillation import __main__ as command
from training.parallel.reading import write_pairs


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    texts = [text for pair in PAIRS for text in pair]
    # Dropout is drawn by process.
    still = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    teacher = small.bert(tmp_path / "teacher", texts, layers=2)
    student = small.bert(tmp_path / "student", texts, **still)
    corpus = tmp_path / "corpus.tsv"
    corpus.write_bytes(write_pairs(PAIRS))
    options = QUICK | {"passes": 2, "encoder": student, "teacher": teacher, "language": "en"}
    chosen = [part for name, value in options.items() for part in ("--set", f"{name}={value}")]
    return ["--corpus", f"{corpus}:de:en", *chosen]


def trained(arguments: list[str], folder: Path, *program: str) -> dict[str, torch.Tensor]:
    done = subprocess.run(
        [sys.executable, "-m", *program, "training.distillation", *arguments,
         "--output", str(folder)],
        env=os.environ | {"OMP_NUM_THREADS": "1"}, cwd=Path(__file__).parents[3],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("The encoder is in") == 1
    assert len(list(folder.glob("teacher-*.npy"))) == 1
    (weights,) = folder.glob("metric*/model.safetensors")
    return dict(load_file(weights))


def test_two_processes_do_what_one_does(arguments: list[str], tmp_path: Path) -> None:
    torchrun = ("torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m")
    alone = trained(arguments, tmp_path / "one")
    shared = trained(arguments, tmp_path / "two", *torchrun)
    first = load_file(tmp_path / "student" / "model.safetensors")
    assert alone.keys() == shared.keys()
    for name, weights in alone.items():
        torch.testing.assert_close(shared[name], weights, rtol=0, atol=2e-5)
    moved = [name for name in alone if (alone[name] - first[name]).abs().max() > 1e-3]
    assert len(moved) > len(alone) / 2


@pytest.mark.parametrize(
    ("given", "text"), [("beta=1", "beta"), ("accumulation=9", "8"), ("rate=0", "rate")]
)
def test_what_is_wrong_is_named(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    given: str,
    text: str,
) -> None:
    name = given.partition("=")[0]
    own = list(zip(arguments[::2], arguments[1::2], strict=True))
    kept = [part for pair in own if not pair[1].startswith(f"{name}=") for part in pair]
    argv = ["training.distillation", *kept, "--set", given, "--output", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", argv)
    assert command.main() == 1
    assert text in capsys.readouterr().err
