"""The command line, alone and in two processes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from metaeval.messages import message
from tests.refusals import tells
from tests.training.translation.copying import SMALL, pairs
from training.jobs.saving import locked
from training.parallel.reading import write_pairs
from training.translation import __main__ as command

TINY = SMALL | {"width": 16, "heads": 2, "inner": 16, "held_out": 8, "batch": 8, "warmup": 4,
                "steps": 20, "evaluate_every": 10, "control": "length-ratio"}  # fmt: skip
Call = Callable[..., int]


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    text = tmp_path / "corpus.tsv"
    text.write_bytes(write_pairs(pairs(200)))
    chosen = [part for name, value in TINY.items() for part in ("--set", f"{name}={value}")]
    return ["--corpus", f"{text}:en:de", "--output", str(tmp_path / "out"), *chosen]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> Call:
    def run(*given: str) -> int:
        # What is given takes the place of what was chosen: nothing may be given twice.
        changed = {part.partition("=")[0] for part in given}
        pairs = zip(arguments[::2], arguments[1::2], strict=True)
        kept = [part for pair in pairs if pair[1].partition("=")[0] not in changed for part in pair]
        monkeypatch.setattr(sys, "argv", ["training.translation", *kept, *given])
        return command.main()

    return run


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--set", "beta=1"], "beta"),
        (["--set", "layers=0"], "at least 1"),
        (["--set", "heads=3"], "3 heads"),
        (["--set", "form=encoding"], "target-embedding"),
        (["--corpus", "text.tsv"], "FILE:SOURCE:TARGET"),
        (["--corpus", "/no/text.tsv:en:de"], "No such file"),
    ],
)
def test_what_is_wrong_is_named(
    call: Call, capsys: pytest.CaptureFixture[str], given: list[str], message: str
) -> None:
    assert call(*given) == 1
    assert message in capsys.readouterr().err


def test_a_folder_in_use_is_refused(
    call: Call, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with locked(tmp_path / "out", message("test.other", "another job")):
        assert call() == 1
    assert tells(capsys.readouterr().err, "folder.in-use")


def test_two_processes_share_the_pairs_and_make_one_model(
    arguments: list[str], tmp_path: Path
) -> None:
    program = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
               "2", "-m", "training.translation", *arguments]  # fmt: skip
    done = subprocess.run(
        program, env=os.environ | {"OMP_NUM_THREADS": "1"}, cwd=Path(__file__).parents[3],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert "model-1" in done.stdout
    state = json.loads((tmp_path / "out/updates/checkpoint-20/trainer_state.json").read_text())
    n_pairs = json.loads((tmp_path / "out/model-1/manifest.txt").read_text())["pairs"]["training"]
    # Twenty updates of twice eight pairs.
    assert state["epoch"] == pytest.approx(20 * 16 / n_pairs["pairs"], rel=0.1)
    assert not (tmp_path / "out/model-2").exists()
