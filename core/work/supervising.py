"""Start the processes that a site is made of, restart killed workers, and end all in order."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType

from django.conf import settings

GRACE_SECONDS = 15
# How often killed workers are restarted; a worker that always runs out of memory ends the program.
RESTARTS = 5


def worker(name: str, queues: str, *options: str) -> list[str]:
    """Return the command of a worker; it has one child unless `options` say otherwise."""
    # A warning about running as root does not help in a demo.
    quiet = ["-W", "ignore:You're running the worker", "-m", "celery", "--quiet"]
    command = [sys.executable, *quiet, "-A", "config", "worker", "-n", f"{name}@%h", "-Q", queues]
    usual = ["--concurrency", "1", "--loglevel", "warning", "--without-gossip", "--without-mingle"]
    return [*command, *usual, *options]


def supervise(
    commands: Sequence[list[str]], *, program: str, grace_seconds: float = GRACE_SECONDS
) -> int:
    """Run until Ctrl-C, SIGTERM or until a process ends for good; then end all processes.

    A killed worker is restarted, RESTARTS times. Returns the exit status: 0 after Ctrl-C, otherwise
    that of the process that ended. Messages name `program`. Processes run in the folder of the
    code, and are killed if they go on for `grace_seconds` after they were asked to stop.
    """
    signal.signal(signal.SIGTERM, _as_interrupt)
    processes: list[subprocess.Popen[bytes]] = []
    try:
        processes.extend(map(_launch, commands))
        left = RESTARTS
        while True:
            place = _next_to_end(processes)
            command, status = commands[place], processes[place].returncode
            is_again = status < 0 and bool(_name_of_worker(command)) and left > 0
            sys.stderr.write(f"\n{farewell(command, status, is_again=is_again, program=program)}\n")
            if not is_again:
                return status or 1
            left -= 1
            _end_group(processes[place])
            processes[place] = _launch(command)
    except KeyboardInterrupt:
        return 0
    finally:
        _stop(processes, grace_seconds)


def _launch(command: list[str]) -> subprocess.Popen[bytes]:
    """Start a process in its own group: only this process gets Ctrl-C, and stops all in order.

    They share a session, because Linux compares `nice` only within a session.
    """
    return subprocess.Popen(command, cwd=settings.BASE_DIR, process_group=0)  # noqa: S603


def _next_to_end(processes: list[subprocess.Popen[bytes]]) -> int:
    """Wait for a process to end; return its index."""
    places = {process.pid: place for place, process in enumerate(processes)}
    while True:
        pid, status = os.wait()
        if pid in places:
            processes[places[pid]].returncode = os.waitstatus_to_exitcode(status)
            return places[pid]


def _name_of_worker(command: list[str]) -> str:
    return next((each.removesuffix("@%h") for each in command if each.endswith("@%h")), "")


def farewell(command: list[str], status: int, *, is_again: bool, program: str) -> str:
    """Return which process ended, how, and what to do next."""
    label = _name_of_worker(command)
    name = f"The worker “{label}”" if label else "The web server"
    how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
    if is_again:
        return f"{name} {how}. It is being restarted; no data are lost."
    return f"{name} {how}, so {program} stops. No data are lost: start it again."


def _as_interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _stop(processes: list[subprocess.Popen[bytes]], grace_seconds: float) -> None:
    for process in processes:
        if process.poll() is None:
            process.terminate()
    deadline = time.monotonic() + grace_seconds
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=max(0.0, deadline - time.monotonic()))
        _end_group(process)
        process.wait()


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End the child processes as well, even if their parent has ended."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
