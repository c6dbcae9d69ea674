"""List the devices of a worker's host. Never imports torch: a report must be cheap."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NotRequired, TypedDict

from core.text import pluralize

QUERY = "index,uuid,name,memory.total,memory.free"
NVIDIA_SECONDS = 10
MIB = 2**20
# The first digit of the compute capability of Ampere.
TF32_MAJOR = 8


class Device(TypedDict):
    """A GPU with its memory, or the processor with its cores and the host's memory.

    Memory is in bytes, None where it is unknown.
    """

    kind: str
    name: str
    total: int | None
    free: int | None
    cores: NotRequired[int]


def devices() -> list[Device]:
    """Return the GPUs that this process may use, then the processor."""
    return [
        *(parse(_ask(QUERY), os.environ.get("CUDA_VISIBLE_DEVICES")) or _by_torch()),
        _processor(),
    ]


def gpu_ids() -> list[str]:
    """Return the GPUs that this process may use as CUDA_VISIBLE_DEVICES names them."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [entry.strip() for entry in visible.split(",") if entry.strip()]
    return [line.strip() for line in _ask("index").splitlines() if line.strip()]


def may_have_tf32() -> bool:
    """Return True if a GPU of this process computes with TF32, or if that is unknown."""
    if not any(device["kind"] == "gpu" for device in devices()):
        return Path("/dev/nvidiactl").exists() and os.environ.get("CUDA_VISIBLE_DEVICES") != ""
    told = [line.split(".")[0] for line in _ask("compute_cap").splitlines()]
    return not told or any(major.isdigit() and int(major) >= TF32_MAJOR for major in told)


def process_memory(pid: int | None = None) -> int | None:
    """Return the bytes of memory of a process (None: this one); None if unknown."""
    try:
        pages = int(Path(f"/proc/{pid or 'self'}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _ask(query: str) -> str:
    """Return nvidia-smi's table, one line per GPU; nothing if it does not answer."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ""
    command = [program, f"--query-gpu={query}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(  # noqa: S603  a fixed command
            command, capture_output=True, text=True, timeout=NVIDIA_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


def parse(table: str, visible: str | None) -> list[Device]:
    """Read nvidia-smi's table of QUERY, without GPUs that CUDA_VISIBLE_DEVICES hides.

    An entry of CUDA_VISIBLE_DEVICES is an index or the beginning of a UUID; as in CUDA, entries
    after one without GPU are ignored.
    """
    rows = [[cell.strip() for cell in line.split(",")] for line in table.splitlines()]
    rows = [row for row in rows if len(row) == 5]
    if visible is not None:
        rows = _visible(rows, [entry.strip() for entry in visible.split(",")])
    return [
        {"kind": "gpu", "name": name, "total": _bytes(total), "free": _bytes(free)}
        for _, _, name, total, free in rows
    ]


def _visible(rows: list[list[str]], entries: list[str]) -> list[list[str]]:
    chosen = []
    for entry in entries:
        found = [row for row in rows if entry and (row[0] == entry or row[1].startswith(entry))]
        if not found:
            break
        chosen.append(found[0])
    return chosen


def _bytes(mebibytes: str) -> int | None:
    return int(mebibytes) * MIB if mebibytes.isdigit() else None


def device_in_use() -> str:
    """Return the GPU that this process has opened, with its place; empty before, and on a CPU."""
    names = [device["name"] for device in _by_torch()]
    place = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    return f"{names[0]} {place}".strip() if names else ""


def _by_torch() -> list[Device]:
    """The device in use, where a metric has loaded torch; looking at others would open them."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available() or not torch.cuda.is_initialized():
        return []
    free, total = torch.cuda.mem_get_info()
    return [
        {
            "kind": "gpu",
            "name": torch.cuda.get_device_name(),
            "total": int(total),
            "free": int(free),
        }
    ]


def _processor() -> Device:
    told, cores = _memory(), len(os.sched_getaffinity(0))
    return {
        "kind": "cpu",
        "name": pluralize(cores, "core"),
        "cores": cores,
        "total": told.get("MemTotal"),
        "free": told.get("MemAvailable"),
    }


def _memory() -> dict[str, int]:
    """Bytes by the names of /proc/meminfo; nothing where there is no such file."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return {}
    pairs = (line.partition(":") for line in lines)
    return {name: int(rest.split()[0]) * 1024 for name, _, rest in pairs if rest.split()}
