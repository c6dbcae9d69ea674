"""Telemetry of a worker for the log of a run: device, batch size, peak memory, builds.

Pure: no Django, and torch only if a metric has imported it already.
"""

import os
import platform
import re
import resource
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from metrics.base import Metric

# Record what the last digits of a score depend on: processor, builds and settings of libraries.
#
# This is provenance, stored with the part of a worker in a run, and never a part of a signature:
# scores of two processors may be in one table (docs/metrics.md gives their differences). Imports
# no library that is not in use already.


# Of the many, those that libraries choose their kernels by.
_INSTRUCTIONS = ("sse4_2", "avx2", "fma", "avx512f", "avx512_bf16", "amx_bf16", "asimd", "sve")
# What is imported, and the package that holds it.
_PACKAGES = {
    "numpy": "numpy",
    "scipy": "scipy",
    "torch": "torch",
    "transformers": "transformers",
    "comet": "unbabel-comet",
    "bleurt_pytorch": "bleurt-pytorch",
    "ot": "POT",
    "sacrebleu": "sacrebleu",
}
# What holds libraries to some of a processor's kernels.
SETTINGS = (
    "MKL_ENABLE_INSTRUCTIONS",
    "MKL_CBWR",
    "ATEN_CPU_CAPABILITY",
    "ONEDNN_MAX_CPU_ISA",
    "DNNL_MAX_CPU_ISA",
    "OPENBLAS_CORETYPE",
    "NPY_DISABLE_CPU_FEATURES",
)
_MKL = re.compile(r"Math Kernel Library Version (\S+)")
_ONEDNN = re.compile(r"MKL-DNN (v[\d.]+)")


def builds() -> dict[str, str]:
    """Return the processor and libraries of this process, by name; only loaded libraries."""
    return processor() | _libraries(_loaded(*_PACKAGES)) | _threads() | _settings()


def numpy_builds() -> dict[str, str]:
    """Return the part that matters to numpy, whatever else is loaded."""
    return processor() | _libraries(_loaded("numpy", "scipy")) | _settings()


@cache
def processor() -> dict[str, str]:
    """Return the name of the processor and the instructions that select kernels."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    told = {name.strip(): rest.strip() for name, _, rest in (line.partition(":") for line in lines)}
    name = told.get("model name") or platform.processor() or platform.machine()
    flags = told.get("flags", told.get("Features", "")).split()
    instructions = " ".join(each for each in _INSTRUCTIONS if each in flags)
    return {"processor": name} | ({"instructions": instructions} if instructions else {})


def _settings() -> dict[str, str]:
    return {name: os.environ[name] for name in SETTINGS if name in os.environ}


def _loaded(*names: str) -> tuple[str, ...]:
    return tuple(name for name in names if name in sys.modules)


@cache
def _libraries(loaded: tuple[str, ...]) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in loaded:
        try:
            found[_PACKAGES[name]] = version(_PACKAGES[name])
        except PackageNotFoundError:
            continue
    if "numpy" in loaded:
        found |= _blas_of(sys.modules["numpy"])
    return found | (_inside(sys.modules["torch"]) if "torch" in loaded else {})


def _blas_of(numpy: Any) -> dict[str, str]:
    """Return the linear algebra library of numpy; nothing if unknown."""
    told = getattr(numpy.__config__, "CONFIG", {}).get("Build Dependencies", {}).get("blas", {})
    text = f"{told.get('name', '')} {told.get('version', '')}".strip()
    return {"numpy BLAS": text} if text else {}


def _inside(torch: Any) -> dict[str, str]:
    """The kernels of torch: its own, and those of the libraries in it."""
    told = torch.__config__.show()
    found = {"torch kernels": torch.backends.cpu.get_cpu_capability()}
    for name, pattern in (("MKL", _MKL), ("oneDNN", _ONEDNN)):
        if match := pattern.search(told):
            found[name] = match[1]
    return found | ({"CUDA": str(torch.version.cuda)} if torch.version.cuda else {})


def _threads() -> dict[str, str]:
    """Return the number of threads that share a sum; it determines the order of additions."""
    torch: Any = sys.modules.get("torch")
    return {"threads": str(torch.get_num_threads())} if torch else {}


# Linux counts in KiB, macOS in bytes.
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Reading:
    """How a metric runs in this process; bytes are peaks, of the process since it started.

    ``builds`` are those of :func:`builds`.
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
