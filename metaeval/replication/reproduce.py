"""Recompute a replication bundle and compare every number with the one it holds.

A bundle is a folder or a zip with ``manifest.json``: ``files`` (name -> SHA-256) and ``tables``,
each with ``name``, the arguments of ``python -m metaeval`` that compute it, run inside the bundle,
and ``expected``, the file that holds its numbers.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy

from metaeval.results import plain

FORMAT = 1
# What bundles that were made before documents were units do not say.
UNITS = frozenset({"unit", "n_units", "n_effective"})
ROUNDING = 1e-12
Run = Callable[[Sequence[str], Path], dict[str, Any]]


@dataclass(frozen=True)
class Difference:
    """Where a bundle is not what its data give; numbers are written with all digits.

    `is_rounding` marks numbers that another processor or numpy may give: equal up to 1e-12.
    """

    table: str
    place: str
    expected: str
    found: str
    is_rounding: bool = False


@dataclass(frozen=True)
class Reproduction:
    """What came out: how many numbers were compared, and every difference."""

    tables: int
    numbers: int
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]


def versions() -> dict[str, str]:
    """What the last digits of numbers may depend on."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "machine": platform.machine(),
    }


def reproduce(path: str | Path, run: Run, *, tolerance: float = 0.0) -> Reproduction:
    """Recompute a bundle, given what runs a command; ``tolerance`` is relative, 0 bit for bit.

    Raises
    ------
    ValueError
        The path is no bundle, or of a format that this version does not know.
    """
    source = Path(path)
    if source.is_dir():
        return _reproduce(source, run, tolerance)
    if not zipfile.is_zipfile(source):
        raise ValueError(f"{path}: neither a folder nor a zip file")
    with TemporaryDirectory() as folder, zipfile.ZipFile(source) as archive:
        archive.extractall(folder)
        found = [entry.parent for entry in sorted(Path(folder).glob("**/manifest.json"))]
        if not found:
            raise ValueError(f"{path}: no manifest.json in it")
        return _reproduce(found[0], run, tolerance)


def _reproduce(folder: Path, run: Run, tolerance: float) -> Reproduction:
    manifest = _manifest(folder)
    differences = list(_changed_files(folder, manifest["files"]))
    numbers = 0
    for table in manifest["tables"]:
        expected = json.loads((folder / table["expected"]).read_text(encoding="utf-8"))
        try:
            found = plain(run(table["arguments"], folder))
        except (ValueError, KeyError, OSError, SystemExit) as error:
            differences.append(Difference(table["name"], "the command", "runs", str(error)))
            continue
        numbers += sum(1 for _ in _leaves(expected))
        differences += _compare(table["name"], "", expected, found, tolerance)
    return Reproduction(
        len(manifest["tables"]), numbers, tuple(differences), tuple(_notes(manifest["versions"]))
    )


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / "manifest.json"
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: no manifest of a bundle ({error})") from error
    if manifest.get("format") != FORMAT:
        raise ValueError(f"{path}: format {manifest.get('format')}, this version reads {FORMAT}")
    return manifest


def _changed_files(folder: Path, files: dict[str, str]) -> Iterator[Difference]:
    for name, expected in files.items():
        path = folder / name
        found = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "no file"
        if found != expected:
            yield Difference("files", name, expected, found)


def _notes(made_with: dict[str, str]) -> Iterator[str]:
    here = versions()
    for name, version in made_with.items():
        if name in here and here[name] != version:
            yield (
                f"The bundle was made with {name} {version}, this is {here[name]}: last digits may "
                "differ (--tolerance 1e-12 lets them)."
            )


def _compare(
    table: str, place: str, expected: Any, found: Any, tolerance: float
) -> Iterator[Difference]:
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in dict.fromkeys([*expected, *found]):
            if key in UNITS and key not in expected:
                continue
            nothing = "(nothing)"
            left, right = expected.get(key, nothing), found.get(key, nothing)
            yield from _compare(table, f"{place}.{key}".strip("."), left, right, tolerance)
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield Difference(table, place, f"{len(expected)} rows", f"{len(found)} rows")
        for number, (left, right) in enumerate(zip(expected, found, strict=False)):
            yield from _compare(table, f"{place}[{_name(left, number)}]", left, right, tolerance)
    elif not _same(expected, found, tolerance):
        is_rounding = isinstance(expected, float) and _same(expected, found, ROUNDING)
        yield Difference(table, place, repr(expected), repr(found), is_rounding)


def _name(row: Any, number: int) -> str:
    """What a reader knows a row by."""
    keys = ("metric", "measure", "statistic", "system", "segment")
    known = [str(row[key]) for key in keys if key in row] if isinstance(row, dict) else []
    return " ".join(text for text in known) or str(number)


def _same(expected: Any, found: Any, tolerance: float) -> bool:
    if tolerance and isinstance(expected, float) and isinstance(found, (int, float)):
        return math.isclose(expected, found, rel_tol=tolerance, abs_tol=tolerance)
    return type(expected) is type(found) and bool(expected == found)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            yield from _leaves(entry)
    elif isinstance(value, (int, float)):
        yield value
