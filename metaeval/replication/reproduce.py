"""Recompute a replication bundle and compare every number with the stored one.

Of messages (intervals, tests, warnings), codes and parameters are compared.

A bundle is a folder or a zip with ``manifest.json``: ``files`` (name -> SHA-256) and ``tables``,
each with ``name``, the arguments of ``python -m metaeval`` that compute it, run inside the bundle,
and ``expected``, the file with its numbers.
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

from metaeval.messages import Message, MessageError, message
from metaeval.replication.judgments import forget_judgments
from metaeval.replication.tables import forget_scores
from metaeval.results import plain

FORMAT = 1
# Fields that older bundles lack, from before documents were units.
UNITS = frozenset({"unit", "n_units", "n_effective"})
# Codes that older bundles have by another name.
RENAMED = {"not above": "not-above"}
# What is compared of a message; another version may word its text differently.
FACTS = ("code", "parameters")
ROUNDING = 1e-12
NOTHING = "(nothing)"
# A zip with more bytes than this, and that many times its own size, would only fill the disk.
LARGE, MOST_TIMES = 200_000_000, 100
Run = Callable[[Sequence[str], Path], dict[str, Any]]


@dataclass(frozen=True)
class Difference:
    """A value that differs from the recomputed one; numbers are written with all digits.

    `is_rounding` marks numbers that are equal up to 1e-12, as with another processor or numpy.
    """

    table: str
    place: str
    expected: str
    found: str
    is_rounding: bool = False


@dataclass(frozen=True)
class Reproduction:
    """The outcome: how many tables and numbers were compared, every difference, and notes."""

    tables: int
    numbers: int
    differences: tuple[Difference, ...]
    notes: tuple[Message, ...]


class BundleError(MessageError, ValueError):
    """A path is not a bundle that this version can read."""


def versions() -> dict[str, str]:
    """Return the versions on which the last digits of numbers may depend."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "machine": platform.machine(),
    }


def forget_files() -> None:
    """Free what is remembered of the files of a bundle, because several tables read them."""
    forget_judgments()
    forget_scores()


def reproduce(path: str | Path, run: Run, *, tolerance: float = 0.0) -> Reproduction:
    """Recompute a bundle with a function that runs a command.

    ``tolerance`` is relative; 0 compares bit for bit.

    Raises
    ------
    BundleError
        The path is not a bundle, or its format is unknown to this version.
    """
    source = Path(path)
    if source.is_dir():
        return _reproduce(source, run, tolerance)
    if not zipfile.is_zipfile(source):
        raise BundleError(
            message(
                "bundle.neither-folder-nor-zip",
                "{path} is neither a folder nor a zip file.",
                path=str(path),
            )
        )
    with TemporaryDirectory() as folder, zipfile.ZipFile(source) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
        if size > LARGE and size > MOST_TIMES * source.stat().st_size:
            raise BundleError(
                message(
                    "bundle.too-large",
                    "{path} contains {n} bytes, which is more than {times} times its size. "
                    "No bundle is packed so tightly.",
                    path=str(path),
                    n=size,
                    times=MOST_TIMES,
                )
            )
        archive.extractall(folder)
        found = [entry.parent for entry in sorted(Path(folder).glob("**/manifest.json"))]
        if not found:
            raise BundleError(
                message("bundle.no-manifest", "{path} contains no manifest.json.", path=str(path))
            )
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
        raise BundleError(
            message(
                "bundle.unreadable-manifest",
                "{path} is not the manifest of a bundle: {error}",
                path=str(path),
                error=str(error),
            )
        ) from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise BundleError(
            message(
                "bundle.unknown-format",
                "{path} has format {format}, but this version reads format {known}.",
                path=str(path),
                format=manifest.get("format") if isinstance(manifest, dict) else None,
                known=FORMAT,
            )
        )
    _check(folder, manifest)
    return manifest


def _check(folder: Path, manifest: dict[str, Any]) -> None:
    """Raise BundleError for parts of another type, and for files outside of the bundle."""
    files, tables = manifest.get("files"), manifest.get("tables")
    if (
        not isinstance(files, dict)
        or not isinstance(manifest.get("versions"), dict)
        or not isinstance(tables, list)
        or not all(map(_is_table, tables))
    ):
        raise BundleError(
            message(
                "bundle.damaged-manifest",
                "{path} is damaged: files, versions or tables are missing or have another type.",
                path=str(folder / "manifest.json"),
            )
        )
    for name in (*files, *(table["expected"] for table in tables)):
        inside(folder, name)


def _is_table(table: Any) -> bool:
    if not isinstance(table, dict) or not isinstance(table.get("arguments"), list):
        return False
    return all(
        isinstance(each, str)
        for each in (table.get("name"), table.get("expected"), *table["arguments"])
    )


def inside(folder: Path, name: str) -> str:
    """Return the path of a file of a bundle. Raises BundleError for one outside of it."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise BundleError(message("bundle.outside-file", "{file} is not in the bundle.", file=name))
    return str(path)


def _changed_files(folder: Path, files: dict[str, str]) -> Iterator[Difference]:
    for name, expected in files.items():
        path = folder / name
        found = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "no file"
        if found != expected:
            yield Difference("files", name, expected, found)


def _notes(made_with: dict[str, str]) -> Iterator[Message]:
    here = versions()
    for name, version in made_with.items():
        if name in here and here[name] != version:
            yield message(
                "bundle.other-version",
                "The bundle was made with {name} {version}, but this machine has {name} {here}. "
                "The last digits of numbers may differ; --tolerance 1e-12 ignores that.",
                name=name,
                version=version,
                here=here[name],
            )


def _compare(
    table: str, place: str, expected: Any, found: Any, tolerance: float
) -> Iterator[Difference]:
    if _is_message(found):
        if isinstance(expected, str) and expected != NOTHING:
            # A bundle from before messages has the text only.
            return
        found = {name: found[name] for name in FACTS}
        if _is_message(expected):
            expected = {name: expected[name] for name in FACTS}
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in dict.fromkeys([*expected, *found]):
            if key in UNITS and key not in expected:
                continue
            left, right = expected.get(key, NOTHING), found.get(key, NOTHING)
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
    """Return the name of a row for readers."""
    keys = ("metric", "measure", "statistic", "system", "segment")
    known = [str(row[key]) for key in keys if key in row] if isinstance(row, dict) else []
    return " ".join(text for text in known) or str(number)


def _same(expected: Any, found: Any, tolerance: float) -> bool:
    if tolerance and isinstance(expected, float) and isinstance(found, (int, float)):
        return math.isclose(expected, found, rel_tol=tolerance, abs_tol=tolerance)
    if isinstance(expected, str):
        expected = RENAMED.get(expected, expected)
    return type(expected) is type(found) and bool(expected == found)


def _is_message(value: Any) -> bool:
    """Return whether a value is a message as JSON holds it."""
    return isinstance(value, dict) and {"pattern", *FACTS} <= value.keys()


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            yield from _leaves(entry)
    elif isinstance(value, (int, float)):
        yield value
