"""A folder is held by a process, and free as soon as that is gone, however it went."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.small_disk import SmallDisk
from training.contract import JobError
from training.jobs.folders import held, holder

HOLD = """
import sys
from pathlib import Path
from training.jobs.folders import held
with held(Path(sys.argv[1]), "job 7, alphas"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_training_is_refused_by_name_until_the_first_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout
        assert first.stdout.readline() == b"held\n"
        named = rf"in use by job 7, alphas, process {first.pid} on .*two trainings in one folder"
        with pytest.raises(JobError, match=named), held(tmp_path, "job 8, betas"):
            pytest.fail("both train")
        assert holder(tmp_path).startswith("job 7, alphas, process")
        first.send_signal(signal.SIGKILL)
        first.wait()
    assert holder(tmp_path) == ""
    with held(tmp_path, "job 8, betas"):
        assert holder(tmp_path).startswith("job 8, betas")
    assert holder(tmp_path) == ""


def test_a_folder_that_was_never_used_is_free(tmp_path: Path) -> None:
    assert holder(tmp_path / "none") == ""
    assert not (tmp_path / "none").exists()


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    message = "cannot be written: Not a directory"
    with pytest.raises(JobError, match=message), held(tmp_path / "file" / "job", "job 1"):
        pytest.fail("trains nowhere")


def test_a_full_disk_is_a_sentence(small_disk: SmallDisk) -> None:
    small_disk.leave(0)
    message = rf"{small_disk.told}.*Nothing was trained"
    with pytest.raises(JobError, match=message), held(small_disk.folder / "job", "job 1"):
        pytest.fail("trains nowhere")
