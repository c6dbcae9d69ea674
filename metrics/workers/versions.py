"""Find the code and packages of a process, to notice a worker that was not upgraded."""

import hashlib
import os
import platform
from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from metaeval import __version__

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "annotation",
    "config",
    "core",
    "dashboards",
    "extensions",
    "lifecycle",
    "metaeval",
    "metrics",
    "training",
)


def code_hash(root: Path = ROOT) -> str:
    """Return eight digits of a SHA-256 over the Python files of the app.

    They are read anew where one has another size or time than when they were read last.
    """
    return _hash_of(tuple(_files(root)), root)


def _files(root: Path) -> Iterator[tuple[str, int, int]]:
    for package in PACKAGES:
        for folder, _, names in os.walk(root / package):
            for path in (os.path.join(folder, name) for name in names if name.endswith(".py")):
                found = os.stat(path)
                yield path, found.st_mtime_ns, found.st_size


@lru_cache(maxsize=1)
def _hash_of(files: tuple[tuple[str, int, int], ...], root: Path) -> str:
    total = hashlib.sha256()
    for path, *_ in sorted(files):
        total.update(f"{path.removeprefix(f'{root}/')}\0".encode())
        with open(path, "rb") as file:
            total.update(file.read())
    return total.hexdigest()[:8]


# Read when the process starts: the files may be replaced below a process that goes on.
CODE = code_hash()


def versions() -> dict[str, str]:
    """Return the versions that a report carries: the release, the hash of the code, Python's, and
    torch's without importing it."""
    found = {"release": __version__, "touchstone": CODE, "python": platform.python_version()}
    for package in ("torch", "transformers"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
