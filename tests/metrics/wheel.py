"""The plug-in that `manage.py startmetric` writes, built as a wheel and installed in a folder."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.core.management import call_command

NAME, KEY = "their-length", "their-length--main"
needs_setuptools = pytest.mark.skipif(find_spec("setuptools") is None, reason="needs setuptools")


def install(folder: Path) -> Path:
    """Return the folder with its package: whoever has it on the path has the plug-in."""
    call_command("startmetric", NAME, str(folder / "source"), verbosity=0)
    build = "import setuptools.build_meta as b, sys; print(b.build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", build, str(folder)],
        cwd=folder / "source", capture_output=True, text=True, check=True,
    )  # fmt: skip
    wheel = folder / done.stdout.strip().splitlines()[-1]
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(folder / "target"), str(wheel)], check=True)
    return folder / "target"
