"""Where a model's weights stand: on one device, spread over the GPUs of a slot, in 8 bits.

Imports torch: workers only.
"""

import logging
from collections.abc import Mapping
from typing import Any

import torch

from extensions.neural.encoding.memory import FREE_PART, size_of
from metaeval.messages import message
from metrics.base import MetricError

# Layers whose rounding shows in the score itself.
EXACT = {"lm_head"}


def placed(model: Any, device: str, precision: str, trunk: str = "") -> Any:
    """Return a model for inference on a device.

    `trunk` is the dotted name of the transformer in it, by default the whole model: in `int8` the
    weights of its linear layers are rounded, and where the GPU has no room for it, it is spread
    over all GPUs that this process sees. Raises a :class:`MetricError` that may pass where these
    have no room either.
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
    """Spread its transformer, and put what is around it on one device."""
    spread(body, rooms)
    for parent in model.modules():
        for child in (*parent.parameters(recurse=False), *parent.buffers(recurse=False)):
            if child.device.type == "cpu":
                child.data = child.data.to(device)


def _rooms(device: str) -> dict[int | str, int]:
    """Return the bytes that each visible GPU has for a model; none for another device."""
    if not device.startswith("cuda"):
        return {}
    told = {gpu: torch.cuda.mem_get_info(gpu) for gpu in range(torch.cuda.device_count())}
    return {gpu: int(free - FREE_PART * total) for gpu, (free, total) in told.items()}


def spread(model: Any, rooms: Mapping[int | str, int]) -> None:
    """Spread a module over devices, each with its number of bytes, whole layers together.

    Inputs are moved to the device of every layer, and what comes out of the module to that of its
    input, so that callers know of one device.
    """
    from accelerate import dispatch_model

    layout = layout_of(model, rooms)
    dispatch_model(model, layout, main_device=next(iter(rooms)), force_hooks=True)


def layout_of(model: Any, rooms: Mapping[int | str, int]) -> dict[str, int | str]:
    """Return the device of each part of a module. MetricError where there is not room for all."""
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
    """Put linear layers with 8-bit weights (bitsandbytes, LLM.int8: 2022.neurips, Dettmers et al.)
    in the place of a module's linear layers, but for those that the model wants exact."""
    from bitsandbytes.nn.modules import Linear8bitLt

    # It says of every product that float32 is rounded to float16, which is what was chosen.
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    exact = EXACT | set(getattr(model, "_keep_in_fp32_modules", None) or [])
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is torch.nn.Linear and name not in exact:
                sizes = child.in_features, child.out_features, child.bias is not None
                rounded = Linear8bitLt(*sizes, has_fp16_weights=False, threshold=6.0)
                rounded.load_state_dict(child.state_dict())
                setattr(parent, name, rounded.eval().requires_grad_(False))
    model.to("cpu")  # where a model is loaded; it is then that weights are rounded


def take_along(model: Any) -> None:
    """Put what belongs to rounded weights where these are: torch moves a parameter's numbers, and
    leaves on the processor what bitsandbytes keeps beside them."""
    from bitsandbytes.nn.modules import Linear8bitLt

    for layer in model.modules():
        if isinstance(layer, Linear8bitLt):
            weight: Any = layer.weight
            weight.CB, weight.SCB = weight.data, weight.SCB.to(weight.device)
