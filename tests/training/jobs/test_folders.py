"""A folder is locked by a process, and free as soon as that has ended."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from metaeval.messages import message
from tests.small_disk import SmallDisk
from tests.training.doing import refused
from training.jobs.saving import holder, locked

BETAS = message("test.job", "job {n}", n=8)
HOLD = """
import sys
from pathlib import Path
from metaeval.messages import message
from training.jobs.saving import locked
with locked(Path(sys.argv[1]), message("test.job", "job {n}", n=7)):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_second_training_is_refused_by_name_until_the_first_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout
        assert first.stdout.readline() == b"locked\n"
        with refused("folder.in-use", folder=str(tmp_path)), locked(tmp_path, BETAS):
            pytest.fail("both train")
        found = holder(tmp_path)
        assert found is not None
        assert found.parameters["process"] == str(first.pid)
        assert found.parameters["name"].parameters == {"n": 7}
        first.send_signal(signal.SIGKILL)
        first.wait()
    assert holder(tmp_path) is None
    with locked(tmp_path, BETAS):
        found = holder(tmp_path)
        assert found is not None
        assert found.parameters["name"] == BETAS
    assert holder(tmp_path) is None


def test_a_folder_that_was_never_used_is_free(tmp_path: Path) -> None:
    assert holder(tmp_path / "none") is None
    assert not (tmp_path / "none").exists()


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with refused("folder.not-trained"), locked(tmp_path / "file" / "job", BETAS):
        pytest.fail("trains nowhere")


def test_a_full_disk_is_a_sentence(small_disk: SmallDisk) -> None:
    small_disk.leave(0)
    with refused("folder.not-trained"), locked(small_disk.folder / "job", BETAS):
        pytest.fail("trains nowhere")
