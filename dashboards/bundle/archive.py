"""Write a bundle: data files, the numbers computed from them, manifest, README, zip."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from annotation.exports.tables import zip_bytes
from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.bundle.content import read_content
from dashboards.bundle.files import data_files
from dashboards.bundle.manifest import manifest_of
from dashboards.bundle.readme import readme, script
from dashboards.bundle.tables import BundleTable, expected, tables_of
from dashboards.documents.memory import give_back
from dashboards.trust import verdict
from metaeval.messages import Message

BLOCK = 1 << 16


@dataclass(frozen=True)
class Built:
    """A bundle as a zip file, its manifest, its tables, and its warnings."""

    zip: bytes
    manifest: dict[str, Any]
    tables: Sequence[BundleTable]
    warnings: Sequence[Message]


def build(campaign: Campaign, filters: Filters) -> Built:
    """Return a bundle; the same data give the same bytes."""
    content = read_content(campaign, filters)
    tables = tables_of(content)
    trust = verdict.compute(campaign, content.filters)
    with TemporaryDirectory() as name:
        folder = Path(name)
        for path, lines in data_files(content):
            _write(folder / path, lines)
        give_back()  # Each table is computed from the files, as readers do.
        for table in tables:
            _write(folder / f"expected/{table.name}.json", [expected(folder, table)])
        manifest = manifest_of(content, tables, _sums(folder))
        manifest["trust"] = msgspec.to_builtins(trust)
        _write(folder / "manifest.json", [json.dumps(manifest, ensure_ascii=False, indent=1)])
        _write(folder / "README.md", [readme(content, tables, trust)])
        _write(folder / "reproduce.sh", [script(tables)])
        content_of_zip = b"".join(zip_bytes(_members(folder, f"{campaign.slug}-bundle")))
        return Built(content_of_zip, manifest, tables, list(content.excluded.values()))


def _write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(lines)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _sums(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in _files(folder)
    }


def _members(folder: Path, top: str) -> Iterator[tuple[str, Iterable[str]]]:
    for path in _files(folder):
        yield f"{top}/{path.relative_to(folder).as_posix()}", _pieces(path)


def _pieces(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", newline="") as file:
        while piece := file.read(BLOCK):
            yield piece
