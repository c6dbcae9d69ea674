"""Keep models in memory from run to run, and drop the least used ones when memory is needed.

Encoders, COMET and BLEURT share the memory. Imports torch: workers only.
"""

import gc
import logging
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import RLock
from typing import Any, Protocol, TypeVar

import torch

from metaeval.messages import message
from metrics.base import MetricError
from metrics.checkpoints import places

# Memory for models in a process without a GPU, in MiB; XLM-R large takes 2,240.
ROOM_MIB = int(os.environ.get("RESIDENT_MODELS_MB", "4096"))
# The share of a GPU's memory that is reserved for batches.
FREE_PART = 0.2


@dataclass(frozen=True)
class ModelSpec:
    """Identify a model in memory.

    ``kind`` is ``encoder``, ``comet`` or ``bleurt``, ``precision`` that of its forward pass, and
    ``weights`` the fingerprint of the checkpoint, so that a checkpoint that was trained again is
    loaded again.
    """

    kind: str
    checkpoint: str
    precision: str
    device: str
    weights: str


class HasParameters(Protocol):
    """Describe a torch module, or an object that holds one as ``model``."""

    model: Any


T = TypeVar("T", bound=HasParameters)
_models: "OrderedDict[ModelSpec, tuple[HasParameters, int]]" = OrderedDict()
_lock = RLock()


def get(spec: ModelSpec, folder: str, load: Callable[[], T]) -> T:
    """Return the model in memory; load it if needed, in place of the least used models.

    ``folder`` contains its weights. Raises a temporary :class:`MetricError` if a GPU still has no
    room; other errors are those of ``load``.
    """
    with _lock:
        if spec not in _models:
            _drop(lambda other: _without_weights(other) == _without_weights(spec))
            make_room(spec.device, places.weight_bytes(folder))
            try:
                model = load()
            except torch.cuda.OutOfMemoryError as error:
                problem = message(
                    "encoder.device-full",
                    "There is not enough memory on {device} for {checkpoint}, because other "
                    "processes use it.",
                    device=spec.device,
                    checkpoint=spec.checkpoint,
                )
                raise MetricError(problem, permanent=False) from error
            _models[spec] = (model, size_of(model.model))
        _models.move_to_end(spec)
        found: Any = _models[spec][0]
        return found  # type: ignore[no-any-return]


def make_room(device: str, needed: int) -> None:
    """Drop the least used models of a device until ``needed`` bytes are free, or none is left."""
    while room_on(device) < needed:
        oldest = next((spec for spec in _models if spec.device == device), None)
        if oldest is None:
            return
        _drop(lambda spec, oldest=oldest: spec == oldest)  # type: ignore[misc]


def room_on(device: str) -> int:
    """Return how many bytes of models fit without dropping one."""
    if device.startswith("cuda"):
        free, total = torch.cuda.mem_get_info(device)
        reusable = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(free + reusable - FREE_PART * total)
    taken = sum(size for spec, (_, size) in _models.items() if spec.device == device)
    return ROOM_MIB * 2**20 - taken


def size_of(model: Any) -> int:
    """Return the size of a torch module's parameters and buffers in bytes."""
    return sum(each.nbytes for each in (*model.parameters(), *model.buffers()))


def listing() -> list[ModelSpec]:
    """Return the models in memory, the least used first."""
    return list(_models)


def forget() -> None:
    """Drop all models; the garbage collector frees their memory."""
    with _lock:
        _models.clear()


def _drop(is_unwanted: Callable[[ModelSpec], bool]) -> None:
    unwanted = [spec for spec in _models if is_unwanted(spec)]
    for spec in unwanted:
        del _models[spec]
    if unwanted:
        gc.collect()  # models contain reference cycles
        empty_cache()


