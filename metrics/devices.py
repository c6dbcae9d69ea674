"""What a worker's host has to compute with. Never imports torch: a report must cost nothing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TypedDict

QUERY = "index,uuid,name,memory.total,memory.free"
NVIDIA_SECONDS = 10
MIB = 2**20


class Device(TypedDict):
    """A GPU with its memory, or the processor with the host's; bytes, None where not told."""

    kind: str
    name: str
    total: int | None
    free: int | None


def devices() -> list[Device]:
    """Return the GPUs that this process may use, then the processor."""
    return [*(_by_nvidia_smi() or _by_torch()), _processor()]


def process_memory() -> int | None:
    """Return the bytes of memory that this process holds; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _by_nvidia_smi() -> list[Device]:
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    command = [program, f"--query-gpu={QUERY}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(  # noqa: S603  a fixed command
            command, capture_output=True, text=True, timeout=NVIDIA_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return parse(done.stdout, os.environ.get("CUDA_VISIBLE_DEVICES"))


def parse(table: str, visible: str | None) -> list[Device]:
    """Read nvidia-smi's table of QUERY, leaving out what CUDA_VISIBLE_DEVICES hides.

    An entry of it is an index or the beginning of a UUID; as in CUDA, what follows an entry that
    no GPU has is hidden.
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
    told = _memory()
    return {
        "kind": "cpu",
        "name": f"{len(os.sched_getaffinity(0))} cores",
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
