"""Which models stay in memory: by size, the least used make room, all kinds together."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch

from extensions.neural.encoding import memory
from extensions.neural.encoding.memory import ModelSpec
from metrics.base import MetricError
from tests.refusals import refused

MIB = 2**20


@dataclass
class Loaded:
    """A model of one MiB, which knows its name."""

    name: str
    model: torch.nn.Module = field(default_factory=lambda: torch.nn.Linear(512, 512, bias=False))


@pytest.fixture(autouse=True)
def _room_for_two(monkeypatch: pytest.MonkeyPatch) -> None:
    memory.forget()
    monkeypatch.setattr(memory, "ROOM_MIB", 2)
    yield
    memory.forget()


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "model.safetensors").write_bytes(bytes(MIB))
    return str(tmp_path)


def get(name: str, folder: str, kind: str = "encoder", weights: str = "1") -> Loaded:
    spec = ModelSpec(kind, name, "float32", "cpu", weights)
    return memory.get(spec, folder, lambda: Loaded(name))


def names() -> list[str]:
    return [spec.checkpoint for spec in memory.listing()]


def test_a_model_is_loaded_once(folder: str) -> None:
    assert get("a", folder) is get("a", folder)
    assert memory.size_of(get("a", folder).model) == MIB
    assert memory.room_on("cpu") == MIB


def test_a_gpu_that_others_fill_may_have_room_later(folder: str) -> None:
    """So the run is tried again instead of failing for good."""

    def load() -> Loaded:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory.")

    spec = ModelSpec("comet", "large", "float32", "cpu", "1")
    with refused(
        "encoder.device-full", kind=MetricError, device="cpu", checkpoint="large"
    ) as caught:
        memory.get(spec, folder, load)
    assert not caught.value.permanent
    assert names() == []


def test_the_least_used_makes_room(folder: str) -> None:
    first = get("a", folder)
    get("b", folder, "comet")
    assert get("a", folder) is first
    get("c", folder, "bleurt")
    assert names() == ["a", "c"]
    assert get("a", folder) is first


def test_room_is_made_before_a_model_is_loaded(folder: str) -> None:
    get("a", folder)
    get("b", folder)
    seen: list[list[str]] = []

    def load() -> Loaded:
        seen.append(names())
        return Loaded("c")

    memory.get(ModelSpec("encoder", "c", "float32", "cpu", "1"), folder, load)
    assert seen == [["b"]]


def test_a_model_larger_than_the_room_is_loaded_alone(folder: str, tmp_path: Path) -> None:
    get("a", folder)
    (tmp_path / "model.safetensors").write_bytes(bytes(3 * MIB))
    get("large", folder)
    assert names() == ["large"]


def test_other_devices_keep_theirs(folder: str) -> None:
    get("a", folder)
    spec = ModelSpec("encoder", "b", "float32", "meta", "1")
    memory.get(spec, folder, lambda: Loaded("b"))
    get("c", folder)
    get("d", folder)
    assert names() == ["b", "c", "d"]


def test_what_was_trained_again_replaces_the_old(folder: str) -> None:
    old = get("a", folder)
    assert get("a", folder, weights="2") is not old
    assert [spec.weights for spec in memory.listing()] == ["2"]


def test_a_failed_load_leaves_nothing(folder: str) -> None:
    def fail() -> Loaded:
        raise ValueError("damaged")

    with pytest.raises(ValueError, match="damaged"):
        memory.get(ModelSpec("encoder", "a", "float32", "cpu", "1"), folder, fail)
    assert names() == []


def test_a_gpu_makes_room_by_its_free_memory(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 10 MiB 2 stay free for batches; each resident model takes one, others take 6."""

    def free_and_total(device: str) -> tuple[int, int]:
        return (4 - len(memory.listing())) * MIB, 10 * MIB

    monkeypatch.setattr(torch.cuda, "mem_get_info", free_and_total)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 0)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 0)
    for name in "abc":
        spec = ModelSpec("encoder", name, "bfloat16", "cuda", "1")
        memory.get(spec, folder, lambda: Loaded("x"))
    assert names() == ["b", "c"]
