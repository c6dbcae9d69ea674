"""Web server and worker where one folder alone can be written, as in the containers."""

import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.config.test_nginx import free_port
from tests.touchstone.test_wheel import DEADLINE, ROOT, first_page

MOUNT = """
mount --bind "$HOME" "$HOME" && mount -o remount,bind,ro "$HOME" && mount --bind "$1" "$1" &&
mount -o remount,bind,ro / || exit 77
! touch "$HOME/new" 2>/dev/null && ! touch new 2>/dev/null && shift && exec "$@"
"""


def start(home: Path, folder: Path, *words: str) -> "subprocess.Popen[str]":
    """Start `touchstone` where `folder` alone can be written; skip where nothing can be mounted."""
    unshare = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNT, "sh"]
    own = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    own |= {"HOME": str(home), "TOUCHSTONE_VAR": str(folder), "TMPDIR": str(folder)}
    own |= {"PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    command = [*unshare, str(folder), sys.executable, "-m", "touchstone", *words]
    with (folder / f"{words[0]}.log").open("w") as log:
        return subprocess.Popen(command, cwd=ROOT, env=own, stdout=log, stderr=log, text=True)


@pytest.mark.skipif(not shutil.which("unshare"), reason="no mounts here: there is no unshare")
def test_web_server_and_worker_write_to_their_volume_alone(migrated: Path, tmp_path: Path) -> None:
    home, folder, port = tmp_path / "home", tmp_path / "var", free_port()
    home.mkdir()
    folder.mkdir()
    shutil.copy(migrated, folder / "touchstone.sqlite3")
    if start(home, folder, "migrate").wait() == 77:
        pytest.skip(f"no mounts here: {(folder / 'migrate.log').read_text()}")
    with ExitStack() as stack:
        for words in (["serve", "--port", str(port)], ["worker", "--queues", "cpu"]):
            process = start(home, folder, *words)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        assert first_page(process, f"http://127.0.0.1:{port}/healthz")
        log, end = folder / "worker.log", time.monotonic() + DEADLINE
        while " ready." not in log.read_text():
            assert process.poll() is None and time.monotonic() < end, log.read_text()  # noqa: PT018
            time.sleep(0.2)
    logs = "".join(path.read_text() for path in folder.glob("*.log"))
    assert "Read-only" not in logs, logs
    assert list(home.iterdir()) == []