def empty_cache() -> None:
    """Return the memory of a GPU that torch holds without using it."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _without_weights(spec: ModelSpec) -> tuple[str, ...]:
    return (spec.kind, spec.checkpoint, spec.precision, spec.device)


# Layers whose rounding would change the score directly.
EXACT = {"lm_head"}


def placed(model: Any, device: str, precision: str, trunk: str = "") -> Any:
    """Return a model for inference on a device.

    `trunk` is the dotted name of the transformer in the model, by default the whole model. In
    `int8` the weights of the transformer's linear layers are rounded. If the GPU has no room for
    the transformer, it is spread over all GPUs that this process sees. Raises a temporary
    :class:`MetricError` if these have no room either.
    """
    model.eval()
    body = model.get_submodule(trunk)
    if precision == "int8":
        round_linears(body)
    rooms = _rooms(device)
    if len(rooms) < 2 or size_of(model) <= rooms[0]:
        model.to(device)
    else:
        _put_on_several(model, body, device, rooms)
    if precision == "int8":
        take_along(body)
    return model


def _put_on_several(model: Any, body: Any, device: str, rooms: Mapping[int | str, int]) -> None:
    """Spread the transformer, and put the rest of the model on one device."""
    spread(body, rooms)
    for parent in model.modules():
        for child in (*parent.parameters(recurse=False), *parent.buffers(recurse=False)):
            if child.device.type == "cpu":
                child.data = child.data.to(device)


def _rooms(device: str) -> dict[int | str, int]:
    """Return the bytes that each visible GPU has for a model; empty for another device."""
    if not device.startswith("cuda"):
        return {}
    told = {gpu: torch.cuda.mem_get_info(gpu) for gpu in range(torch.cuda.device_count())}
    return {gpu: int(free - FREE_PART * total) for gpu, (free, total) in told.items()}


def spread(model: Any, rooms: Mapping[int | str, int]) -> None:
    """Spread a module over devices with the given numbers of bytes, whole layers together.

    Inputs are moved to the device of each layer, and the output of the module to the device of its
    input, so callers use one device.
    """
    from accelerate import dispatch_model

    layout = layout_of(model, rooms)
    dispatch_model(model, layout, main_device=next(iter(rooms)), force_hooks=True)


def layout_of(model: Any, rooms: Mapping[int | str, int]) -> dict[str, int | str]:
    """Return the device of each part of a module; raise MetricError if there is not enough room."""
    from accelerate import infer_auto_device_map

    layout = infer_auto_device_map(
        model,
        max_memory=dict(rooms),
        no_split_module_classes=list(getattr(model, "_no_split_modules", None) or []),
    )
    if not set(layout.values()) <= set(rooms):
        problem = message(
            "encoder.gpus-full",
            "A model of {size:.1f} GiB does not fit on {count} GPUs with {room:.1f} GiB for "
            "models.",
            size=size_of(model) / 2**30,
            count=len(rooms),
            room=sum(rooms.values()) / 2**30,
        )
        raise MetricError(problem, permanent=False)
    return dict(layout)


def round_linears(model: Any) -> None:
    """Replace a module's linear layers by layers with 8-bit weights.

    Uses bitsandbytes (LLM.int8: Dettmers et al. 2022, NeurIPS). Layers that the model requires in
    full precision are kept.
    """
    from bitsandbytes.nn.modules import Linear8bitLt

    # It warns of every product that float32 is rounded to float16, which was chosen.
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    exact = EXACT | set(getattr(model, "_keep_in_fp32_modules", None) or [])
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is torch.nn.Linear and name not in exact:
                sizes = child.in_features, child.out_features, child.bias is not None
                rounded = Linear8bitLt(*sizes, has_fp16_weights=False, threshold=6.0)
                rounded.load_state_dict(child.state_dict())
                setattr(parent, name, rounded.eval().requires_grad_(False))
    model.to("cpu")  # needed only when a model is loaded: weights are rounded then


def take_along(model: Any) -> None:
    """Move the data of rounded weights to the device of these weights.

    torch moves a parameter's numbers, but leaves on the CPU what bitsandbytes stores with them.
    """
    from bitsandbytes.nn.modules import Linear8bitLt

    for layer in model.modules():
        if isinstance(layer, Linear8bitLt):
            weight: Any = layer.weight
            weight.CB, weight.SCB = weight.data, weight.SCB.to(weight.device)
