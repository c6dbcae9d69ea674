"""Set the precision of a model: float32, unless an admin chooses a lower one.

Imports torch: workers only.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import torch

from metaeval.messages import message
from metrics.base import MetricError

# The first GPUs with TF32; older ones ignore the setting.
LEAST_CAPABILITY = (8, 0)
_PACKAGES = ("torch", "transformers")
EIGHT_BITS = "bitsandbytes"


def check(device: str, precision: str) -> None:
    """Raise a temporary :class:`MetricError` if a device cannot compute in a precision.

    Another worker may have a suitable GPU.
    """
    if precision == "int8" and find_spec(EIGHT_BITS) is None:
        problem = message(
            "encoder.no-int8",
            "This metric needs int8, but this worker does not have the package {package}.",
            package=EIGHT_BITS,
        )
        raise MetricError(problem, permanent=False)
    if precision != "tf32":
        return
    if device.startswith("cuda") and torch.cuda.get_device_capability(device) >= LEAST_CAPABILITY:
        return
    problem = message(
        "encoder.no-tf32",
        "This metric needs TF32, but this worker does not have an NVIDIA GPU of Ampere or later. "
        "Use a worker with such a GPU, or configure the metric with float32.",
    )
    raise MetricError(problem, permanent=False)


@contextmanager
def computing(device: str, precision: str) -> Iterator[None]:
    """Compute in a precision within the context, whatever the settings of the process are.

    In float32 every product keeps all digits. A setting of torch for the whole process may round
    them to TF32 on a GPU and to bfloat16 on some processors.
    """
    with _products(is_rounded=precision == "tf32"), without_cudnn_attention():
        kind = torch.device(device).type
        with torch.autocast(kind, dtype=torch.bfloat16, enabled=precision == "bfloat16"):
            yield


@contextmanager
def without_cudnn_attention() -> Iterator[None]:
    """Keep torch from choosing cuDNN's attention, which plans anew for every shape of a batch.

    On Hopper that takes 76 ms per new shape of padded bfloat16, 132 ms with gradients; the
    memory-efficient kernel takes 0.1 and 0.6 ms.
    """
    before = torch.backends.cuda.cudnn_sdp_enabled()  # type: ignore[no-untyped-call]
    torch.backends.cuda.enable_cudnn_sdp(False)
    try:
        yield
    finally:
        torch.backends.cuda.enable_cudnn_sdp(before)


@contextmanager
def _products(*, is_rounded: bool) -> Iterator[None]:
    matrices, convolutions = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    _set("high" if is_rounded else "highest", is_rounded)
    try:
        yield
    finally:
        _set(matrices, convolutions)


def _set(matrices: str, convolutions: bool) -> None:
    torch.set_float32_matmul_precision(matrices)
    torch.backends.cudnn.allow_tf32 = convolutions


def signature_fields(precision: str) -> dict[str, str | int]:
    """Return the fields of a signature for the arithmetic.

    They contain the first two numbers of the versions of torch and transformers; the third is for
    bug fixes.
    """
    packages = (*_PACKAGES, EIGHT_BITS) if precision == "int8" else _PACKAGES
    return {"precision": precision, **{name: _release(name) for name in packages}}


def _release(package: str) -> str:
    try:
        return ".".join(version(package).split(".")[:2])
    except PackageNotFoundError:  # built from source, not installed by pip
        return "unknown"
