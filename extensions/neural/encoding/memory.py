"""Models that stay in memory from run to run; by size, the least used make room for a new one.

Encoders, COMET and BLEURT share the room. Only workers import this module: it imports torch.
"""

import gc
import os
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import RLock
from typing import Any, Protocol, TypeVar

import torch

from metaeval.messages import message
from metrics.base import MetricError
from metrics.checkpoints import places

# Room for models in a process without a GPU, in MiB: an XLM-R large takes 2,240.
ROOM_MIB = int(os.environ.get("RESIDENT_MODELS_MB", "4096"))
# What a GPU keeps free for a batch beside the models: a part of all of its memory.
FREE_PART = 0.2


@dataclass(frozen=True)
class ModelSpec:
    """What tells two models in memory apart.

    ``kind`` is ``encoder``, ``comet`` or ``bleurt``, ``precision`` that of its forward pass,
    ``weights`` the checkpoint's fingerprint: one that was trained again is loaded again.
    """

    kind: str
    checkpoint: str
    precision: str
    device: str
    weights: str


class HasParameters(Protocol):
    """A torch module, or an object that holds one as ``model``."""

    model: Any


T = TypeVar("T", bound=HasParameters)
_models: "OrderedDict[ModelSpec, tuple[HasParameters, int]]" = OrderedDict()
_lock = RLock()


def get(spec: ModelSpec, folder: str, load: Callable[[], T]) -> T:
    """Return the model in memory, loading it where needed; the least used make room.

    ``folder`` is where its weights lie. Raises a :class:`MetricError` that may pass where a GPU
    has no room even so; other errors are those of ``load``.
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
    """Drop the least used models of a device until ``needed`` bytes fit, or none is left."""
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
    """Return the bytes of a torch module's parameters and buffers."""
    return sum(each.nbytes for each in (*model.parameters(), *model.buffers()))


def listing() -> list[ModelSpec]:
    """Return what is in memory, the least used first."""
    return list(_models)


def forget() -> None:
    """Drop all models; what they take is free when garbage is next collected."""
    with _lock:
        _models.clear()


def _drop(is_unwanted: Callable[[ModelSpec], bool]) -> None:
    unwanted = [spec for spec in _models if is_unwanted(spec)]
    for spec in unwanted:
        del _models[spec]
    if unwanted:
        gc.collect()  # models hold themselves in circles
        empty_cache()


def empty_cache() -> None:
    """Give what torch holds of a GPU's memory without using it back."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _without_weights(spec: ModelSpec) -> tuple[str, ...]:
    return (spec.kind, spec.checkpoint, spec.precision, spec.device)
