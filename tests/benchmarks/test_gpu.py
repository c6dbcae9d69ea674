"""The benchmark of neural metrics on a GPU, tried on the processor with small checkpoints."""

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.gpu import __main__ as gpu
from benchmarks.gpu import cases, checkpoints, child, profile, table
from metrics import registry

ROOT = Path(__file__).parents[2]
SMALL = checkpoints.SIZES["small"]
CASES = cases.cases(SMALL)
# One for each package and one for each kind of checkpoint; the others are like one of them.
TRIED = ("BERTScore", "CometKiwi", "BLEURT", "ReFreeEval with a head", "SentSim", "XMoverScore")
COMPARED = 4
INPUTS = checkpoints.make_inputs(2 * COMPARED)


def test_every_family_with_a_model_has_a_case() -> None:
    families = [registry.get_family(key) for key in registry.FAMILIES]
    with_model = {
        family.key for family in families if any(o.name == "checkpoint" for o in family.options)
    }
    assert {case.family for case in CASES} == with_model


@pytest.mark.parametrize(
    "case", [each for each in CASES if each.name in TRIED], ids=lambda case: case.name
)
def test_a_case_is_measured(
    case: cases.Case, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "COMPARED", COMPARED)
    exact, tf32, rounded, eighth = child.measure(case, folder, INPUTS)
    assert exact.difference is not None
    assert exact.difference < table.EXACT
    assert "NVIDIA GPU" in tf32.note
    assert rounded.difference is not None
    # bfloat16 is another number, so the difference is not measured between twice the same.
    assert rounded.difference > exact.difference
    assert eighth.difference is not None
    assert eighth.difference > exact.difference
    assert eighth.own_difference is None
    assert all(row.pairs_per_second and row.peak_mib for row in (exact, rounded, eighth))
    has_peer = exact.peer_pairs_per_second is not None
    assert has_peer == bool(case.peer)
    assert (rounded.own_difference is not None) == has_peer


def test_one_command_prints_the_table(capfd: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    """Also that a process which ends by an error keeps no other from its work."""
    arguments = ["gpu", "--device", "cpu", "--small", "--pairs", "4", "--only", "YiSi-2"]
    monkeypatch.setattr("sys.argv", arguments)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert gpu.main() == 0
    lines = capfd.readouterr().out.splitlines()
    rows = [line.split(" | ") for line in lines if line.startswith("| YiSi-2")]
    assert [row[1] for row in rows] == ["float32", "tf32", "bfloat16", "int8"]
    assert all(row[6] == "goes on" for row in rows)


@pytest.mark.parametrize("name", ["BERTScore", "Cosine"])
def test_what_a_gpu_would_be_given_is_counted(name: str, folder: Path) -> None:
    [case] = [each for each in CASES if each.name == name]
    ours, theirs = profile.both(case, folder, 24)
    assert theirs is not None
    # Distinct texts are encoded once, so that fewer tokens are computed than the package computes.
    assert 0 < ours.real <= theirs.real
    assert 1 <= ours.padding <= profile.MOST_PADDED
    assert theirs.padding >= 1
    assert ours.n_kernels > 0
    assert 0 < ours.busy <= 1
    assert len(profile.line(name, ours, theirs, 24).split("|")) == len(profile.HEAD.split("|"))


def test_measurements_need_no_tests() -> None:
    """They run where the tests are not, such as on a machine with a GPU."""
    code = "import sys, benchmarks.gpu.__main__, benchmarks.gpu.child; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not [name for name in done.stdout.split() if name.partition(".")[0] == "tests"]


def row(**changes: Any) -> dict[str, Any]:
    given = {
        "case": "BLEURT",
        "precision": "float32",
        "recovered": True,
        "difference": 1e-5,
        "own_difference": 0.0,
        "note": "",
        "against": "",
    }
    return given | changes


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, ""),
        ({"difference": 0.01}, "BLEURT float32: 1.0e-02 is more than 1.0e-03."),
        ({"difference": math.nan}, "BLEURT float32: nan is more than 1.0e-03."),
        ({"precision": "tf32", "difference": 0.01, "own_difference": 0.01}, ""),
        (
            {"precision": "tf32", "difference": 0.05, "own_difference": 0.01},
            "BLEURT tf32: 5.0e-02 is more than 4.0e-02.",
        ),
        ({"precision": "bfloat16", "difference": 0.5, "own_difference": None}, ""),
        ({"precision": "tf32", "difference": None, "note": "no GPU"}, ""),
        ({"difference": None, "note": "no room"}, "BLEURT float32: not measured: no room."),
        (
            {"recovered": False},
            "BLEURT float32: after an error the next process did not go on.",
        ),
    ],
)
def test_what_breaks_a_bound_is_said_below_the_table(changes: dict[str, Any], fault: str) -> None:
    found = row(**changes)
    assert table.faults([found]) == ([fault] if fault else [])
    assert table.markdown([found]).endswith(fault or " |")
