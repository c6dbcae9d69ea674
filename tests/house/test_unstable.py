"""What failed once runs again alone; if it passes then it is named, if not the run fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = """
from pathlib import Path
def test_sound(): pass
def test_once():
    seen = Path(__file__).with_name("seen")
    is_first = not seen.exists()
    seen.touch()
    assert not is_first
def test_broken(): assert False
"""


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_some.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]")
    given = {"PYTHONPATH": str(ROOT), "UNSTABLE_TESTS": str(folder / "unstable")}
    # Of the plugins that are installed only what runs tests in several processes.
    given |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p xdist.plugin"}
    command = [sys.executable, "-m", "pytest", "-p", "tests.unstable", *options]
    return subprocess.run(
        command, cwd=folder, env=os.environ | given, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("workers", ["0", "2"])
def test_what_passes_alone_is_named_and_the_run_goes_on(tmp_path: Path, workers: str) -> None:
    done = run(tmp_path, f"-n{workers}", "-k", "not broken")
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-2:] == [
        "UNSTABLE: 1 failed and then passed alone",
        "test_some.py::test_once",
    ]
    assert (tmp_path / "unstable").read_text() == "test_some.py::test_once\n"


def test_what_fails_again_fails_the_run(tmp_path: Path) -> None:
    done = run(tmp_path, "-n0")
    assert done.returncode == 1
    assert "test_some.py::test_once" in done.stdout.splitlines()
    assert "test_some.py::test_broken" not in (tmp_path / "unstable").read_text()
