"""A run of pytest that ends by any signal leaves no server, worker or browser behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.leftovers import MARK

ROOT = Path(__file__).parents[2]
CONFTEST = "from benchmarks.leftovers import end_with_this_process as pytest_configure"
# It waits for a server that has a child, each in a session of its own. They hold its output.
WAITING = """
import subprocess, sys
CHILD = "print('child', flush=True); import signal; signal.pause()"
SERVER = (
    "import subprocess, sys; print('server', flush=True);"
    f"subprocess.Popen([sys.executable, '-c', {CHILD!r}], start_new_session=True).wait()"
)
def test_waits():
    subprocess.Popen([sys.executable, "-c", SERVER], start_new_session=True).wait()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_no_process(tmp_path: Path, number: int) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_waiting.py").write_text(WAITING)
    (tmp_path / "pytest.ini").write_text("[pytest]")
    environment = {name: value for name, value in os.environ.items() if name != MARK}
    command = [sys.executable, "-m", "pytest", "-s", "-p", "no:django", "-p", "no:xdist"]
    with subprocess.Popen(
        [*command, "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path, env=environment | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE,
        # A shell lets what it starts in the background ignore the interrupt; so would our run.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as run:  # fmt: skip
        assert run.stdout
        while b"child" not in (line := run.stdout.readline()):
            assert line, "the run ended before it was stopped"
        run.send_signal(number)
        run.communicate(timeout=120)  # to the end of all that could write
