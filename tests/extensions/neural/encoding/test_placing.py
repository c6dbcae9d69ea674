"""Models in 8 bits and over several devices; here all devices are the processor."""

from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate.utils import modeling
from transformers import AutoModel, MT5Config, MT5ForConditionalGeneration

from benchmarks.gpu import small
from extensions.neural.encoding import memory
from extensions.neural.encoding.memory import size_of
from metrics.base import MetricError
from tests.extensions.neural.reference_free import TEXTS
from tests.refusals import refused


@pytest.fixture(scope="module")
def xlmr(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small.xlm_roberta(tmp_path_factory.mktemp("models") / "xlmr", TEXTS * 4)


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make Accelerate accept devices that do not exist; it skips them otherwise."""
    monkeypatch.setattr(modeling, "get_max_memory", lambda given: given)


@pytest.fixture
def linear8() -> type[torch.nn.Module]:
    """To import the package takes two seconds, which processes without these tests save."""
    from bitsandbytes.nn import Linear8bitLt

    return Linear8bitLt


def loaded(folder: Path) -> Any:
    return AutoModel.from_pretrained(folder, local_files_only=True).eval()


def states(model: Any) -> tuple[torch.Tensor, ...]:
    ids = torch.tensor([[0, 5, 6, 7, 2], [0, 8, 2, 1, 1]])
    with torch.inference_mode():
        told = model(ids, attention_mask=(ids != 1).long(), output_hidden_states=True)
    return tuple(told.hidden_states)


def test_layers_stay_whole_and_fill_one_gpu_after_the_other(xlmr: Path, two_gpus: None) -> None:
    model = loaded(xlmr)
    room = size_of(model) * 4 // 5
    layout = memory.layout_of(model, {0: room, 1: room})
    assert list(layout.values()) == sorted(layout.values())
    assert set(layout.values()) == {0, 1}
    assert all(part.count(".") <= 2 for part in layout), layout
    for gpu in layout.values():
        parts = [model.get_submodule(part) for part in layout if layout[part] == gpu]
        assert sum(map(size_of, parts)) <= room
    for name, _ in model.named_parameters():
        assert sum(name.startswith(f"{part}.") for part in layout) == 1, name


def test_a_model_that_fits_nowhere_is_told_with_sizes(xlmr: Path, two_gpus: None) -> None:
    with refused("encoder.gpus-full", kind=MetricError, count=2) as told:
        memory.layout_of(loaded(xlmr), {0: 100, 1: 100})
    assert not told.value.permanent


def test_spread_over_devices_nothing_changes(xlmr: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accelerate's hooks carry everything from part to part, from and to the processor."""
    model, whole = loaded(xlmr), loaded(xlmr)
    room = size_of(model) * 4 // 5
    parts = dict.fromkeys(memory.layout_of(model, {0: room, 1: room}), "cpu")
    assert len(parts) > 2
    monkeypatch.setattr(memory, "layout_of", lambda *_: parts)
    memory.spread(model, {"cpu": 10**12})
    assert any(hasattr(module, "_hf_hook") for module in model.modules())
    for ours, expected in zip(states(model), states(whole), strict=True):
        assert torch.equal(ours, expected)


@pytest.mark.parametrize("room", [1, 10**12])
def test_one_gpu_is_used_alone_where_it_has_room(
    xlmr: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    spread: list[Any] = []
    monkeypatch.setattr(memory, "_rooms", lambda device: {0: room, 1: 10**12})
    monkeypatch.setattr(memory, "spread", lambda model, rooms: spread.append(model))
    model = loaded(xlmr)
    assert memory.placed(model, "cpu", "float32") is model
    assert bool(spread) == (room == 1)


def test_eight_bits_round_linear_layers_and_little_else(
    xlmr: Path, linear8: type[torch.nn.Module]
) -> None:
    model, exact = loaded(xlmr), loaded(xlmr)
    linears = [name for name, part in exact.named_modules() if type(part) is torch.nn.Linear]
    memory.placed(model, "cpu", "int8")
    rounded = [name for name, part in model.named_modules() if isinstance(part, linear8)]
    assert rounded == linears
    assert {model.get_submodule(name).weight.dtype for name in rounded} == {torch.int8}
    names = {f"{name}.weight" for name in linears}
    for name, weights in model.named_parameters():
        if name not in names:
            assert torch.equal(weights, dict(exact.named_parameters())[name]), name
    for ours, expected in zip(states(model)[1:], states(exact)[1:], strict=True):
        apart = (ours - expected).norm() / expected.norm()
        assert 0 < apart < 0.03


def test_eight_bits_move_with_what_is_kept_beside_them(
    xlmr: Path, linear8: type[torch.nn.Module]
) -> None:
    """torch moves to a GPU by giving each parameter other numbers, as is done here to copies."""
    model = memory.placed(loaded(xlmr), "cpu", "int8")
    rounded = [part.weight for part in model.modules() if isinstance(part, linear8)]
    model._apply(torch.clone)
    assert all(own.CB.data_ptr() != own.data_ptr() for own in rounded)
    memory.take_along(model)
    assert all(own.CB.data_ptr() == own.data_ptr() for own in rounded)


def test_what_a_model_wants_exact_stays_so(linear8: type[torch.nn.Module]) -> None:
    """The outer layers of T5's feed-forward networks overflow, and MetricX's head is the score."""
    sizes = {"d_model": 16, "d_ff": 32, "num_layers": 1, "num_heads": 2, "d_kv": 8}
    model = MT5ForConditionalGeneration(MT5Config(vocab_size=50, **sizes)).eval()
    memory.placed(model, "cpu", "int8")
    kinds = {name.split(".")[-1]: type(part) for name, part in model.named_modules()}
    assert (kinds["wo"], kinds["lm_head"]) == (torch.nn.Linear, torch.nn.Linear)
    assert (kinds["q"], kinds["wi_0"]) == (linear8, linear8)
