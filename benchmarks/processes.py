"""The workers of the load scripts, as users start them, and what processes take.

Each has a process group of its own in this session: between sessions Linux divides processors
evenly, and nobody's `nice` counts.
"""

import os
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

CELERY = [sys.executable, "-m", "celery", "--quiet", "-A", "config", "worker"]
CELERY += ["--loglevel", "ERROR", "--without-gossip", "--without-mingle"]
QUICK, SLOW = "documents", "documents-slow"
LEAN = ["--max-memory-per-child", "400000"]
# By the names in the report.
WORKERS = {
    "scoring": [*CELERY, "-Q", "cpu,gpu", "-c", "1", "-n", "scoring@localhost"],
    "documents": ["nice", "-n5", *CELERY, *LEAN, "-Q", QUICK, "-c", "2", "-n", "quick@localhost"],
    "documents-slow": ["nice", *CELERY, *LEAN, "-Q", SLOW, "-c", "1", "-n", "slow@localhost"],
}


class Processes:
    """The workers, and what they and the web server take, children included."""

    def __init__(self) -> None:
        self.roots: dict[str, int] = {}
        self.peak: dict[str, float] = defaultdict(float)
        self.used: dict[tuple[str, int], float] = {}

    @contextmanager
    def started(self) -> Iterator[None]:
        workers = {
            name: subprocess.Popen(command, process_group=0) for name, command in WORKERS.items()
        }
        self.roots |= {name: process.pid for name, process in workers.items()}
        try:
            yield
        finally:
            for process in workers.values():
                process.terminate()
            for process in workers.values():
                with suppress(subprocess.TimeoutExpired):
                    process.wait(30)
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def look(self) -> None:
        """Note memory and processor time of all that run now."""
        for name, root in self.roots.items():
            for pid in family(root):
                with suppress(OSError, ValueError, IndexError):  # it may just have ended
                    self.peak[name] = max(self.peak[name], memory_of(pid, "VmHWM"))
                    self.used[name, pid] = _seconds(pid)

    def seconds(self) -> Counter[str]:
        """Processor seconds by name so far."""
        found: Counter[str] = Counter()
        for (name, _), used in self.used.items():
            found[name] += used  # type: ignore[assignment]
        return found


def seconds_of(root: int) -> float:
    """Processor seconds of a process and all below it, so far."""
    return sum(_seconds(pid) for pid in family(root))


def memory_of(pid: int, which: str = "VmRSS") -> float:
    """MiB that a process takes, or took at most."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split(f"{which}:")[1].split()[0]) / 1024


def _seconds(pid: int) -> float:
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += family(int(child))
    return found
