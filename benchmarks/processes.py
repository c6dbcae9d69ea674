"""The workers of the load scripts, as users start them, and what processes take.

Each has a process group of its own in this session: between sessions Linux divides processors
evenly, and nobody's `nice` counts.
"""

import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

CELERY = [sys.executable, "-m", "celery", "--quiet", "-A", "config", "worker"]
CELERY += ["--loglevel", "ERROR", "--without-gossip", "--without-mingle"]
QUICK, SLOW = "documents", "documents-slow"
OWN, MACHINE = "this process", "the machine"
LEAN = ["--max-memory-per-child", "400000"]
# By the names in the report.
WORKERS = {
    "scoring": [*CELERY, "-Q", "cpu,gpu", "-c1", "-n", "scoring@localhost"],
    "documents": ["nice", "-n10", *CELERY, *LEAN, "-Q", QUICK, "-c2", "-n", "quick@localhost"],
    "documents-slow": ["nice", "-n15", *CELERY, *LEAN, "-Q", SLOW, "-c1", "-n", "slow@localhost"],
}


class Processes:
    """The workers, and what they and the web server take, children included."""

    def __init__(self) -> None:
        self.roots: dict[str, int] = {}
        self.peak: dict[str, float] = defaultdict(float)

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
        """Note the memory of all that run now."""
        for name, root in self.roots.items():
            for pid in family(root):
                with suppress(OSError, ValueError, IndexError):  # it may just have ended
                    self.peak[name] = max(self.peak[name], memory_of(pid, "VmHWM"))

    def seconds(self) -> dict[str, float]:
        """Processor seconds so far, by name; those of this process itself and of the machine."""
        found = {name: seconds_of(root) for name, root in self.roots.items()}
        return found | {OWN: time.process_time(), MACHINE: _machine_seconds()}


def services() -> dict[str, int]:
    """The roots of the database's server and the broker's, where they run on this machine."""
    from django.conf import settings
    from django.db import connection

    found = {}
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            found["PostgreSQL"] = _parent(cursor.fetchone()[0])
    if settings.CELERY_BROKER_URL.startswith("redis"):
        import redis

        found["Redis"] = redis.Redis.from_url(settings.CELERY_BROKER_URL).info()["process_id"]
    return found


def seconds_of(root: int) -> float:
    """Processor seconds of a process and all below it, those that have ended included."""
    found = 0.0
    for pid in family(root):
        with suppress(OSError):  # it may just have ended: then its parent has its time
            found += _seconds(pid)
    return found


def memory_of(pid: int, which: str = "VmRSS") -> float:
    """MiB that a process takes, or took at most."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split(f"{which}:")[1].split()[0]) / 1024


def _seconds(pid: int) -> float:
    """Its own, and those of its children that have ended."""
    return sum(map(int, _stat(pid)[11:15])) / os.sysconf("SC_CLK_TCK")


def _parent(pid: int) -> int:
    return int(_stat(pid)[1])


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _machine_seconds() -> float:
    """Of all processors, whoever had them; without what they waited."""
    ticks = [int(each) for each in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += family(int(child))
    return found
