"""Each room shows a handful of documented names; metaeval works where nothing of ours is."""

import doctest
import subprocess
import sys
import tomllib
import venv
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import copytree, ignore_patterns
from zipfile import ZipFile

import pytest

import metaeval

ROOT = Path(metaeval.__file__).parent
ROOMS = [
    "metaeval",
    *(
        ".".join(path.parent.relative_to(ROOT.parent).parts)
        for path in sorted(ROOT.rglob("*/__init__.py"))
        if "__all__" in path.read_text(encoding="utf-8")
    ),
]
# These ask more kinds of questions than other rooms.
CROWDED = {"metaeval": 17, "metaeval.sensitivity": 20, "metaeval.replication.questions": 17}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_completes_to_a_handful_of_documented_names(room):
    module = import_module(room)
    assert module.__doc__
    assert len(module.__all__) <= CROWDED.get(room, 15)
    functions = [getattr(module, name) for name in module.__all__ if name != "__version__"]
    assert [each for each in functions if callable(each) and not each.__doc__] == []
    if room not in ("metaeval", "metaeval.commands"):
        assert sorted(dir(module)) == sorted(module.__all__)


def test_the_examples_of_the_documentation_run():
    failed, tried = doctest.testfile(str(ROOT.parent / "docs" / "statistics.md"), False)
    assert tried > 5
    assert not failed


def test_its_packages_are_all_in_its_wheel():
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    folders = {path.parent.relative_to(ROOT.parent) for path in ROOT.rglob("__init__.py")}
    packages = {".".join(folder.parts) for folder in folders}
    assert set(table["tool"]["setuptools"]["packages"]) == packages


def run(*command: object, cwd: Path) -> str:
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_it_can_be_installed_alone(tmp_path):
    """A wheel built without a network, in an environment of numpy and scipy alone."""
    copytree(ROOT, tmp_path / "source", ignore=ignore_patterns("__pycache__"))
    offline = ("--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", "wheel", *offline, "./source", "-w", tmp_path, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    assert metaeval.__version__ in wheel.name
    home = tmp_path / "alone"
    venv.create(home, symlinks=True)
    packages = next(home.glob("lib/*/site-packages"))
    for name in ("numpy", "scipy"):
        origin = Path(find_spec(name).submodule_search_locations[0])
        for part in (origin, origin.parent / f"{name}.libs"):
            if part.exists():
                (packages / part.name).symlink_to(part)
    python = home / "bin" / "python"
    ZipFile(wheel).extractall(packages)
    (tmp_path / "scores.tsv").write_text("system\tsegment\thuman\tm\n" + "".join(
        f"{system}\t{segment}\t{segment}\t{segment * segment}\n"
        for system in "AB" for segment in range(1, 25)
    ))  # fmt: skip
    told = run(python, "-I", "-m", "metaeval", "correlate", "scores.tsv", "--human", "human",
               "--correlation", "spearman", cwd=tmp_path)  # fmt: skip
    assert told.splitlines()[1].split("\t")[:3] == ["m", "1", "48"]
