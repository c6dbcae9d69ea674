"""Keep models in memory from run to run, and drop the least used ones when memory is needed.

Encoders, COMET and BLEURT share the memory. Imports torch: workers only.
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
