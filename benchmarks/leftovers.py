"""However a run ends, by a signal too, nothing that it started stays behind.

A watcher in a session of its own waits for the end of the process that asked for it. Then it ends
whatever carries the run's mark in its environment: servers, workers and browsers, and what those
started in their turn.
"""

import os
import select
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MARK = "TOUCHSTONE_RUN"


def end_with_this_process() -> None:
    """Mark what is started from now on, and have it ended with this process.

    Once a run: the processes of a marked run belong to it, and have no watcher of their own.
    """
    if MARK in os.environ or not sys.platform.startswith("linux"):
        return
    mark = uuid.uuid4().hex
    command = [sys.executable, "-S", __file__, str(os.getpid()), mark]
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE) as watcher:
        assert watcher.stdout
        watcher.stdout.readline()  # it watches
        watcher.returncode = 0  # it outlives this process, so nobody waits for it
    os.environ[MARK] = mark


def marked(mark: str) -> Iterator[int]:
    """Yield the processes that were started with a mark."""
    wanted = f"{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:  # ended meanwhile, or somebody else's
            continue
        if wanted in variables:
            yield int(folder.name)


def _watch(process: int, mark: str) -> None:
    ended = os.pidfd_open(process)
    print("watching", flush=True)
    os.close(1)
    select.select([ended], [], [])
    while left := list(marked(mark)):  # until nothing starts another
        for each in left:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        select.select([], [], [], 0.05)


if __name__ == "__main__":
    _watch(int(sys.argv[1]), sys.argv[2])
