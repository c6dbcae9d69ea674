"""Telemetry of a worker for the log of a run: device, batch size, peak memory, builds.

Pure: no Django, and torch only if a metric has imported it already.
"""

import resource
import sys
from dataclasses import dataclass
from typing import Any

from metrics.base import Metric
from metrics.workers.builds import builds

# Linux counts in KiB, macOS in bytes.
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Reading:
    """How a metric runs in this process; bytes are peaks, of the process since it started.

    ``builds`` are those of :mod:`metrics.workers.builds`.
    """

    device: str
    precision: str
    batch: str
    peak_bytes: int
    device_peak_bytes: int | None
    builds: dict[str, str]

    def as_fields(self) -> dict[str, Any]:
        """The fields of a row that have the same names."""
        return dict(vars(self))


def begin(metric: Metric) -> None:
    """Count the peak memory of a CUDA device from now on."""
    cuda = _cuda(_device(metric))
    if cuda is not None:
        cuda.reset_peak_memory_stats(_device(metric))


def read(metric: Metric) -> Reading:
    """Ask a metric (:class:`metrics.base.Telemetry`) and the operating system."""
    device = _device(metric)
    return Reading(
        device=_named(device)[:120],
        precision=str(getattr(metric, "precision", ""))[:40],
        batch=_batch(metric),
        peak_bytes=peak_memory(),
        device_peak_bytes=_device_peak(metric, device),
        builds=builds(),
    )


def peak_memory() -> int:
    """Return the most bytes that this process has held in memory since it started."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT


def _device(metric: Metric) -> str:
    return str(getattr(metric, "device", "cpu"))


def _batch(metric: Metric) -> str:
    """Name the size of a batch with its unit; nothing where the metric has no batches."""
    for attribute, unit in (("budget", "tokens"), ("batch_size", "texts")):
        if (size := getattr(metric, attribute, None)) is not None:
            return f"{int(size):,} {unit}"
    return ""


def _cuda(device: str) -> Any:
    torch = sys.modules.get("torch")
    if not device.startswith("cuda") or torch is None or not torch.cuda.is_available():
        return None
    return torch.cuda


def _named(device: str) -> str:
    cuda = _cuda(device)
    return device if cuda is None else f"{device} ({cuda.get_device_name(device)})"


def _device_peak(metric: Metric, device: str) -> int | None:
    ask = getattr(metric, "peak_bytes", None)
    if ask is not None:
        return int(ask())
    cuda = _cuda(device)
    return None if cuda is None else int(cuda.max_memory_allocated(device))
