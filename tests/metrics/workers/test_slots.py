"""GPUs for each child of a worker: one, or as many as a site says."""

import os
from types import SimpleNamespace

import pytest

from metrics.workers import devices, reporter


def test_every_slot_has_its_gpu_and_the_next_child_of_a_slot_the_same() -> None:
    assert [reporter.gpus_of(slot, ["0", "1", "2"]) for slot in range(5)] == [
        "0",
        "1",
        "2",
        "0",
        "1",
    ]
    assert reporter.gpus_of(3, []) is None


@pytest.mark.parametrize(
    ("per_slot", "expected"),
    [
        (2, ["a,b", "c,d", "a,b"]),
        (4, ["a,b,c,d"] * 3),
        (9, ["a,b,c,d,e"] * 3),
        (0, ["a", "b", "c"]),
    ],
)
def test_a_slot_may_have_several(per_slot: int, expected: list[str]) -> None:
    assert [reporter.gpus_of(slot, list("abcde"), per_slot) for slot in range(3)] == expected


@pytest.mark.parametrize(
    ("visible", "answer", "expected"),
    [
        (None, "0\n1\n", ["0", "1"]),
        (None, "", []),
        ("", "0\n1\n", []),
        ("2, GPU-aa", "0\n1\n2\n3\n", ["2", "GPU-aa"]),
        ("MIG-1", "0\n", ["MIG-1"]),
    ],
)
def test_gpus_are_those_that_the_process_may_use(
    monkeypatch: pytest.MonkeyPatch, visible: str | None, answer: str, expected: list[str]
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setattr(devices, "_ask", lambda query: answer)
    assert devices.gpu_ids() == expected


@pytest.mark.parametrize(("gpus", "expected"), [(["0", "1"], "1"), ([], None)])
def test_a_child_sees_its_gpu_alone(
    monkeypatch: pytest.MonkeyPatch, gpus: list[str], expected: str | None
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(reporter, "gpu_ids", lambda: gpus)
    monkeypatch.setattr(reporter, "current_process", lambda: SimpleNamespace(index=3))
    monkeypatch.setattr(reporter._Worker, "gpus", [])
    reporter.find_gpus()
    reporter.take_gpu()
    assert os.environ.get("CUDA_VISIBLE_DEVICES") == expected
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
