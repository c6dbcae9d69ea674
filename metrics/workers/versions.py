"""Which code and which packages a process runs, to notice a worker that an upgrade forgot."""

import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("annotation", "config", "dashboards", "lifecycle", "metaeval", "metrics", "training")


def code_hash(root: Path = ROOT) -> str:
    """Return eight digits of a SHA-256 over the Python files of the app."""
    total = hashlib.sha256()
    for path in sorted(path for name in PACKAGES for path in (root / name).rglob("*.py")):
        total.update(f"{path.relative_to(root).as_posix()}\0".encode())
        total.update(path.read_bytes())
    return total.hexdigest()[:8]


# Read when the process starts: the files may be replaced below a process that goes on.
CODE = code_hash()


def versions() -> dict[str, str]:
    """Return the versions that a report carries; torch's without importing it."""
    found = {"touchstone": CODE, "python": platform.python_version()}
    for package in ("torch", "transformers"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
