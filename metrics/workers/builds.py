"""Record what the last digits of a score depend on: processor, builds and settings of libraries.

This is provenance, stored with the part of a worker in a run, and never a part of a signature:
scores of two processors may be in one table (docs/metrics.md gives their differences). Imports no
library that is not in use already.
"""

import os
import platform
import re
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

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


def of_numpy() -> dict[str, str]:
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
